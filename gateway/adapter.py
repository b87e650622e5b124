"""What the gateway asks of a chat platform.

An adapter is small: a record of what its platform can do, and two coroutines. It decides nothing about when or what to
show; the reply and the pacer do, from the record.
"""

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from gateway.inbound import Inbound, Ticket
from gateway.operation import Operation, Outcome

Unit = Literal["cp", "utf16", "utf8"]
"""How a platform counts: code points, UTF-16 code units, or bytes of UTF-8."""

Surface = Literal["edit", "append", "post"]
"""``edit``: the open bubble is edited while text arrives. ``append``: it is a stream of the platform's own, to which
settled text is added. ``post``: whole chunks only, and what was posted is never touched."""

Reconciliation = Literal["read", "nonce", "none"]
"""How it is found out whether a post arrived whose answer did not. ``read``: by reading the conversation back.
``nonce``: by posting again, since the platform shows what has one nonce once. ``none``: it cannot be found out."""

UnknownOutcome = Literal["repeat", "skip"]
"""What is done about a post of which nobody can say whether it arrived: sent again, or left out; a notice says so."""

Scope = Literal["account", "channel", "thread", "message"]
"""What shares one budget: all of the account, a channel with its threads, a channel or thread by itself, or a single
message."""

Receive = Callable[[Inbound], Awaitable[bool]]
"""Stores what arrived. Only when it has returned may the platform be told that we have it.

False where its sender may not use the bot, and nothing will be said about that.

Raises:
    StoreError: nothing was stored; the platform should deliver it again.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """One rate limit: ``burst`` operations at once and ``rate`` a platform second in the long run.

    ``channels``, where given, is a regular expression: the limit is only for channels whose whole id matches.
    """

    name: str
    scope: Scope
    rate: float
    burst: float
    channels: str | None = None

    def __post_init__(self) -> None:
        if self.rate <= 0 or self.burst < 1:
            msg = f"{self.name}: a budget of {self.burst} and {self.rate} a second lets nothing through"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a platform can do, as data.

    ``bubble`` is how long a message of ours gets, in ``unit``; where rendering makes it longer, ``fits`` says of a text
    whether the platform takes it still. The fields named after operations list the budgets that such an operation
    draws on, one token from each; the first of them is the one that is parked when the platform refuses. ``append`` is
    for starting, adding to and ending a stream; ``update`` is how many code points may be added at once. Where ``read``
    lists nothing, nothing can be read, and where ``mark`` does, no message is marked. ``typing_every``: after how
    many platform seconds ``ShowTyping`` is to be repeated; none where it is not understood.

    ``buttons``: messages can have some. ``private`` is for ``TellPrivately``; where it lists nothing, not even a press
    can be answered. ``whispers``: it can be said to somebody who pressed nothing, too.

    ``slash``: commands begin with a slash, and clients offer them. ``nonce_life`` is for how many platform seconds a
    nonce is known.

    ``messages`` is how many messages an answer may have; none for any number. ``guest`` is what holds where we answer
    by a guest's ticket. ``mention`` is how a text names a user without calling them, with ``{}`` for their id.
    """

    surface: Surface
    unit: Unit
    bubble: int
    post: tuple[Budget, ...]
    edit: tuple[Budget, ...]
    delete: tuple[Budget, ...] = ()
    append: tuple[Budget, ...] = ()
    read: tuple[Budget, ...] = ()
    mark: tuple[Budget, ...] = ()
    typing: tuple[Budget, ...] = ()
    private: tuple[Budget, ...] = ()
    buttons: bool = False
    whispers: bool = False
    fits: Callable[[str], bool] | None = None
    update: int = 800
    reconciliation: Reconciliation = "none"
    nonce_life: float = math.inf
    typing_every: float | None = None
    slash: bool = False
    messages: int | None = None
    guest: "Capabilities | None" = None
    mention: str | None = None
    unknown_outcome: UnknownOutcome = "repeat"

    def by(self, ticket: Ticket | None) -> "Capabilities":
        """What holds for an answer to what came with that ticket, or with none."""
        return self.guest if self.guest is not None and ticket is not None and ticket.guest else self


class Adapter(Protocol):
    """One account on one platform."""

    @property
    def capabilities(self) -> Capabilities:
        """Fixed for the adapter's life."""
        ...

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        """Take in what the platform tells until cancelled.

        Everything that may be for the bot is given to ``receive`` first and acknowledged after. ``ready`` is called
        once, when events can arrive.

        Raises:
            AdapterError: the platform does not let us in; the message says what to mend.
            ConfigurationError: a secret is missing.
        """
        ...

    async def perform(self, operation: Operation) -> Outcome:
        """Do one thing, once, without retrying or waiting for a rate limit.

        Never raises for what the platform or the network answers: that is what the outcomes are for.
        """
        ...
