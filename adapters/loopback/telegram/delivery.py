"""How updates leave: to the poll that waits, or to the webhook. One of the two, never both."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import anyio

from adapters.loopback.clock import PlatformClock
from adapters.loopback.telegram import inbound
from adapters.loopback.telegram.answer import Answer, RefusedError, good, refused
from adapters.loopback.telegram.argument import Arguments
from adapters.loopback.telegram.change import Change, PollsChanged, UpdateQueued, UpdatesConfirmed
from adapters.loopback.telegram.mailbox import Mailbox, Update, kinds
from adapters.loopback.telegram.rule import Rule

_MOST = 100
_SECRET = re.compile(rf"[A-Za-z0-9_-]{{1,{inbound.WEBHOOK_SECRET.limit}}}")
_URL = re.compile(r"https://.+|http://(?:127\.0\.0\.1|localhost)(?::[0-9]+)?(?:/.*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a webhook's updates go."""

    url: str
    secret: str = ""
    max_connections: int = 40


class Delivery:
    """Holds the mailbox, the poll that waits and the webhook's address.

    Args:
        clock: of the platform.
        tell: hears what comes and goes.
    """

    def __init__(self, clock: PlatformClock, tell: Callable[[Change], None]) -> None:
        self.mailbox = Mailbox()
        self.address: Address | None = None
        self.last_error: tuple[int, str] | None = None
        self.open_polls = 0
        self._clock = clock
        self._tell = tell
        self._came = anyio.Event()
        self._ended_by: Rule | None = None
        self._polls = 0
        self.methods: dict[str, Callable[[Arguments], object]] = {
            "deleteWebhook": self._delete_webhook,
            "getWebhookInfo": self._webhook_info,
            "setWebhook": self._set_webhook,
        }

    def put(self, update: Update) -> int:
        """Add an update, whatever it is; returns its id."""
        update_id = self.mailbox.put(update, self._clock.now())
        self._wake()
        self._tell(UpdateQueued(update=self.mailbox.sent[update_id]))
        return update_id

    def repeat(self, update_id: int) -> None:
        """Deliver an update once more."""
        self.mailbox.repeat(update_id)
        self._wake()

    def confirm(self, arguments: Arguments) -> None:
        """Do what a call of getUpdates does before it waits."""
        self.mailbox.allow(kinds(arguments.sequence("allowed_updates")) if "allowed_updates" in arguments else None)
        if offset := arguments.number("offset"):
            self.mailbox.confirm(offset)
            self._tell(UpdatesConfirmed(offset=self.mailbox.offset))

    def delivered(self, update_id: int) -> None:
        """Forget an update that the webhook took."""
        self.mailbox.forget(update_id)
        self._tell(UpdatesConfirmed(offset=self.mailbox.offset))

    def due(self) -> list[Update]:
        """What the webhook has to deliver."""
        return self.mailbox.due(self._clock.now())

    async def poll(self, arguments: Arguments) -> Answer:
        """Answer getUpdates, at once or when something comes; the poll that waits ends with a conflict."""
        if self.address is not None:
            return refused(RefusedError(inbound.POLL_OR_WEBHOOK))
        self._end(inbound.ONE_POLLER)
        self.confirm(arguments)
        limit = min(_MOST, max(1, arguments.number("limit", _MOST)))
        self._polls += 1
        mine = self._polls
        self._count(1)
        try:
            with anyio.move_on_after(patience(arguments)):
                while mine == self._polls and not len(self.mailbox):
                    await self._came.wait()
        finally:
            self._count(-1)
        if mine != self._polls:
            return refused(RefusedError(self._ended_by or inbound.ONE_POLLER))
        return good(self.mailbox.take(limit, self._clock.now()))

    async def came(self) -> None:
        """Wait until there may be something to deliver."""
        await self._came.wait()

    def _end(self, why: Rule) -> None:
        if self.open_polls:
            self._polls += 1
            self._ended_by = why
            self._wake()

    def _wake(self) -> None:
        came, self._came = self._came, anyio.Event()
        came.set()

    def _count(self, more: int) -> None:
        self.open_polls += more
        self._tell(PollsChanged(count=self.open_polls))

    def _set_webhook(self, arguments: Arguments) -> bool:
        url, secret = arguments.text("url"), arguments.text("secret_token")
        if not url:
            return self._delete_webhook(arguments)
        if not _URL.fullmatch(url):
            raise RefusedError(inbound.WEBHOOK_URL)
        if secret and not _SECRET.fullmatch(secret):
            raise RefusedError(inbound.WEBHOOK_SECRET)
        self._end(inbound.WEBHOOK_ENDS_POLL)
        self.mailbox.allow(kinds(arguments.sequence("allowed_updates")) if "allowed_updates" in arguments else None)
        connections = min(_MOST, max(1, arguments.number("max_connections", 40)))
        self.address = Address(url=url, secret=secret, max_connections=connections)
        self.last_error = None
        return self._drop(arguments)

    def _delete_webhook(self, arguments: Arguments) -> bool:
        self.address = None
        return self._drop(arguments)

    def _drop(self, arguments: Arguments) -> bool:
        if arguments.flag("drop_pending_updates"):
            self.mailbox.clear()
        self._wake()
        return True

    def _webhook_info(self, _: Arguments) -> dict[str, object]:
        address = self.address
        info: dict[str, object] = {
            "url": address.url if address else "",
            "has_custom_certificate": False,
            "pending_update_count": len(self.mailbox),
        }
        if address is not None:
            info["max_connections"] = address.max_connections
        if self.last_error is not None:
            info |= {"last_error_date": self.last_error[0], "last_error_message": self.last_error[1]}
        return info


def patience(arguments: Arguments) -> int:
    """How many real seconds a poll waits."""
    return min(inbound.POLL_LIMITS.limit, max(0, arguments.number("timeout")))
