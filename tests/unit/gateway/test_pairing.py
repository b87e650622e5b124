from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import pairing
from gateway.pairing import ALPHABET, CODES, LENGTH, asker, code, read, sentence, shown
from gateway.store import Person
from tests.unit.gateway.chat import command, message, place

NUMBERS = st.integers(0, CODES - 1)
DIRECT = replace(message("Hi!"), direct=True)


@given(number=NUMBERS, other=NUMBERS)
def test_each_number_is_another_code_of_eight_letters(number: int, other: int) -> None:
    assert len(code(number)) == LENGTH == 8
    assert set(code(number)) <= set(ALPHABET)
    assert (code(number) == code(other)) == (number == other)


def test_no_letter_looks_like_another() -> None:
    for alike in ("0ODQ", "1IL", "2Z", "5S", "8B", "UV"):
        assert len(set(alike) & set(ALPHABET)) <= 1 + (alike == "0ODQ")  # D and Q are told apart where there is no O
    assert not set(ALPHABET) & set("AEIOU")
    assert len(set(ALPHABET)) == len(ALPHABET)


@given(number=NUMBERS, spaces=st.integers(0, 3))
def test_a_code_is_read_as_people_write_it(number: int, spaces: int) -> None:
    one = code(number)
    for written in (one, shown(one), shown(one).lower(), f" {one[:3]} {one[3:]}\n", "-".join(one), shown(one).title()):
        assert read(" " * spaces + written) == one


@pytest.mark.parametrize("text", ["", "CDFG-HJK", "CDFG-HJKMN", "CDFG-HJKA", "CDFG_HJKM", "\uff23DFGHJKM", "%" * 8])
def test_what_is_no_code_is_none(text: str) -> None:
    assert read(text) is None


def test_who_is_told_reads_the_code_and_what_to_do() -> None:
    said = sentence("CDFGHJKM")
    assert "CDFG-HJKM" in said
    assert said.startswith("(I do not know you yet.")
    assert said.endswith("good for an hour; then write to me again.)")
    assert pairing.LIFETIME == 3600


def test_only_who_writes_directly_can_be_let_in() -> None:
    ada = Person(platform="chat", account="A1", user="U1")
    assert asker(DIRECT) == replace(ada, account=DIRECT.address.account)
    assert asker(replace(command("help", number=1), direct=True)) == asker(DIRECT)
    assert asker(message("Hi!")) is None
    assert asker(command("help", number=1, address=place("C2"))) is None
    assert asker(replace(DIRECT, user="")) is None
