"""Slack: mentions and direct messages through Socket Mode, answers through the Web API.

Cheap to import: slack-bolt is loaded where it is first used.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from adapters.slack.adapter import SlackAdapter
from adapters.slack.render import undo as undo
from gateway.access import Allow, Ids
from gateway.adapter import Adapter, UnknownOutcome
from gateway.configuration import WebAddress
from gateway.secret import SecretName

USERS = Ids(
    name="allow_users",
    pattern="[UW][A-Z0-9]+",
    find="In Slack, open the person's profile, then the three dots, then Copy member ID; it begins with U or W.",
)
CHANNELS = Ids(
    name="allow_channels",
    pattern="[CG][A-Z0-9]+",
    find="In Slack, click the channel's name; its id stands at the foot of About and begins with C or G.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the configuration says about Slack.

    Attributes:
        bot_token: where the bot token (``xoxb-...``) is kept.
        app_token: where the app-level token (``xapp-...``) is kept.
        base_url: of the Web API; the socket's address comes from there.
        allow_users: who may talk to the bot, by id; ``*`` is everybody, and none is nobody.
        allow_channels: where, by id; direct messages need no channel.
        surface: ``edit`` shows an answer while it grows, ``post`` shows whole chunks only.
        bubble: how many characters a message of ours gets; Slack takes 12,000, less what rendering adds.
        unknown_outcome: what to do about a message of ours of which nobody can tell whether it arrived: ``repeat``
            sends it again, ``skip`` leaves it out; either way a line says so.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    bot_token: SecretName = "env:SLACK_BOT_TOKEN"  # noqa: S105 - where it is, not what it is
    app_token: SecretName = "env:SLACK_APP_TOKEN"  # noqa: S105 - a variable's name, no secret
    base_url: WebAddress = "https://slack.com/api/"
    allow_users: tuple[str, ...] = ()
    allow_channels: tuple[str, ...] = ()
    surface: Literal["edit", "post"] = "edit"
    bubble: Annotated[int, Field(ge=1, le=11_500)] = 800
    unknown_outcome: UnknownOutcome = "repeat"


def create(settings: Settings) -> Adapter:
    """The adapter of one workspace. Touches neither network nor secrets."""
    return SlackAdapter(
        bot_token=settings.bot_token,
        app_token=settings.app_token,
        base_url=settings.base_url,
        surface=settings.surface,
        bubble=settings.bubble,
        unknown_outcome=settings.unknown_outcome,
    )


def allow(settings: Settings) -> Allow:
    """Who may talk to the bot, and where."""
    return Allow(users=frozenset(settings.allow_users), channels=frozenset(settings.allow_channels))
