"""Whether Telegram lets us in, and what a person can do where it does not."""

import re

from adapters.telegram.identity import Identity
from adapters.telegram.outcome import Answer, NoAnswer, wait
from adapters.telegram.update import number
from gateway.error import AdapterError
from gateway.payload import mapping
from gateway.redaction import redact
from gateway.secret import SecretName, reveal

_TITLE = "Telegram bot token (123456:ABC...)"
_SOURCE = "Get it from @BotFather in Telegram: /mybots, the bot, API Token."
_TOKEN = re.compile(r"[0-9]+:[A-Za-z0-9_-]+")
_ANYWHERE = re.compile(r"([0-9]{3,}):[A-Za-z0-9_-]{8,}")
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")


def token(name: SecretName) -> str:
    """The token itself, if it can be one.

    Raises:
        ConfigurationError: there is none.
        AdapterError: it is something else.
    """
    value = reveal(name, purpose=f"the {_TITLE}", source=_SOURCE)
    if not _TOKEN.fullmatch(value):
        msg = f"{name} should hold the {_TITLE}, but what it holds has another form. {_SOURCE}"
        raise _error(msg)
    return value


def webhook_secret(name: SecretName) -> str:
    """What Telegram has to show before it is believed.

    Raises:
        ConfigurationError: there is none.
        AdapterError: Telegram takes no such.
    """
    source = "Make one up: 32 letters and digits, say."
    value = reveal(name, purpose="the webhook's secret", source=source)
    if not _SECRET.fullmatch(value):
        msg = f"{name} should hold the webhook's secret: 1 to 256 letters, digits, _ and -. {source}"
        raise _error(msg)
    return value


def identity(answer: Answer | NoAnswer, name: SecretName, base_url: str) -> Identity:
    """Who we are, from what ``getMe`` answered.

    Raises:
        AdapterError: we are nobody; says what to mend.
    """
    user = mapping(accepted(answer, name, base_url).result)
    identifier, username = number(user.get("id")), user.get("username")
    if identifier is None or not isinstance(username, str):
        msg = f"{base_url} answers, but is no Bot API: check base_url."
        raise _error(msg)
    return Identity(id=identifier, username=username)


def accepted(answer: Answer | NoAnswer, name: SecretName, base_url: str) -> Answer:
    """The answer, if it is a yes.

    Raises:
        AdapterError: it is none; says what to mend.
    """
    if isinstance(answer, Answer) and answer.ok:
        return answer
    raise failure(answer, name, base_url)


def failure(answer: Answer | NoAnswer, name: SecretName, base_url: str) -> AdapterError:
    """The error for an answer that is a no; says what to mend."""
    if isinstance(answer, NoAnswer):
        return _error(
            f"Telegram cannot be reached at {base_url} ({answer.reason}). Check the network, the proxy and base_url."
        )
    if is_final(answer):
        said = answer.description
        return _error(f"Telegram does not accept the {_TITLE} in {name}: it says {said}. {_SOURCE}")
    if "webhook" in answer.description.lower() or answer.says("secret token"):
        return _error(f"Telegram does not accept the webhook: it says {answer.description}. Check [telegram.webhook].")
    later = f" Telegram asks to wait {wait(answer):g} seconds." if answer.status == 429 else ""
    said = f"HTTP {answer.status}" + (f" and {answer.description}" if answer.description else "")
    return _error(
        f"Telegram does not let us in just now: {base_url} answers {said}.{later} Try again; if it stays, check "
        "base_url."
    )


def is_final(answer: Answer) -> bool:
    """Whether asking again changes nothing: Telegram does not know the token, or takes it for none."""
    return answer.status in (401, 404) and bool(answer.description)


def hide(text: str) -> str:
    """The text without a bot's token: it stands in the address of every request."""
    return _ANYWHERE.sub(r"\1:…", text)


def _error(message: str) -> AdapterError:
    return AdapterError(redact(hide(message)))
