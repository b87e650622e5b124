"""Cuts streamed Markdown into messages: never too long, nothing lost, each valid by itself.

No I/O, no clock, nothing but the standard library. See README.md for the laws.
"""

from chunker.chunk import Chunk, Reason
from chunker.chunker import Chunker, split
from chunker.length import Unit

__all__ = ["Chunk", "Chunker", "Reason", "Unit", "split"]
