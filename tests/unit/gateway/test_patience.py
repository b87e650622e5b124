"""Asking a store again, on virtual time."""

from itertools import pairwise

import anyio
import pytest

from gateway.error import OwnershipLostError, StoreError, UnreadableError
from gateway.patience import STORE_PAUSES, patiently

pytestmark = pytest.mark.virtual_time


class Write:
    """Fails in the ways that it is told to, in turn, and goes well then."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.asked: list[float] = []

    async def __call__(self) -> str:
        self.asked.append(anyio.current_time())
        if self.failures:
            raise self.failures.pop(0)
        return "kept"

    @property
    def pauses(self) -> list[float]:
        return [after - before for before, after in pairwise(self.asked)]


async def test_what_goes_well_is_asked_once_and_its_answer_given_back() -> None:
    write = Write()
    assert await patiently("it", write) == "kept"
    assert len(write.asked) == 1


async def test_a_store_that_refuses_is_asked_ever_more_slowly_until_it_takes_it() -> None:
    write = Write(*[StoreError("disk full")] * 10)
    assert await patiently("it", write) == "kept"
    assert write.pauses == pytest.approx([*STORE_PAUSES, *[STORE_PAUSES[-1]] * (10 - len(STORE_PAUSES))])
    assert list(STORE_PAUSES) == sorted(STORE_PAUSES)


async def test_each_refusal_is_logged_with_what_and_why(caplog: pytest.LogCaptureFixture) -> None:
    await patiently("C1", Write(StoreError("disk full"), StoreError("locked")))
    assert caplog.messages == [
        "C1: the store refuses, tried again in 1 s: disk full",
        "C1: the store refuses, tried again in 2 s: locked",
    ]


@pytest.mark.parametrize("error", [OwnershipLostError("taken over"), UnreadableError("?", 5), ValueError("a mistake")])
async def test_what_no_patience_mends_passes_through_at_once(error: Exception) -> None:
    write = Write(error)
    with pytest.raises(type(error)):
        await patiently("it", write)
    assert len(write.asked) == 1


async def test_it_can_be_cancelled_while_it_waits() -> None:
    with anyio.move_on_after(100) as scope:
        await patiently("it", Write(*[StoreError("disk full")] * 1000))
    assert scope.cancelled_caught
