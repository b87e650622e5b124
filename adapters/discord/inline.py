"""Markdown inside of a block, as Discord writes it. Pure.

Rule 1: what both write alike stays as it was written: emphasis, code, links, backslashes.
Rule 2: ``__`` is bold in Markdown and underlines on Discord, so bold is written ``**``; bold in bold is bold.
Rule 3: an image is a link, and an entity the character that it means.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from markdown_it.token import Token

from adapters.discord.escape import apart, escape

Piece = tuple[bool, str]
"""Whether it is text that has to be escaped, and the characters."""

_MARKS = frozenset("\\`*_~|[")


def inline(tokens: Sequence[Token], pairs: frozenset[str]) -> str:
    """What the tokens of one block are on Discord."""
    pieces = _merged(_pieces(tokens))
    written = ""
    for number, (is_text, piece) in enumerate(pieces):
        after = pieces[number + 1][1] if number + 1 < len(pieces) else "\n"
        written += apart(written, escape(piece, pairs, written or "\n", after) if is_text else piece)
    return written


def visible(tokens: Sequence[Token]) -> str:
    """What a reader sees of them where there is no markup, as in a table that is shown as code."""
    shown = ""
    target: list[str] = []
    for token in tokens:
        match token.type:
            case "text" | "text_special" | "code_inline":
                shown += token.content
            case "softbreak" | "hardbreak":
                shown += " "
            case "image":
                shown += _beside(token.content, str(token.attrs.get("src", "")))
            case "link_open":
                target.append(shown)
                target.append(str(token.attrs.get("href", "")))
            case "link_close" if target:
                href, before = target.pop(), target.pop()
                label = shown[len(before) :]
                shown = before + (label if href == f"mailto:{label}" else _beside(label, href))
            case _:
                pass
    return shown


def code(content: str) -> str:
    """A code span. Three backticks would begin a block on Discord."""
    runs = {len(run) for run in re.findall("`+", content)}
    fence = "`" * next(length for length in (1, 2, *range(3, len(content) + 4)) if length not in runs)
    blanks = content.startswith(" ") and content.endswith(" ") and content.strip() != ""
    pad = " " if content.startswith("`") or content.endswith("`") or blanks else ""
    return f"{fence}{pad}{content}{pad}{fence}"


def _beside(label: str, href: str) -> str:
    return href if label in ("", href) else f"{label} ({href})" if href else label


def _pieces(tokens: Sequence[Token]) -> Iterator[Piece]:
    bold, links = 0, list[str]()
    for token in tokens:
        match token.type:
            case "text":
                yield True, token.content
            case "text_special":
                yield _special(token)
            case "softbreak" | "hardbreak":
                yield True, "\n"
            case "code_inline":
                yield False, code(token.content)
            case "strong_open" | "strong_close":
                bold += token.nesting
                yield False, "**" if bold == max(token.nesting, 0) else ""
            case "link_open":
                opening, closing = _brackets(token)
                links.append(closing)
                yield False, opening
            case "link_close":
                yield False, links.pop()
            case "image":
                yield from _image(token)
            case _:
                yield False, token.markup


def _brackets(token: Token) -> tuple[str, str]:
    """What stands round a link's words."""
    return ("<", ">") if token.markup == "autolink" else ("[", f"]({_target(token, 'href')})")


def _special(token: Token) -> Piece:
    """A backslash and what it is for stay; of an entity the character."""
    if token.info == "entity":
        return (False, f"\\{token.content}") if token.content in _MARKS else (True, token.content)
    return token.content == token.markup, token.markup  # where it is for nothing, it is text


def _image(token: Token) -> list[Piece]:
    source = str(token.attrs.get("src", ""))
    if not token.content:
        return [(False, source)]
    return [(False, "["), (True, " ".join(token.content.split())), (False, f"]({_target(token, 'src')})")]


def _target(token: Token, name: str) -> str:
    href, title = str(token.attrs.get(name, "")), token.attrs.get("title")
    odd = re.search(r"[\s()<>]", href) is not None
    written = f"<{href}>" if odd and not re.search(r"[<>\n]", href) else href
    return f'{written} "{title}"' if title and '"' not in str(title) else written


def _merged(pieces: Iterable[Piece]) -> list[Piece]:
    """Without empty ones, and text that stands side by side as one."""
    merged: list[Piece] = []
    for is_text, piece in pieces:
        if merged and is_text and merged[-1][0]:
            merged[-1] = True, merged[-1][1] + piece
        elif piece:
            merged.append((is_text, piece))
    return merged
