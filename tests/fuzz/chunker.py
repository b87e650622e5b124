"""A coverage-guided fuzz target for the chunker: ``make fuzz``.

The fuzzer mutates bytes towards branches of the chunker that no input has reached; here they become a limit, a unit, a
text of Markdown's own characters, and deltas. A find is an input that breaks a law that holds everywhere: its text is
printed, and becomes a test in ``tests/unit/chunker``.
"""

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Any

atheris: Any = import_module("atheris")  # `make fuzz` installs it; nothing else needs it

with atheris.instrument_imports(include=["chunker"]):
    from chunker import Chunk, Chunker, Unit, split
    from tests.properties import markdown_judge as judge

UNITS: tuple[Unit, ...] = ("cp", "utf16", "utf8")
BLOCKS = (
    "\n|\n\n|\r\n|\r|```|````|~~~|```py\n|# |## |> |>|- |* |+ |1. |10) |    |\t|---\n|===\n|[x]: /u\n|<!--|-->|</div>\n"
)
INLINE = "`|``|*|**|_|~~|[a](b)|[|](|)|![|<|>|&amp;|\\|https://a.example/b?c=d |. |! |。|e.g. "
WORDS = "é|e\u0301|👩\u200d👩\u200d👧|🇩🇪|가|क्ष|\u200b|\u202e|\u2028|\x00|\x1c|a|word "
LINES = "One sentence. |x = 1\n|長い文。|- item\n|  - b\n| "
PIECES = [*f"{BLOCKS}|{INLINE}|{WORDS}|{LINES}".split("|"), "|", "| a | b |\n", "|---|---|\n", "a" * 40, "    code\n"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What the fuzzer's bytes mean."""

    limit: int
    unit: Unit
    size: int
    markup: bool
    text: str

    @classmethod
    def of(cls, raw: bytes) -> "Input":
        """Read bytes."""
        data: Any = atheris.FuzzedDataProvider(raw)
        return cls(
            limit=data.ConsumeIntInRange(1, 200),
            unit=UNITS[int(data.ConsumeIntInRange(0, 2))],
            size=data.ConsumeIntInRange(1, 40),
            markup=data.ConsumeIntInRange(0, 3) > 0,
            text=_text(data),
        )

    def chunker(self) -> Chunker:
        """A chunker that is to cut it."""
        return Chunker(self.limit, unit=self.unit, markup=self.markup)


def _text(data: Any) -> str:
    """A text: mostly of what means something to Markdown."""
    parts: list[str] = []
    while data.remaining_bytes() > 0 and len(parts) < 400:
        choice: int = data.ConsumeIntInRange(0, len(PIECES) + 7)
        parts.append(PIECES[choice] if choice < len(PIECES) else data.ConsumeUnicodeNoSurrogates(4))
    return "".join(parts)


def one_input(raw: bytes) -> None:
    """Judge the chunks of one input."""
    case = Input.of(raw)
    chunks = split(case.text, case.limit, unit=case.unit, markup=case.markup)
    found = judge.cap(chunks, case.limit, case.unit) + judge.spans(case.text, chunks)
    found += [f"chunk {index} is blank" for index, chunk in enumerate(chunks) if not chunk.text.strip()]
    found += streamed(case, chunks)
    if found:
        print(case, found)  # noqa: T201 - the find
        raise AssertionError(found)


def streamed(case: Input, chunks: list[Chunk]) -> list[str]:
    """Judge the same text in deltas: cut-invariance, previews within the limit, settled text that only grows."""
    chunker, fed, settled, found = case.chunker(), list[Chunk](), 0, list[str]()
    for at in range(0, len(case.text), case.size):
        fed += chunker.feed(case.text[at : at + case.size])
        preview, before, settled = chunker.preview(), settled, chunker.settled()
        if judge.length(preview, case.unit) > case.limit and len(preview) > 1:
            found.append(f"the preview at {at} is {judge.length(preview, case.unit)} long")
        if settled < before:
            found.append(f"settled went back from {before} to {settled}")
    if fed + chunker.flush() != chunks:
        found.append("the chunks depend on the deltas")
    return found


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
