"""Who we are on Telegram."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Us, as ``getMe`` tells. ``username`` is without its ``@``."""

    id: int
    username: str

    @property
    def account(self) -> str:
        """Our id, as addresses have it."""
        return str(self.id)
