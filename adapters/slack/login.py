"""Whether Slack lets us in, and what a person can do where it does not."""

from dataclasses import dataclass

from adapters.slack.identity import Identity
from adapters.slack.outcome import Answer, NoAnswer
from gateway.error import AdapterError
from gateway.redaction import redact
from gateway.secret import SecretName, reveal

_KINDS = {
    "xoxb-": "bot token",
    "xoxe.xoxb-": "bot token",
    "xapp-": "app-level token",
    "xoxp-": "user token",
    "xoxe.xoxp-": "user token",
    "xoxe-": "refresh token",
    "xoxc-": "browser's session token",
    "xoxs-": "session token",
}

FINAL = frozenset(
    {
        "access_denied",
        "account_inactive",
        "app_not_installed",
        "forbidden_team",
        "invalid_auth",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "not_authed",
        "token_expired",
        "token_revoked",
    }
)
"""What Slack says where asking again changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One of the two tokens that the adapter needs: what it is, and where a person gets one."""

    kind: str
    begins: str
    source: str

    @property
    def title(self) -> str:
        """Its name in a sentence."""
        return f"Slack {self.kind} ({self.begins}...)"


BOT = Token(
    kind="bot token",
    begins="xoxb-",
    source="Get it at https://api.slack.com/apps: your app, OAuth & Permissions, Bot User OAuth Token.",
)
APP = Token(
    kind="app-level token",
    begins="xapp-",
    source="Make one with the scope connections:write at https://api.slack.com/apps: your app, Basic Information, "
    "App-Level Tokens; Socket Mode has to be enabled there too.",
)


def secret(token: Token, name: SecretName) -> str:
    """The token itself, if it can be one.

    Raises:
        ConfigurationError: there is none.
        AdapterError: it is something else.
    """
    value = reveal(name, purpose=f"the {token.title}", source=token.source)
    kind = next((kind for prefix, kind in _KINDS.items() if value.startswith(prefix)), token.kind)
    if kind != token.kind:
        msg = f"{name} should hold the {token.title}, but holds a {kind}. {token.source}"
        raise _error(msg)
    if not (value.isascii() and value.isprintable()) or " " in value:
        msg = (
            f"{name} should hold the {token.title}, but what it holds has characters that no token has. {token.source}"
        )
        raise _error(msg)
    return value


def identity(answer: Answer | NoAnswer, name: SecretName, base_url: str) -> Identity:
    """Who we are, from what ``auth.test`` answered.

    Raises:
        AdapterError: we are nobody; says which token to mend and where to get one.
    """
    body = _accepted(answer, BOT, name, base_url).body
    team, user, bot = body.get("team_id"), body.get("user_id"), body.get("bot_id")
    if not (isinstance(team, str) and isinstance(user, str) and isinstance(bot, str)):
        msg = f"{name} should hold the {BOT.title}, but what it holds belongs to no bot. {BOT.source}"
        raise _error(msg)
    return Identity(team=team, user=user, bot=bot)


def socket_url(answer: Answer | NoAnswer, name: SecretName, base_url: str) -> str:
    """The socket's address, from what ``apps.connections.open`` answered. It is good for one connection.

    Raises:
        AdapterError: there is none; says which token to mend and where to get one.
    """
    return str(_accepted(answer, APP, name, base_url).body.get("url"))


def refused(token: Token, name: SecretName, code: str) -> AdapterError:
    """The error for a token that Slack will not take."""
    return _error(f"Slack does not accept the {token.title} in {name}: it says {code}. {token.source}")


def _error(message: str) -> AdapterError:
    """Without what was pasted where only its place should be named, and without what an address holds."""
    return AdapterError(redact(message))


def _accepted(answer: Answer | NoAnswer, token: Token, name: SecretName, base_url: str) -> Answer:
    if isinstance(answer, NoAnswer):
        msg = f"Slack cannot be reached at {base_url} ({answer.reason}). Check the network, the proxy and base_url."
        raise _error(msg)
    if answer.ok:
        return answer
    if answer.error in FINAL:
        raise refused(token, name, answer.error or "")
    wait = f" Slack asks to wait {answer.retry_after} seconds." if answer.retry_after else ""
    said = f"HTTP {answer.status}" + (f" and {answer.error}" if answer.error else "")
    msg = f"Slack does not let us in just now: {base_url} answers {said}.{wait} Try again; if it stays, check base_url."
    raise _error(msg)
