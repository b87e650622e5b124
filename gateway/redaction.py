"""What a secret of ours looks like, and what is shown in its place. Pure.

Rule 1: of a token only its first letters are shown, which say what kind it is: ``xoxb-…``.
Rule 2: in doubt more is hidden: whatever hangs on a token without a space, and whatever is named as a secret.
Rule 3: all other text stays as it is, also a mere kind of token, such as ``xoxb-...`` in a sentence.

Nobody has to remember this where a message is made: what leaves the process passes through here on its way out.
"""

import re

# A word character behind the prefix: rule 3. "sk-" ends many words ("a disk-wide search"), the others end none; but it
# is no word's end behind an escape, as in "%3Dsk-1" or the repr of a text with lines.
_PREFIX = r"(?i:xox[a-z]-|xapp-|xwfp-)|sk-ant-|(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrt]))sk-"
_TOKEN = re.compile(rf"({_PREFIX})\w(?:[\w-]|[.+/=%~:](?=[\w-]))*=*")

# In a header or its repr, in an address, in the form of a keyword: the value ends with the quote or the parameter.
_HEADER = re.compile(
    r"""((?i:\b(?:proxy-)?authorization|\bx-api-key)\\?["']?\s*[:=,]\s*\\?b?["']?(?i:(?:bearer|basic)\s+)?)[^\s"'\\,;}\])…]+"""
)
_PARAMETER = re.compile(r"((?i:\b(?:ticket|token|access_token|client_secret|api_key|password)=))[^\s\"'\\&#,;)…]+")
_BEARER = re.compile(r"((?i:\bbearer )\s*)[\w.~+/=-]{16,}")
# A bot's token on Telegram, behind its id; on Discord, in three parts; and in the addresses of both, whatever it is.
_BOT = re.compile(r"(?<![\w-])([0-9]{5,15}:)[A-Za-z0-9_-]{30,}")
_PARTS = re.compile(r"(?<![\w.-])([MNO][A-Za-z0-9]{2})[\w-]{17,}\.[\w-]{5,}\.[\w-]{20,}")
_PATH = re.compile(r"((?:/bot[0-9]{5,15}:|/(?:webhooks|interactions)/[0-9]{15,20}/))[^/\s?#\"'\\…]+")
_USER = re.compile(r"(?<=:)(//)[^\s/?#\"<>…]+(?=@)")

_FORMS = (_HEADER, _PARAMETER, _BEARER, _USER, _BOT, _PARTS, _PATH, _TOKEN)


def redact(text: str) -> str:
    """The text without its secrets. Redacting again changes nothing."""
    for form in _FORMS:
        text = form.sub(r"\1…", text)
    return text
