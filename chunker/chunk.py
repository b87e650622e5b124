"""What the chunker gives out: one message's worth of text, and the stretch of source it stands for."""

from dataclasses import dataclass
from typing import Literal

Reason = Literal["end", "block", "line", "sentence", "space", "cluster", "code"]
"""Why a chunk ends where it ends.

``end`` the text was over; ``block`` behind a paragraph, item, table or fence; ``line`` at a line end (of code, of a
table, of a paragraph); ``sentence`` and ``space`` inside a paragraph; ``cluster`` inside a word, between two grapheme
clusters; ``code`` inside a line of code.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A stretch of source that fills one message.

    ``source[start:end]`` is what the chunk stands for; the spans of successive chunks touch and together cover the
    source. ``text`` is what is sent: the source without the white space at the cut, plus what makes it valid Markdown
    by itself.
    """

    text: str
    start: int
    end: int
    reason: Reason = "end"
