"""One of a few names, as people write it. Pure."""

from collections.abc import Sequence
from difflib import get_close_matches

PLATFORMS = ("slack", "discord", "telegram")


def chosen(written: str, names: Sequence[str]) -> str | None:
    """The name that was written, in small letters or capitals; none where it is not one of them."""
    name = written.strip().lower()
    return name if name in names else None


def nearest(written: str, names: Sequence[str]) -> str | None:
    """The name that was probably meant."""
    return next(iter(get_close_matches(written.strip().lower(), names, n=1)), None)


def hint(written: str, names: Sequence[str]) -> str:
    """What to say behind a name that is none of them."""
    near = nearest(written, names)
    return f", did you mean {near!r}?" if near else f"; known are {', '.join(names)}"
