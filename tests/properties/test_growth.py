"""What an append surface is given of a chunk before it is whole: its beginning, as it will stay.

Not where the chunk ends before what was settled, as at limits too small for a good cut, and not where a fence without a
line in it ends what is settled (chunker/README.md).
"""

from hypothesis import given
from hypothesis import strategies as st

from chunker import Chunk, Chunker
from chunker.line import FENCE

fragments = st.sampled_from(
    [
        "Hello ",
        "One sentence, and one more. ",
        "\n",
        "\n\n",
        "word" * 10,
        "- item\n",
        "> quote\n",
        "```python\n",
        "x = 1\n",
        "```\n",
        "`code` ",
        "**bold** ",
        "*em ",
        "em* ",
        "| a | b |\n|---|---|\n",
        "[link](http://x) ",
    ]
)


@given(
    text=st.lists(fragments, max_size=40).map("".join),
    limit=st.sampled_from([60, 200]),
    cuts=st.lists(st.integers(1, 8), min_size=1),
)
def test_what_has_grown_is_how_the_chunk_begins(text: str, limit: int, cuts: list[int]) -> None:
    chunker = Chunker(limit)
    grown: list[tuple[str, int]] = []
    at = turn = 0
    while at < len(text):
        delta = text[at : at + cuts[turn % len(cuts)]]
        at, turn = at + len(delta), turn + 1
        if chunks := chunker.feed(delta):
            begins_with(chunks[0], grown)
            grown = []
        grown.append((chunker.growth(), chunker.settled()))
    for chunk in chunker.flush()[:1]:
        begins_with(chunk, grown)


def begins_with(chunk: Chunk, grown: list[tuple[str, int]]) -> None:
    for growth, settled in grown:
        open_fence = FENCE.match(growth.rsplit("\n", 1)[-1].lstrip(" >"))
        assert settled > chunk.end or open_fence or chunk.text.startswith(growth)
