"""Reads what a call wants to write, and refuses what Slack refuses. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from adapters.loopback.slack import rule
from adapters.loopback.slack.answer import RefusedError
from adapters.loopback.slack.argument import Arguments
from adapters.loopback.slack.block import check_blocks
from adapters.loopback.slack.message import Content
from adapters.loopback.slack.ping import find_block_pings, find_pings


def read_post(arguments: Arguments) -> tuple[Content, list[str]]:
    """Read the content of a new message, with the warnings Slack gives."""
    text, warnings = arguments.text("text"), list[str]()
    if len(text) > rule.POST_LENGTH.limit:
        text, warnings = text[: rule.POST_LENGTH.limit], ["message_truncated"]
    return _read(arguments, text, parse=arguments.text("parse") or None), warnings


def read_update(arguments: Arguments, before: Content | None = None) -> Content:
    """Read the new content of a message; ``parse`` falls back to Slack's default for this method.

    Args:
        arguments: the call's.
        before: what the message holds, some of which stays where the call does not name it.
    """
    text = arguments.text("text")
    if len(text) > rule.UPDATE_LENGTH.limit:
        raise RefusedError(rule.UPDATE_LENGTH)
    content = _read(arguments, text, parse=arguments.text("parse") or "client")
    if before is not None and "metadata" not in arguments:
        content = replace(content, metadata=before.metadata)
    if before is not None and "blocks" not in arguments and content.markup != "markdown":
        content = replace(content, blocks=before.blocks)
    return content


def _read(arguments: Arguments, text: str, parse: str | None) -> Content:
    markdown = arguments.text("markdown_text")
    blocks = _read_blocks(arguments)
    attachments = arguments.sequence("attachments")
    if attachments is None:
        raise RefusedError(rule.BLOCKS_FORMAT)
    if markdown and (text or blocks):
        raise RefusedError(rule.MARKDOWN_ALONE)
    if len(markdown) > rule.MARKDOWN_LENGTH.limit:
        raise RefusedError(rule.MARKDOWN_LENGTH)
    if not (text.strip() or markdown.strip() or blocks or attachments):
        raise RefusedError(rule.NO_TEXT)
    link_names = arguments.flag("link_names")
    pings = find_pings(markdown or text, link_names=link_names, parse=parse)
    return Content(
        text=markdown or text,
        markup="markdown" if markdown else "mrkdwn",
        blocks=tuple(blocks),
        attachments=tuple(attachments),
        metadata=_read_metadata(arguments),
        unfurl_links=arguments.flag("unfurl_links"),
        unfurl_media=arguments.flag("unfurl_media"),
        parse=arguments.text("parse") or None,
        link_names=link_names,
        pings=(*pings, *find_block_pings(blocks), *find_block_pings(attachments)),
    )


def _read_blocks(arguments: Arguments) -> list[object]:
    blocks = arguments.sequence("blocks")
    if blocks is None:
        raise RefusedError(rule.BLOCKS_FORMAT)
    if len(blocks) > rule.BLOCK_COUNT.limit:
        raise RefusedError(rule.BLOCK_COUNT)
    if _text_length(blocks) > rule.BLOCKS_LENGTH.limit:
        raise RefusedError(rule.BLOCKS_LENGTH)
    check_blocks(blocks)
    return blocks


def _read_metadata(arguments: Arguments) -> dict[str, object] | None:
    metadata = arguments.mapping("metadata")
    if metadata is None:
        raise RefusedError(rule.METADATA_FORMAT)
    if not metadata:
        return None
    if not isinstance(metadata.get("event_type"), str) or not isinstance(metadata.get("event_payload"), dict):
        raise RefusedError(rule.METADATA_FORMAT)
    return metadata


def _text_length(value: object) -> int:
    """Characters under every ``text`` in a structure."""
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return sum(len(item) if key == "text" and isinstance(item, str) else _text_length(item) for key, item in items)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return sum(_text_length(item) for item in cast("Sequence[object]", value))
    return 0
