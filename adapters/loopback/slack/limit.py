"""How often each method may be called, and with which scope, as data.

The tiers are the published ones, https://docs.slack.dev/apis/web-api/rate-limits; each method's page names its tier.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.loopback.bucket import Budget
from adapters.loopback.slack.workspace import ChannelType


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """A method's budgets; a call needs a token of each.

    Rates are Slack's published tiers. Capacities are ours: what Slack lets through at once is not published, so
    a bucket holds one token more than a well-behaved sender's burst, the room for jitter.
    """

    workspace: Budget
    channel: Budget | None = None


def _tier(name: str, per_minute: int, capacity: int) -> Limits:
    return Limits(workspace=Budget(name=name, rate=per_minute / 60, capacity=capacity))


TIER_2 = _tier("tier 2", 20, 6)
TIER_3 = _tier("tier 3", 50, 16)
TIER_4 = _tier("tier 4", 100, 16)
# Tight, for what the gateway paces itself: about as much as the tier says in the first minute, too.
PACED = _tier("tier 3", 50, 6)
# "Several hundred" a minute is all that is written; 300 is the smallest that can be called so.
HUNDREDS = _tier("special", 300, 21)
PER_CHANNEL = Limits(workspace=HUNDREDS.workspace, channel=Budget(name="one a second a channel", rate=1.0, capacity=3))

LIMITS: Mapping[str, Limits] = {
    "apps.connections.open": TIER_3,
    "assistant.threads.setStatus": PER_CHANNEL,
    "auth.test": HUNDREDS,
    "chat.delete": PACED,
    "chat.postEphemeral": TIER_4,
    "chat.postMessage": PER_CHANNEL,
    "chat.update": PACED,
    "conversations.history": PACED,
    "conversations.info": TIER_3,
    "conversations.replies": PACED,
    "reactions.add": PACED,
    "reactions.remove": TIER_2,
    "users.info": TIER_4,
}

SCOPES: Mapping[str, str] = {
    "assistant.threads.setStatus": "chat:write",
    "chat.delete": "chat:write",
    "chat.postEphemeral": "chat:write",
    "chat.postMessage": "chat:write",
    "chat.update": "chat:write",
    "conversations.info": "channels:read",
    "reactions.add": "reactions:write",
    "reactions.remove": "reactions:write",
    "users.info": "users:read",
}

READS = frozenset({"conversations.history", "conversations.replies"})
"""What needs the scope of the conversation's type."""

READ_SCOPES: Mapping[ChannelType, str] = {"channel": "channels:history", "group": "groups:history", "im": "im:history"}
