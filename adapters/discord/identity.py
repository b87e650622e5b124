"""Who we are on Discord."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Us: the application, and its user, whose ids differ in applications of before 2016."""

    application: str
    user: str
