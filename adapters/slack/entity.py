"""The three entities of Slack's message text.

Slack escapes ``&``, ``<`` and ``>`` in what people write, and expects the same from us in ``text``; nothing else is an
entity there. Source: https://docs.slack.dev/messaging/formatting-message-text
"""

import re

_ENTITY = re.compile("&(amp|lt|gt);")
_CHARACTER = {"amp": "&", "lt": "<", "gt": ">"}


def escape(text: str) -> str:
    """The text as Slack wants it; escaped once, so that text which holds entities shows them."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """What a person typed, undone once: ``&amp;lt;`` is ``&lt;``."""
    return _ENTITY.sub(lambda entity: _CHARACTER[entity[1]], text)
