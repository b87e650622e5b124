"""How often each method may be called, as data.

Telegram publishes "about one message a second" in a chat, 20 a minute in a group and 30 a second in all, and that edits
count as messages: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
"""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.loopback.bucket import Budget

WRITES = frozenset({"sendMessage", "editMessageText", "editMessageReplyMarkup"})
"""What counts as a message; topics of a chat share its budget."""

SCOPED: Mapping[str, str] = {"sendChatAction": "chat_id", "deleteMessage": "chat_id"} | dict.fromkeys(WRITES, "chat_id")
"""By what a method's budget is counted, where it isn't the bot alone."""


PRIVATE = Budget(name="a private chat", rate=1.0, capacity=3)
GROUP = Budget(name="a group", rate=20 / 60, capacity=3)
OVERALL = Budget(name="all chats", rate=30.0, capacity=6)
ACTION = Budget(name="chat actions", rate=1.0, capacity=4)
DELETION = Budget(name="deletions", rate=1.0, capacity=4)
WEBHOOK = Budget(name="webhook", rate=1.0, capacity=2)
OTHER = Budget(name="other", rate=30.0, capacity=31)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """All budgets. Rates are those published, or guesses; capacities are ours.

    What Telegram lets through at once is not published: a bucket holds one token more than a well-behaved sender's
    burst, the room for jitter.

    Attributes:
        private: messages and edits in a private chat.
        group: messages and edits in a group or supergroup.
        overall: messages and edits everywhere.
        action: chat actions in a chat.
        deletion: deletions in a chat.
        webhook: setWebhook and deleteWebhook.
        other: any other method, each for itself.
    """

    private: Budget = PRIVATE
    group: Budget = GROUP
    overall: Budget = OVERALL
    action: Budget = ACTION
    deletion: Budget = DELETION
    webhook: Budget = WEBHOOK
    other: Budget = OTHER
