"""How often each method may be called, and with which scope, as data.

The tiers are the published ones, https://docs.slack.dev/apis/web-api/rate-limits; each method's page names its tier.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.loopback.bucket import Budget


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
# "Several hundred" a minute is all that is written; 300 is the smallest that can be called so.
HUNDREDS = _tier("special", 300, 21)
PER_CHANNEL = Limits(workspace=HUNDREDS.workspace, channel=Budget(name="one a second a channel", rate=1.0, capacity=3))

LIMITS: Mapping[str, Limits] = {
    "apps.connections.open": TIER_3,
    "assistant.threads.setStatus": PER_CHANNEL,
    "auth.test": HUNDREDS,
    "chat.delete": TIER_3,
    "chat.postEphemeral": TIER_4,
    "chat.postMessage": PER_CHANNEL,
    "chat.update": _tier("tier 3", 50, 6),  # tight, for whoever paces edits: about 50 in the first minute, too
    "conversations.history": TIER_3,
    "conversations.info": TIER_3,
    "conversations.replies": TIER_3,
    "reactions.add": TIER_3,
    "users.info": TIER_4,
}

SCOPES: Mapping[str, str] = {
    "assistant.threads.setStatus": "chat:write",
    "chat.delete": "chat:write",
    "chat.postEphemeral": "chat:write",
    "chat.postMessage": "chat:write",
    "chat.update": "chat:write",
    "conversations.history": "channels:history",
    "conversations.info": "channels:read",
    "conversations.replies": "channels:history",
    "reactions.add": "reactions:write",
    "users.info": "users:read",
}
