"""What the chunker promises, judged by code that shares nothing with it.

Every judge takes a source and its chunks and returns sentences about what is wrong, so a failure reads as a report.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from chunker import Chunk
from tests.properties.markdown import WORD

JUDGE = MarkdownIt("gfm-like", {"html": False, "linkify": False})
QUOTED_BLANKS = re.compile(r"^[> \t]+\Z|\A(?:[> \t]*(?:\r\n|\r|\n))+|(?:(?:\r\n|\r|\n)[> \t]*)+\Z")
"""Blank lines at a cut, those in a quote included."""
BLANKS = re.compile(r"\n(?:[ \t]*\n)+(?=[ \t]*[^\s`])")
BLANK_END = re.compile(r"\n[ \t]*\n\Z")
WIDEST = 4
"""The most units that one character takes."""
QUOTED_TAB = re.compile(r"(?:[ \t>+*-]|\d{1,9}[.)])*>(?:[ >+*-]|\d{1,9}[.)])*\t")
"""A line with a tab behind a quote marker."""


def length(text: str, unit: str) -> int:
    """Measure a text in a unit."""
    if unit == "utf16":
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
    return len(text.encode("utf-8", "surrogatepass")) if unit == "utf8" else len(text)


@dataclass(frozen=True, slots=True)
class Kind:
    """How a word is shown."""

    leaf: str
    depth: int
    line: str = ""
    """Of code, the line it stands in."""
    size: int = 0
    """The length of the source of its block, or of the line that has to stay whole."""
    setext: bool = False
    start: int = 0
    """Where its block begins."""
    known: int = 0
    """Where the line ends that tells what its block is."""
    columns: bool = True
    """Whether its columns can be told: ``>>  \\tcode`` has five by CommonMark, four by markdown-it-py."""


def kinds(text: str, unit: str = "cp") -> dict[str, Kind]:
    """Tell how each word of a text is shown; of a word that is there twice, the last place counts."""
    found: dict[str, Kind] = {}
    lines = re.split(r"\r\n|\r|\n", text)
    sizes = [length(line, unit) for line in lines]
    ends = [match.end() for match in re.finditer(r"\r\n|\r|\n|\Z", text)]
    for leaf, depth, token, setext in leaves(JUDGE.parse(text)):
        start, stop = token.map or (0, 0)
        offset = ends[start - 1] if start else 0
        known = ends[start + 1] if leaf == "table" else ends[min(stop, len(ends) - 1)]
        size = sum(sizes[start : stop + 1]) + stop + 1 - start
        columns = not any(map(QUOTED_TAB.match, lines[start:stop]))
        if leaf == "table":
            # Its head, and its longest row, which both have to fit.
            size = sum(sizes[start : start + 2]) + 2
            size = max(size * 3 // 2, size + max(sizes[start:stop]))
        if leaf == "code":
            for line in token.content.split("\n"):
                found.update((word, Kind("code", depth, line, size, columns=columns)) for word in WORD.findall(line))
        else:
            kind = Kind(leaf, depth, "", size, setext, offset, known, columns)
            found.update((word, kind) for word in WORD.findall(token.content))
    return found


def leaves(tokens: Sequence[Token]) -> Iterator[tuple[str, int, Token, bool]]:
    """Walk the blocks that hold text: kind, quote depth, token, whether a heading is underlined."""
    depth = 0
    outer = "prose"
    setext = False
    table: list[int] | None = None
    for token in tokens:
        if token.type in ("blockquote_open", "blockquote_close"):
            depth += token.nesting
        elif token.type in ("fence", "code_block"):
            yield "code", depth, token, False
        elif token.type == "heading_open":
            outer, setext = "heading", token.markup in "=-"
        elif token.type == "table_open":
            table = token.map
        elif token.type in ("th_open", "td_open"):
            outer = "table"
        elif token.type in ("heading_close", "th_close", "td_close"):
            outer, setext = "prose", False
        elif token.type == "inline":
            token.map = table if outer == "table" else token.map
            yield outer, depth, token, setext


def cap(chunks: Sequence[Chunk], limit: int, unit: str) -> list[str]:
    """Law 1."""
    return [
        f"chunk {index} has {length(chunk.text, unit)} of {limit} {unit}"
        for index, chunk in enumerate(chunks)
        if length(chunk.text, unit) > limit and len(chunk.text) > 1
    ]


def spans(source: str, chunks: Sequence[Chunk]) -> list[str]:
    """Law 2, first half: the spans touch and cover the source."""
    if not chunks:
        return [] if not source.strip() else ["no chunk for a text that is not blank"]
    edges = [0, *(chunk.end for chunk in chunks)]
    wrong = [
        f"chunk {index} starts at {c.start}, not {edges[index]}"
        for index, c in enumerate(chunks)
        if c.start != edges[index]
    ]
    return wrong if edges[-1] == len(source) else [*wrong, f"the spans end at {edges[-1]} of {len(source)}"]


def content(source: str, chunks: Sequence[Chunk]) -> list[str]:
    """Law 2, second half: what is not white is there, in order, and what is added is made of markers and repeats."""
    wrong: list[str] = []
    repeats = {
        word
        for line in re.split(r"[\r\n]+", source)
        if "|" in line or "`" in line or "~" in line
        for word in re.findall(r"[^\W_]+", line)
    }
    for index, chunk in enumerate(chunks):
        letters = iter(chunk.text)
        for char in QUOTED_BLANKS.sub("", source[chunk.start : chunk.end]):
            if not char.isspace() and char not in letters:
                wrong.append(f"chunk {index} has lost {char!r}")
                break
        rest = _without(chunk.text, source[chunk.start : chunk.end])
        added = [word for word in re.findall(r"[^\W_]+", rest) if word not in repeats]
        if added:
            wrong.append(f"chunk {index} has added {added}")
    return wrong


def _without(text: str, source: str) -> str:
    """Take a source's words out of a text, last first, since additions stand in front."""
    words = re.findall(r"[^\W_]+", text)
    for word in reversed(re.findall(r"[^\W_]+", source)):
        for at in range(len(words) - 1, -1, -1):
            if words[at] == word:
                del words[at]
                break
    return " ".join(words)


def blanks(source: str, chunks: Sequence[Chunk], *, fences: bool = True) -> list[str]:
    """Law 6; that of empty fences only where a limit leaves room for full ones."""
    wrong = [f"chunk {index} is blank" for index, chunk in enumerate(chunks) if not chunk.text.strip()]
    count = sum(empty_fences(chunk.text) for chunk in chunks)
    if fences and count > empty_fences(source):
        wrong.append(f"{count} fences are empty, {empty_fences(source)} in the source")
    return wrong


def empty_fences(text: str) -> int:
    """Count the fences without content."""
    return sum(token.type == "fence" and not token.content.strip() for token in JUDGE.parse(text))


def ends_open(text: str) -> bool:
    """Say whether a message ends inside a fence: what would follow it would be code."""
    tokens = JUDGE.parse(text)
    if not any(token.type == "fence" for token in tokens):
        return False
    lines = re.split(r"\r\n|\r|\n", text)
    for token in tokens:
        if token.type == "fence" and token.map:
            last = lines[min(token.map[1], len(lines)) - 1].strip(" \t>")
            closed = (
                token.map[1] - token.map[0] > 1 and not last.strip(token.markup[0]) and len(last) >= len(token.markup)
            )
            if not closed and token.map[1] >= len(lines):
                return True
    return False


def could_close(text: str, limit: int, unit: str) -> bool:
    """Say whether a chunk has room for the last fence's opening line, one character of code, and its closing line.

    If not, the cap comes before law 4.
    """
    token = [token for token in JUDGE.parse(text) if token.type == "fence"][-1]
    opener = re.split(r"\r\n|\r|\n", text)[token.map[0] if token.map else 0]
    columns = opener.rfind(token.markup)
    columns += opener[:columns].count(">")  # the chunker writes a space behind each
    return length(opener, unit) + 1 + columns + WIDEST + 1 + columns + len(token.markup) <= limit


def validity(source: str, chunks: Sequence[Chunk], limit: int, unit: str = "cp") -> list[str]:
    """Law 4: every word is shown as in the source."""
    wrong: list[str] = []
    before = kinds(source, unit)
    for index, chunk in enumerate(chunks):
        if ends_open(chunk.text) and could_close(chunk.text, limit, unit):
            wrong.append(f"chunk {index} ends inside a fence")
        slice_words = set(WORD.findall(source[chunk.start : chunk.end]))
        shown = kinds(chunk.text)
        for word in slice_words & before.keys():
            was, now = before[word], shown.get(word)
            spared = may_change(was, now, limit) or unknown(was, source, chunks, limit, unit)
            if not spared and (now is None or differs(was, now)):
                wrong.append(f"chunk {index}: {word} was {was}, is {now}")
                break
        for word in slice_words - before.keys():
            if word in shown and shown[word].leaf in ("code", "heading"):
                wrong.append(f"chunk {index}: {word} was nothing, is {shown[word]}")
                break
    return wrong


def items(source: str, chunks: Sequence[Chunk]) -> list[str]:
    """Law 4, of lists: what an item holds in a chunk it holds in the source; its first word names it."""
    before = held(source)
    return [
        f"chunk {index}: the item of {first} has taken in {words - before[first]}"
        for index, chunk in enumerate(chunks)
        for first, words in held(chunk.text).items()
        if not words <= before.get(first, words)
    ]


def held(text: str) -> dict[str, set[str]]:
    """Tell what each list item holds, by its first word."""
    found: dict[str, set[str]] = {}
    stack: list[list[str]] = []
    for token in JUDGE.parse(text):
        if token.type == "list_item_open":
            stack.append([])
        elif token.type == "list_item_close":
            words = stack.pop()
            found.update((word, set(words)) for word in words[:1])
        elif token.type in ("inline", "fence", "code_block"):
            for item in stack:
                item.extend(WORD.findall(token.content))
    return found


def differs(was: Kind, now: Kind) -> bool:
    """Say whether a word is shown otherwise; of code, whether its line has changed but by a cut."""
    if not was.columns and was.depth == now.depth and {was.leaf, now.leaf} == {"code", "prose"}:
        return False
    if (was.leaf, was.depth) != (now.leaf, now.depth):
        return True
    if was.leaf != "code":
        return False
    whole, part = was.line.strip(), now.line.strip()
    if part == whole and "\t" not in was.line and was.columns:
        return was.line.rstrip() != now.line.rstrip()
    return part not in whole


def same(was: Kind, now: Kind, limit: int) -> bool:
    """Say whether a word of a message that is still growing is shown as it will be."""
    return (was.leaf, was.depth) == (now.leaf, now.depth) or may_change(was, now, limit)


def may_change(was: Kind, now: Kind | None, limit: int) -> bool:
    """Say whether the law lets a word be prose: its block was too long to be known, or for its head to be repeated."""
    if was.leaf == "table" and was.size + 4 * was.depth > limit:
        return True
    if now is None or now.leaf != "prose" or now.depth != was.depth:
        return False
    if was.leaf == "heading":
        return 2 * was.size + 8 > limit if was.setext else was.size + 4 > limit
    return False


def unknown(was: Kind, source: str, chunks: Sequence[Chunk], limit: int, unit: str) -> bool:
    """Say whether a cut fell into a block before one could see what it is."""
    if was.leaf != "table" and not was.setext:
        return False
    return any(
        was.start < chunk.end < was.known and length(source[chunk.start : was.known], unit) > limit for chunk in chunks
    )


def atoms(source: str, chunks: Sequence[Chunk], found: Sequence[str], limit: int) -> list[str]:
    """Law 5: what belongs together and fits is whole in one chunk."""
    texts = [chunk.text for chunk in chunks]
    real = inlines(source)
    return [
        f"{atom!r} was cut"
        for atom in found
        if 2 * len(atom) + 24 < limit
        and real.get(WORD.findall(atom)[0]) == inline_kind(atom)
        and not any(atom in text for text in texts)
    ]


def inline_kind(atom: str) -> str:
    """Tell what an atom is by how it starts."""
    start = re.match(r"[`\[*_]*", atom)
    return {"`": "code", "``": "code", "[": "link", "**": "strong", "*": "em", "_": "em"}.get(
        start[0] if start else "", ""
    )


def inlines(text: str) -> dict[str, str]:
    """Tell of each word in a paragraph which inline element is the outermost that it stands in."""
    found: dict[str, str] = {}
    for leaf, _, token, _ in leaves(JUDGE.parse(text)):
        stack: list[str] = []
        for child in token.children or () if leaf == "prose" else ():
            kind = child.type.removesuffix("_open").removesuffix("_close")
            if child.type.endswith("_open"):
                stack.append(kind)
            elif child.type.endswith("_close"):
                stack.pop()
            else:
                words = WORD.findall(child.content)
                outer = (*stack, "code" if kind == "code_inline" else "")[0]
                found.update((word, outer if index == 0 or outer != "code" else "") for index, word in enumerate(words))
    return found


def gaps(source: str, chunks: Sequence[Chunk], limit: int) -> list[str]:
    """Law 5: code is cut at a blank line, where there is one that leaves the chunk half full."""
    wrong: list[str] = []
    for index, chunk in enumerate(chunks):
        stood_for = source[chunk.start : chunk.end]
        in_code = chunk.reason in ("line", "code") and chunk.text.endswith("\n```") and "```" not in stood_for[-5:]
        if in_code and not BLANK_END.search(stood_for):
            found = [gap.start() for gap in BLANKS.finditer(chunk.text) if 2 * gap.start() > limit]
            wrong += [f"chunk {index} has a blank line at {at}" for at in found[-1:]]
    return wrong


def headings(chunks: Sequence[Chunk]) -> list[str]:
    """Law 5: no heading ends a chunk, but where it is all there is."""
    wrong: list[str] = []
    for index, chunk in enumerate(chunks[:-1]):
        shown = kinds(chunk.text)
        words = [shown[word].leaf for word in WORD.findall(chunk.text) if word in shown]
        last = WORD.findall(chunk.text)[-1:]
        lines = [line for line in re.split(r"[\r\n]+", chunk.text) if line.strip(" \t>")]
        if (
            last
            and last[0] in lines[-1]
            and last[0] in shown
            and words[-1] == "heading"
            and set(words) != {"heading"}
            and chunk.reason == "block"
        ):
            wrong.append(f"chunk {index} ends with a heading")
    return wrong
