"""What belongs together inside a paragraph."""

import pytest

from chunker.inline import spans


@pytest.mark.parametrize(
    ("text", "together"),
    [
        ("plain text", []),
        ("a `code span` b", ["`code span`"]),
        ("a ``x ` y`` b", ["``x ` y``"]),
        ("a [text](https://a.io/b) c", ["[text](https://a.io/b)"]),
        ("![alt](a.png)", ["![alt](a.png)"]),
        ("**bold *and* more** b", ["**bold *and* more**", "*and*"]),
        ("a_b_c", []),
        ("2 * 3 * 4", []),
        ("https://a.io/b.c?d=e end", ["https://a.io/b.c?d=e"]),
        (r"a \* b &amp; c", [r"\*", "&amp;"]),
        ("~~gone~~", ["~~gone~~"]),
        ("stray ** and [ and `", []),
    ],
)
def test_a_whole_paragraph_is_read(text: str, together: list[str]) -> None:
    assert [text[span.start : span.end] for span in spans(text, open_ended=False)] == together


@pytest.mark.parametrize(
    ("text", "start"),
    [("a **bo", 2), ("a `co", 2), ("a [te", 2), ("a [t](htt", 2), ("see https://a.i", 4), ("x &am", 2)],
)
def test_what_is_still_open_counts_as_open(text: str, start: int) -> None:
    found = spans(text, open_ended=True)
    assert found[0].start == start
    assert found[0].end > len(text)
