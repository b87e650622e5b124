"""Who we are in a workspace."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Us, as ``auth.test`` tells. It does not tell the app's id."""

    team: str
    user: str
    bot: str
