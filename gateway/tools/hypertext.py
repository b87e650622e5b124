"""HTML as text for a model: headings, lists, links and code as in Markdown; no scripts, no styles, no forms. Pure.

Rule 1: nothing raises, whatever the page holds.
Rule 2: the work is linear in the length. The standard library's parser took minutes for a megabyte of unclosed tags, in
        one regular expression, which holds up the whole process also from within a thread.
Rule 3: what is open where the page ends is dropped, as browsers do.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import urljoin

_NAME = re.compile(r"</?([A-Za-z][^\s/>]{0,40})")
_ATTRIBUTE = re.compile(r"""[\s/]*(?:([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:(["'])|([^\s>"'][^\s>]*))?)?|=|(>))""")
_NUMBER = re.compile(r"&#(?:0*[0-9]{8,}|[xX]0*[0-9A-Fa-f]{7,});?")  # too large for a character, or made to be slow
_SPACE = re.compile(r"[ \t\n\r\f]+")
_LINES = re.compile(r"\n{3,}")

RAW = {name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE) for name in ("script", "style", "textarea", "title")}
"""Elements in which nothing is a tag but their own end."""

SKIPPED = frozenset(
    ("audio", "button", "canvas", "iframe", "math", "noscript", "object", "select", "svg", "template", "video")
)
"""Elements that are of no use to a reader of text."""

BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption"),
        *("figure", "footer", "form", "header", "hr", "main", "nav", "ol", "p", "section", "summary", "table", "ul"),
    )
)
"""Elements that stand in a paragraph of their own."""

HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tag:
    name: str
    closes: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])


def text_of(page: str, address: str) -> str:
    """What there is to read on a page, its title first.

    Args:
        page: HTML.
        address: of the page, from which its links are seen.
    """
    writer = _Writer(address)
    for token in _tokens(page.replace("\0", "")):
        if isinstance(token, str):
            writer.say(token)
        else:
            writer.take(token)
    return writer.text()


def _tokens(page: str) -> Iterator[str | _Tag]:
    """Texts, as they are shown, and tags."""
    begin = at = 0
    while (at := page.find("<", at)) >= 0:
        if (name := _NAME.match(page, at)) is not None:
            tag, end = _tag(page, name)
        elif page.startswith("<!--", at):
            tag, end = None, _behind(page, "-->", at + 4)
        elif page.startswith(("<!", "<?", "</"), at):
            tag, end = None, _behind(page, ">", at + 2)
        else:
            at += 1
            continue
        yield _shown(page[begin:at])
        if end < 0:
            return
        begin = at = end
        if tag is not None:
            yield tag
            if not tag.closes and (closing := RAW.get(tag.name)) is not None:
                found = closing.search(page, end)
                begin = at = found.start() if found else len(page)
                if tag.name == "title":
                    yield _shown(page[end:begin])
    yield _shown(page[begin:])


def _behind(page: str, mark: str, start: int) -> int:
    found = page.find(mark, start)
    return found if found < 0 else found + len(mark)


def _tag(page: str, name: re.Match[str]) -> tuple[_Tag | None, int]:
    """The tag, and where it ends; none, and -1, where the page ends before."""
    attributes: dict[str, str] = {}
    at = name.end()
    while (found := _ATTRIBUTE.match(page, at)) is not None:
        key, quote, value, end = found.groups()
        at = found.end()
        if end:
            closes = page[name.start() + 1] == "/"
            return _Tag(name=name[1].lower(), closes=closes, attributes=attributes), at
        if quote:
            close = page.find(quote, at)
            if close < 0:
                break
            value, at = page[at:close], close + 1
        if key:
            attributes.setdefault(key.lower(), _shown(value or ""))
    return None, -1


def _shown(text: str) -> str:
    return unescape(_NUMBER.sub("\N{REPLACEMENT CHARACTER}", text))


class _Writer:
    """Writes down what stands between the tags."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._parts: list[str] = []
        self._title: list[str] = []
        self._skipped: list[str] = []
        self._links: list[tuple[int, str]] = []
        self._in_title = False
        self._pre = False

    def text(self) -> str:
        lines = "".join(self._parts).split("\n")
        body = _LINES.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip("\n")
        title = _SPACE.sub(" ", "".join(self._title)).strip()
        return f"{title}\n\n{body}".strip() if title else body.strip()

    def say(self, text: str) -> None:
        if self._in_title:
            self._title.append(text)
        elif not self._skipped and text:
            words = text if self._pre else _SPACE.sub(" ", text)
            at_start = not self._parts or self._parts[-1].endswith(("\n", " "))
            self._parts.append(words.lstrip(" ") if at_start and not self._pre else words)
            if not self._parts[-1]:
                self._parts.pop()

    def take(self, tag: _Tag) -> None:
        if tag.name == "title":
            self._in_title = not tag.closes and not self._title
        elif self._skipped or tag.name in SKIPPED:
            self._skip(tag)
        else:
            self._write(tag)

    def _write(self, tag: _Tag) -> None:
        match tag.name:
            case "a":
                self._link(tag)
            case "pre":
                self._fence(tag)
            case "br" | "tr":
                self._break("\n")
            case "td" | "th" if tag.closes:
                self._parts.append(" | ")
            case "li" if not tag.closes:
                self._break("\n- ")
            case name if name in BLOCKS:
                self._break("\n\n")
            case name if name in HEADINGS:
                self._break("\n\n" if tag.closes else f"\n\n{HEADINGS[name]}")
            case "img" if words := tag.attributes.get("alt", "").strip():
                self.say(f"[{words}]")
            case _:
                pass

    def _skip(self, tag: _Tag) -> None:
        """Only an element of the same name ends what is left out; the innermost, where they nest."""
        if not self._skipped:
            if not tag.closes:
                self._skipped.append(tag.name)
        elif tag.name == self._skipped[-1]:
            if tag.closes:
                self._skipped.pop()
            else:
                self._skipped.append(tag.name)

    def _break(self, mark: str) -> None:
        if self._parts and self._parts[-1] == mark:
            return
        self._parts.append(mark)

    def _fence(self, tag: _Tag) -> None:
        if self._pre == tag.closes:
            self._pre = not tag.closes
            self._parts.append("\n```\n" if tag.closes else "\n\n```\n")

    def _link(self, tag: _Tag) -> None:
        if self._links:
            start, target = self._links.pop()
            words = "".join(self._parts[start:]).strip()
            if words and "\n" not in words:
                self._parts[start:] = [f"[{words}]({target})"]
        if not tag.closes and (target := _target(self._address, tag.attributes.get("href", ""))):
            self._links.append((len(self._parts), target))


def _target(address: str, href: str) -> str:
    """Where a link leads; nothing where that is no page, or this one."""
    if not href or href.startswith("#"):
        return ""
    try:
        target = urljoin(address, href.strip())
    except ValueError:
        return ""
    plain = target.startswith(("https://", "http://")) and not re.search(r"[\s<>()]", target)
    return target if plain else ""
