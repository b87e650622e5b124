"""Where an answer stands, and on which terms. Data."""

from dataclasses import dataclass

from gateway.adapter import Capabilities
from gateway.address import Address
from gateway.inbound import CommandReceived, MessageReceived, Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where messages are shown.

    ``seed`` sets their nonces apart from all others', and is the same after a restart. It ends with a colon and the
    platform's own id of the message that is answered, as the ids of what was received do. ``refers``: the first
    message shows which one that is. ``user`` had asked, in a ``direct`` conversation or before others; ``ticket`` came
    with the question.
    """

    address: Address
    capabilities: Capabilities
    seed: str = ""
    refers: bool = False
    user: str = ""
    direct: bool = False
    ticket: Ticket | None = None

    @classmethod
    def of(cls, message: MessageReceived | CommandReceived, capabilities: Capabilities) -> "Place":
        """Of the answer to a message or a command. What came with a ticket shows by itself to what it belongs."""
        return cls(
            address=message.address,
            capabilities=capabilities.by(message.ticket),
            seed=message.message_id,
            refers=not message.direct and message.ticket is None,
            user=message.user,
            direct=message.direct,
            ticket=message.ticket,
        )

    @property
    def question(self) -> str | None:
        """The platform's id of the message that is answered: what is looked for stands behind it."""
        return self.seed.rpartition(":")[2] if ":" in self.seed else None

    @property
    def asker(self) -> str | None:
        """How a text names who had asked; none where the platform has no such thing."""
        return self.named(self.user) if self.user else None

    @property
    def sign(self) -> str:
        """What stands in front of a typed command; with nothing, the bot has to be mentioned."""
        return "/" if self.capabilities.slash else "!" if self.direct else ""

    def named(self, user: str) -> str | None:
        """How a text names a person without calling them; none where the platform has no such thing."""
        names = self.capabilities.mention
        return None if names is None else names.format(user)
