"""Markdown to try the chunker with: as models write it, and as nobody should.

Both generators are functions of a `random.Random`, so that hypothesis can drive them (and shrink what it finds) and a
long run can draw plain seeds. Every word of a document is there once: three consonants that count, then vowels. So a
word tells where in the source it came from, whatever happened to it; a judge needs no alignment.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

CONSONANTS = "bcdfghjklmnpqrstvwxz"
VOWELS = ("a", "e", "io", "ou", "ea", "i", "aio", "uae", "ooee", "aeiou")
WORD = re.compile(f"[{CONSONANTS}]{{3}}(?=[aeiou])")
CJK = "会议改到周四下午三点请带上两份报告需要投影仪如果在之前告诉我"
EMOJI = ("😀", "👩‍👩‍👧‍👦", "🇩🇪🇫🇷", "👍🏽", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "❤️", "1️⃣", "🧑🏿‍🚀")
TAILS = ("é", "é́̂", "עברית", "عربي", "\u200d", "क्षि", "각", "ﷺ", "\u2060")

Part = Callable[[], list[str]]


@dataclass(slots=True)
class Writer:
    """Draws words that are never repeated, and what is made of them.

    ``atoms`` are the links, code spans, addresses and emphases that were written, which a cut should spare.
    """

    rnd: random.Random
    count: int = 0
    atoms: list[str] = field(default_factory=list[str])

    def word(self) -> str:
        """Write the next word."""
        number, self.count = self.count, self.count + 1
        code = "".join(CONSONANTS[number // 20**power % 20] for power in (2, 1, 0))
        return code + self.rnd.choice(VOWELS)

    def words(self, low: int, high: int) -> str:
        """Write a few words."""
        return " ".join(self.word() for _ in range(self.rnd.randint(low, high)))

    def atom(self) -> str:
        """Write something that is to stay whole."""
        kind = self.rnd.randrange(7)
        if kind == 0:
            text = f"`{self.words(1, 3)}`"
        elif kind == 1:
            text = f"[{self.words(1, 4)}](https://oai.eu/{self.word()}?a={self.word()})"
        elif kind == 2:
            text = f"**{self.words(1, 5)}**"
        elif kind == 3:
            text = f"https://oai.eu/{self.word()}/{self.word()}.html?q={self.word()}"
        elif kind == 4:
            text = f"*{self.words(1, 3)}*"
        elif kind == 5:
            text = f"``{self.word()} ` {self.word()}``"
        else:
            text = f"_{self.words(1, 3)}_"
        self.atoms.append(text)
        return text

    def phrase(self) -> str:
        """Write a few words, sometimes with something special among them."""
        kind = self.rnd.randrange(10)
        if kind == 0:
            return self.atom()
        if kind == 1:
            return f"{self.words(1, 3)} {self.rnd.choice(EMOJI)}"
        return self.words(2, 6)

    def sentence(self) -> str:
        """Write a sentence."""
        if self.rnd.randrange(12) == 0:
            start = self.rnd.randrange(len(CJK) - 12)
            return f"{CJK[start : start + 11]}{self.word()}{CJK[start : start + 5]}。"
        body = " ".join(self.phrase() for _ in range(self.rnd.randint(1, 5)))
        return body + self.rnd.choice((".", ".", ".", "!", "?", ", e.g. this.", ":"))

    def prose(self, low: int = 1, high: int = 5) -> str:
        """Write a paragraph in one line."""
        return " ".join(self.sentence() for _ in range(self.rnd.randint(low, high)))


@dataclass(frozen=True, slots=True)
class Document:
    """A document, and what in it should stay whole."""

    text: str
    atoms: tuple[str, ...] = ()


# -- as models write ----------------------------------------------------------------------------------------------


def model_document(rnd: random.Random) -> Document:
    """Write an answer: prose, lists, tables, code, quotes, headings."""
    writer = Writer(rnd)
    parts: tuple[Callable[[Writer], str], ...] = (
        _paragraph,
        _paragraph,
        _paragraph,
        _heading,
        _list,
        _list,
        _table,
        _code,
        _code,
        _quote,
    )
    blocks = [rnd.choice(parts)(writer) for _ in range(rnd.randint(1, 12))]
    text = "\n\n".join(blocks) + rnd.choice(("", "\n"))
    return Document(text, tuple(writer.atoms))


def _paragraph(writer: Writer) -> str:
    if writer.rnd.randrange(4):
        return writer.prose()
    return "\n".join(writer.prose(1, 2) for _ in range(writer.rnd.randint(1, 4)))


def _heading(writer: Writer) -> str:
    return f"{'#' * writer.rnd.randint(1, 4)} {writer.words(1, 6)}\n\n{writer.prose(1, 2)}"


def _list(writer: Writer) -> str:
    rnd = writer.rnd
    ordered = rnd.random() < 0.4
    lines: list[str] = []
    for number in range(1, rnd.randint(2, 8)):
        marker = f"{number}. " if ordered else "- "
        indent = " " * len(marker)
        lines.append(marker + writer.prose(1, 2))
        kind = rnd.randrange(8)
        if kind == 0:
            lines += [f"{indent}- {writer.sentence()}" for _ in range(rnd.randint(1, 4))]
        elif kind == 1:
            lines += ["", indent + writer.prose(1, 2), ""]
        elif kind == 2:
            lines += ["", *(indent + line if line else "" for line in _code(writer, high=12).split("\n")), ""]
    return "\n".join(lines).rstrip("\n")


def _table(writer: Writer) -> str:
    columns = writer.rnd.randint(2, 4)
    rows = [[writer.words(1, 3) for _ in range(columns)] for _ in range(writer.rnd.randint(2, 12))]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * columns, *lines[1:]])


def _code(writer: Writer, high: int = 40) -> str:
    rnd = writer.rnd
    count = rnd.randint(100, 300) if high > 12 and rnd.randrange(25) == 0 else rnd.randint(1, high)
    lines = [
        " " * (4 * rnd.randrange(3)) + writer.word() + f" = {writer.word()}({rnd.randrange(99)})" for _ in range(count)
    ]
    for index in range(1, count - 1, 2):
        lines[index] = lines[index] if rnd.randrange(4) else ""
    return "\n".join(["```" + rnd.choice(("", "python", "sh", "js title=x")), *lines, "```"])


def _quote(writer: Writer) -> str:
    return "\n".join(f"> {writer.prose(1, 2)}" for _ in range(writer.rnd.randint(1, 4)))


# -- as nobody should ---------------------------------------------------------------------------------------------


def nasty_document(rnd: random.Random) -> Document:
    """Write what is legal and unlikely: deep nesting, laziness, things unclosed, odd characters and line ends."""
    writer = Writer(rnd)
    lines: list[str] = []
    for _ in range(rnd.randint(1, 7)):
        lines += _nested(writer, 0)
        lines += [""] * rnd.choice((0, 1, 1, 1, 2))
    text = "\n".join(lines)
    kind = rnd.randrange(12)
    if kind == 0:
        text = text.replace("\n", "\r\n")
    elif kind == 1:
        text = text.replace("\n", "\r")
    elif kind == 2:
        text = text.replace("    ", "\t")
    return Document(text, tuple(writer.atoms))


def _nested(writer: Writer, depth: int) -> list[str]:
    rnd = writer.rnd
    kind = rnd.randrange(9) if depth < 4 else 9
    if kind == 0:
        lines = [line for _ in range(rnd.randint(1, 2)) for line in _nested(writer, depth + 1)]
        return [_quoted(rnd, line, index) for index, line in enumerate(lines)]
    if kind in (1, 2):
        marker = rnd.choice(("- ", "* ", "1. ", "7) ", "-   ", "10. ", "+ "))
        lines = [
            line for _ in range(rnd.randint(1, 3)) for line in [*_nested(writer, depth + 1), *[""] * rnd.randrange(2)]
        ]
        lazy = rnd.randrange(6) == 0
        return [
            (marker if index == 0 else " " * len(marker) if line and not lazy else "") + line
            for index, line in enumerate(lines)
        ]
    return rnd.choice(LEAVES)(writer)


def _quoted(rnd: random.Random, line: str, index: int) -> str:
    if index and line and rnd.randrange(7) == 0:
        return line  # lazy, where a paragraph is open
    return rnd.choice(("> ", "> ", "> ", ">")) + line if line else ">"


def _nasty_text(writer: Writer) -> list[str]:
    rnd = writer.rnd
    return [_odd(writer, writer.prose(1, 2)) for _ in range(rnd.randint(1, 4))]


def _odd(writer: Writer, text: str) -> str:  # noqa: PLR0911  # one return for each oddity
    rnd = writer.rnd
    kind = rnd.randrange(14)
    if kind == 0:
        return text + rnd.choice(TAILS) * rnd.choice((1, 3, 40))
    if kind == 1:
        return rnd.choice(("**", "`", "[", "~~", "_", "``", "![", "<", "&am", "\\")) + text
    if kind == 2:
        return (
            rnd.choice(("", " ", "   ", "     "))
            + rnd.choice(("#", "##", "2.", "-", "+", "=", ">", "|", "`", "~"))
            + text
        )
    if kind == 3:
        return text + "  "
    if kind == 4:
        return f"{text} a | b | c"
    if kind == 5:
        return f"<div>{text}</div>"
    return text


def _nasty_fence(writer: Writer) -> list[str]:
    rnd = writer.rnd
    marker = rnd.choice(("```", "```", "~~~", "````", "~~~~~"))
    indent = " " * rnd.choice((0, 0, 0, 1, 3))
    body = [
        rnd.choice(("", "  ", "    ", "\t", "> ", "- ", "# ")) + writer.words(1, 4)
        for _ in range(rnd.choice((1, 2, 6, 20)))
    ]
    if len(marker) > 3:
        body[len(body) // 2 :] = [marker[:3], *body[len(body) // 2 :], marker[:3] + "x"]
    if rnd.randrange(4) == 0:
        body.insert(rnd.randrange(len(body)), "")
    closer = [indent + marker + rnd.choice(("", " ", marker[0]))] if rnd.randrange(5) else []
    return [indent + marker + rnd.choice(("", "py", " js x=1", "c" * 30)), *(indent + line for line in body), *closer]


def _nasty_table(writer: Writer) -> list[str]:
    rnd = writer.rnd
    columns = rnd.randint(1, 4)
    outer = rnd.random() < 0.6 or columns == 1
    rows = [" | ".join(writer.words(1, 2) for _ in range(columns)) for _ in range(rnd.randint(1, 8))]
    bar = " | ".join(rnd.choice((":--", "---", "--:", ":-:")) for _ in range(columns))
    rows.insert(1, bar)
    return [f"| {row} |" if outer else row for row in rows]


def _nasty_indented(writer: Writer) -> list[str]:
    return ["", *("    " + writer.words(1, 5) for _ in range(writer.rnd.randint(1, 5))), ""]


def _nasty_setext(writer: Writer) -> list[str]:
    return [
        *(writer.words(1, 6) for _ in range(writer.rnd.randint(1, 2))),
        writer.rnd.choice(("===", "---", "=", "--")),
    ]


def _nasty_heading(writer: Writer) -> list[str]:
    return ["#" * writer.rnd.randint(1, 6) + " " + writer.words(1, 6)]


def _nasty_line(writer: Writer) -> list[str]:
    rnd = writer.rnd
    if rnd.randrange(6) == 0:
        return [writer.words(300, 1500)]
    return ["".join(writer.word() for _ in range(rnd.randint(5, 120)))]


def _nasty_definition(writer: Writer) -> list[str]:
    return [f"[{writer.word()}]: https://oai.eu/{writer.word()}"]


def _nasty_rule(writer: Writer) -> list[str]:
    return [writer.rnd.choice(("---", "***", "- - -", "___", "* * *"))]


LEAVES: tuple[Callable[[Writer], list[str]], ...] = (
    _nasty_text,
    _nasty_text,
    _nasty_text,
    _nasty_fence,
    _nasty_fence,
    _nasty_table,
    _nasty_table,
    _nasty_indented,
    _nasty_setext,
    _nasty_heading,
    _nasty_line,
    _nasty_definition,
    _nasty_rule,
)


def cut(rnd: random.Random, text: str) -> list[str]:
    """Cut a text into deltas at random places."""
    size = rnd.choice((1, 2, 4, 7, 30, 200))
    deltas: list[str] = []
    at = 0
    while at < len(text):
        step = rnd.randint(1, 2 * size)
        deltas.append(text[at : at + step])
        at += step
    return deltas
