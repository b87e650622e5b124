"""Reads what a call wants to write, and refuses what Telegram refuses. Pure."""

from adapters.loopback.telegram import hypertext, markdown, outbound
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.argument import Arguments
from adapters.loopback.telegram.entity import Entity, read_entities
from adapters.loopback.telegram.formatting import show
from adapters.loopback.telegram.keyboard import read_keyboard
from adapters.loopback.telegram.message import Content


def read_content(arguments: Arguments, users: frozenset[int]) -> Content:
    """Read the text of a message and all that belongs to it.

    Args:
        arguments: the call's.
        users: whom the bot knows, and so can mention.

    Raises:
        RefusedError: Telegram would not show it.
    """
    text = arguments.text("text")
    if not text:
        raise RefusedError(outbound.TEXT_EMPTY)
    parse_mode = arguments.text("parse_mode") or None
    # Where a parse_mode is given, entities are not looked at.
    entities = [] if parse_mode else read_entities(arguments.sequence("entities"), users)
    shown = show(*_parsed(text, parse_mode, entities))
    if len(shown.text) > outbound.TEXT_LENGTH.limit:
        raise RefusedError(outbound.TEXT_LENGTH)
    return Content(
        text=text,
        entities=tuple(entities),
        shown=shown,
        parse_mode=parse_mode,
        link_preview_options=_preview(arguments),
        reply_markup=read_keyboard(arguments),
    )


def _parsed(text: str, parse_mode: str | None, entities: list[Entity]) -> tuple[str, list[Entity]]:
    match (parse_mode or "").lower():
        case "":
            return text, entities
        case "html":
            return hypertext.parse(text)
        case "markdownv2":
            return markdown.parse(text)
        case "markdown":
            return markdown.parse_old(text)
        case _:
            raise RefusedError(outbound.PARSE_MODE)


def _preview(arguments: Arguments) -> dict[str, object] | None:
    """The options, also where they come by their old name."""
    if arguments.flag("disable_web_page_preview"):
        return {"is_disabled": True}
    return arguments.mapping("link_preview_options") or None
