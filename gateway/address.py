"""Where a conversation lives."""

from dataclasses import dataclass
from urllib.parse import quote, unquote


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """One place where people talk to the bot: a channel of an account, or a thread in it.

    ``account`` is the bot's own place on the platform (a Slack workspace). ``thread`` is none for the channel itself.
    """

    platform: str
    account: str
    channel: str
    thread: str | None = None

    @property
    def key(self) -> str:
        """The address as text; two addresses never share one, whatever their parts hold."""
        parts = [self.platform, self.account, self.channel]
        if self.thread is not None:
            parts.append(self.thread)
        return "/".join(quote(part, safe="") for part in parts)

    @classmethod
    def from_key(cls, key: str) -> "Address":
        """The address of a key.

        Raises:
            ValueError: where the text was not made by ``key``.
        """
        parts = [unquote(part) for part in key.split("/")]
        if len(parts) in (3, 4):
            address = cls(platform=parts[0], account=parts[1], channel=parts[2], thread=(*parts[3:], None)[0])
            if address.key == key:
                return address
        msg = f"not an address: {key!r}; expected platform/account/channel or platform/account/channel/thread"
        raise ValueError(msg)
