"""Telegram: private chats, and groups where the bot is addressed; through getUpdates, or a webhook.

Cheap to import: python-telegram-bot is loaded where it is first used.
"""

from dataclasses import asdict, dataclass
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from adapters.telegram.adapter import TelegramAdapter
from gateway.access import Allow, Ids
from gateway.adapter import Adapter, UnknownOutcome
from gateway.configuration import WebAddress
from gateway.secret import SecretName

USERS = Ids(
    name="allow_users",
    pattern="[0-9]+",
    find="In Telegram, the person writes to @userinfobot, which answers with their id, a number; @names do not count.",
)
CHANNELS = Ids(
    name="allow_groups",
    pattern="-[0-9]+",
    find="Open the group in https://web.telegram.org/a: the address ends with its id, a number with - in front.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Where Telegram is to send updates to, instead of being asked for them.

    Attributes:
        url: as Telegram sees it; https.
        secret: where the word is kept that Telegram has to show; make one up.
        host: where we listen.
        port: likewise.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    url: WebAddress
    secret: SecretName = "env:TELEGRAM_WEBHOOK_SECRET"  # noqa: S105 - where it is, not what it is
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65_535)] = 8443


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the configuration says about Telegram.

    Attributes:
        bot_token: where the bot's token (``123456:ABC...``) is kept.
        base_url: of the Bot API, up to the token.
        allow_users: who may talk to the bot, by id; ``*`` is everybody, and none is nobody.
        allow_groups: in which groups, by id; private chats need none.
        surface: ``edit`` shows an answer while it grows, ``post`` shows whole chunks only.
        bubble: how many UTF-16 units a message of ours gets; Telegram takes 4,096 characters once it is rendered.
        unknown_outcome: what to do about a message of ours of which nobody can tell whether it arrived: ``repeat``
            sends it again, ``skip`` leaves it out; either way a line says so.
        webhook: where Telegram is to send updates to; without it, Telegram is asked for them.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    bot_token: SecretName = "env:TELEGRAM_BOT_TOKEN"  # noqa: S105 - where it is, not what it is
    base_url: WebAddress = "https://api.telegram.org/bot"
    allow_users: tuple[str, ...] = ()
    allow_groups: tuple[str, ...] = ()
    surface: Literal["edit", "post"] = "edit"
    bubble: Annotated[int, Field(ge=1, le=4_000)] = 800
    unknown_outcome: UnknownOutcome = "repeat"
    webhook: Webhook | None = None


def create(settings: Settings) -> Adapter:
    """The adapter of one bot. Touches neither network nor secrets."""
    return TelegramAdapter(
        bot_token=settings.bot_token,
        base_url=settings.base_url,
        surface=settings.surface,
        bubble=settings.bubble,
        unknown_outcome=settings.unknown_outcome,
        webhook=None if settings.webhook is None else asdict(settings.webhook),
    )


def allow(settings: Settings) -> Allow:
    """Who may talk to the bot, and where."""
    return Allow(users=frozenset(settings.allow_users), channels=frozenset(settings.allow_groups))
