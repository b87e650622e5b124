"""Whether Discord lets us in, and what a person can do where it does not."""

import re
from urllib.parse import urlsplit

from adapters.discord.identity import Identity
from adapters.discord.message import ID
from adapters.discord.outcome import Answer, NoAnswer, retry_after
from gateway.error import AdapterError
from gateway.redaction import redact
from gateway.secret import SecretName, reveal

TITLE = "Discord bot token"
SOURCE = "Get it at https://discord.com/developers/applications: your application, Bot, Reset Token."

_TOKEN = re.compile(r"[\w.-]{20,200}", re.ASCII)
_SNOWFLAKE = re.compile(r"[0-9]+")

CLOSED = {
    4004: f"it does not accept the bot token. {SOURCE}",
    4010: "it wants other shards than we have. This is a mistake of Dragoman's; please report it.",
    4011: "the bot is in so many servers that it needs shards, which Dragoman does not have yet.",
    4012: "it does not know this version of its gateway any more. Update Dragoman.",
    4013: "it does not know an intent that we ask for. Update Dragoman.",
    4014: "it refuses an intent that we ask for. Dragoman asks for no privileged one: look into the application's "
    "settings at https://discord.com/developers/applications, Bot, Privileged Gateway Intents.",
}
"""What the gateway says by closing where coming back changes nothing.

Source: https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes
"""


def secret(name: SecretName) -> str:
    """The bot token, if what is there can be one.

    Raises:
        ConfigurationError: there is none.
        AdapterError: it is something else.
    """
    value = reveal(name, purpose=f"the {TITLE}", source=SOURCE).removeprefix("Bot ").strip()
    if _SNOWFLAKE.fullmatch(value):
        msg = f"{name} should hold the {TITLE}, but holds an id. {SOURCE}"
    elif not _TOKEN.fullmatch(value):
        msg = f"{name} should hold the {TITLE}, but what it holds has a form that no token has. {SOURCE}"
    else:
        return value
    raise _error(msg)


def identity(user: Answer | NoAnswer, application: Answer | NoAnswer, name: SecretName, base_url: str) -> Identity:
    """Who we are, from what ``/users/@me`` and ``/applications/@me`` answered.

    Raises:
        AdapterError: we are nobody; says what to mend.
    """
    ids = [_accepted(answer, name, base_url).fields.get("id") for answer in (user, application)]
    if not all(isinstance(each, str) and ID.fullmatch(each) for each in ids):
        msg = f"{base_url} does not answer as Discord does. Check base_url."
        raise _error(msg)
    return Identity(user=str(ids[0]), application=str(ids[1]))


def refused(name: SecretName) -> AdapterError:
    """The error for a token that Discord will not take (any more)."""
    return _error(f"Discord does not accept the {TITLE} in {name}: was it reset, or is the bot gone? {SOURCE}")


def closed(code: int, name: SecretName) -> AdapterError:
    """The error for a gateway that is closed for good."""
    return refused(name) if code == 4004 else _error(f"Discord's gateway closed with {code}: {CLOSED[code]}")


def socket_address(text: str) -> str:
    """The text, if a socket can be opened there.

    Raises:
        ValueError: it cannot.
    """
    form = "must be an address such as wss://host/path/"
    try:
        parts = urlsplit(text)
        _ = parts.port  # looked at only when it is asked for
    except ValueError as error:
        raise ValueError(form) from error
    sound = text.isprintable() and " " not in text and parts.scheme in {"ws", "wss"} and parts.hostname
    if not sound or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError(form)
    return text


def _accepted(answer: Answer | NoAnswer, name: SecretName, base_url: str) -> Answer:
    if isinstance(answer, NoAnswer):
        msg = f"Discord cannot be reached at {base_url} ({answer.reason}). Check the network, the proxy and base_url."
        raise _error(msg)
    if answer.ok:
        return answer
    if answer.status == 401:
        raise refused(name)
    wait = f" Discord asks to wait {retry_after(answer):g} seconds." if answer.status == 429 else ""
    msg = (
        f"Discord does not let us in just now: {base_url} answers HTTP {answer.status}.{wait} Try again; if it stays, "
        "check base_url."
    )
    raise _error(msg)


def _error(message: str) -> AdapterError:
    """Without what was pasted where only its place should be named."""
    return AdapterError(redact(message))
