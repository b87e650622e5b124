"""Asking again what refuses for a while."""

import logging
from collections.abc import Awaitable, Callable
from itertools import chain, repeat
from typing import TypeVar

import anyio

from gateway.error import OwnershipLostError, StoreError, UnreadableError

log = logging.getLogger(__name__)

STORE_PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Real seconds until the store is asked again that refused, once, twice, ... To give up would be to answer twice."""

T = TypeVar("T")


async def patiently(what: str, write: Callable[[], Awaitable[T]]) -> T:
    """What the store says to a write that it may refuse for a while: a full disk, another program's lock."""
    for pause in chain(STORE_PAUSES, repeat(STORE_PAUSES[-1])):
        try:
            return await write()
        except (OwnershipLostError, UnreadableError):
            raise
        except StoreError as error:
            log.error("%s: the store refuses, tried again in %g s: %s", what, pause, error)  # noqa: TRY400 - says it whole
        await anyio.sleep(pause)
    raise AssertionError
