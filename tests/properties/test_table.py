"""A table that is written is the table that is read."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.table import Value, table

# The control characters and quotes that TOML is particular about come often.
texts = st.one_of(st.text(), st.text("\\\"'\x00\x08\t\n\r\x1f\x7f\x85\u2028é😀{}#="))
values = st.one_of(
    texts, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.lists(texts, max_size=3)
)


@given(content=st.dictionaries(st.from_regex("[a-z_]{1,8}", fullmatch=True), values, max_size=6))
def test_a_table_is_read_as_it_was_written(content: dict[str, Value]) -> None:
    read = tomllib.loads(table("mine", content))["mine"]
    assert read == content
    assert {key: type(value) for key, value in read.items()} == {key: type(value) for key, value in content.items()}


@pytest.mark.parametrize("content", [{"name": "\udcff"}, {"names": ["a", "\ud83d"]}], ids=ascii)
def test_half_a_surrogate_pair_is_refused(content: dict[str, Value]) -> None:
    with pytest.raises(UnicodeEncodeError):
        table("mine", content)
