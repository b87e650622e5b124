"""Reads a conversation back, page by page, until its newest messages are there.

Rule 1: what comes out is the same however Slack cuts the pages, and whether it repeats a thread's root on each of them.
Rule 2: a channel is listed newest first, so it is read until there are enough. ``oldest`` is never sent with it: where
    it stands alone, Slack begins at the oldest end.
Rule 3: a thread is listed oldest first, so all of it behind ``after`` is read.
Rule 4: what nobody said (somebody joined, a message was deleted) is no message.

Sources: https://docs.slack.dev/reference/methods/conversations.history and .../conversations.replies ;
https://github.com/slackhq/slack-api-docs/issues/4 for ``oldest``
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import cast

from adapters.slack.identity import Identity
from adapters.slack.message import SPOKEN, TS, heard, is_ours
from adapters.slack.render import METADATA, Call, undo
from gateway.operation import ReadThread, Said
from gateway.payload import Json, mapping

PAGE = 999
"""Messages asked for at once; the most that both methods give. A thread of a thousand is one call and not five."""

_SAID = SPOKEN | {"bot_message"}


class Reading:
    """One ``ReadThread``. Ask for ``next_call``, feed what Slack answers, until there is none.

    Args:
        operation: what to read.
        me: whose messages are ours.
    """

    def __init__(self, operation: ReadThread, me: Identity) -> None:
        self._operation = operation
        self._me = me
        self._after, self._before = operation.after, operation.before
        self._found: dict[str, Said] = {}
        self._cursor: str | None = ""
        self._cursors: set[str] = set()

    def next_call(self) -> Call | None:
        """The call for the next page; none when all is read."""
        if self._cursor is None:
            return None
        address = self._operation.address
        arguments: dict[str, object] = {"channel": address.channel, "include_all_metadata": True, "limit": PAGE}
        if address.thread is None:
            method, arguments["limit"] = "conversations.history", min(max(self._operation.limit, 1), PAGE)
        else:
            method, arguments["ts"] = "conversations.replies", address.thread
            if self._after is not None:
                arguments["oldest"] = self._after
        if self._before is not None:
            arguments["latest"] = self._before
        if self._cursor:
            arguments["cursor"] = self._cursor
        return Call(method=method, arguments=arguments, query=True)

    def feed(self, body: Json) -> None:
        """Take in a page."""
        page = list(_messages(body))
        for message in page:
            if self._inside(str(message["ts"])) and message.get("subtype") in _SAID:
                self._found[str(message["ts"])] = self._said(message)
        cursor = mapping(body.get("response_metadata")).get("next_cursor")
        more = isinstance(cursor, str) and cursor and cursor not in self._cursors
        self._cursor = str(cursor) if more and not self._enough(page) else None
        self._cursors.add(str(cursor))

    @property
    def messages(self) -> tuple[Said, ...]:
        """The newest messages that were found, oldest first."""
        ordered = sorted(self._found, key=Decimal)
        return tuple(self._found[ts] for ts in ordered[max(0, len(ordered) - self._operation.limit) :])

    def _enough(self, page: list[Json]) -> bool:
        """Whether what follows can only be older than what was asked for."""
        if self._operation.address.thread is not None:
            return False
        behind = self._after is not None and any(Decimal(str(m["ts"])) <= Decimal(self._after) for m in page)
        return behind or len(self._found) >= self._operation.limit

    def _inside(self, ts: str) -> bool:
        late = self._after is None or Decimal(ts) > Decimal(self._after)
        return late and (self._before is None or Decimal(ts) < Decimal(self._before))

    def _said(self, message: Json) -> Said:
        ours, words = is_ours(message, self._me), heard(message, self._me)
        metadata = mapping(message.get("metadata"))
        nonce = mapping(metadata.get("event_payload")).get("nonce")
        known = ours and metadata.get("event_type") == METADATA and isinstance(nonce, str)
        return Said(
            message_id=str(message["ts"]),
            user=str(message.get("user") or message.get("bot_id") or ""),
            text=undo(words) if ours else words,
            ours=ours,
            nonce=str(nonce) if known else None,
        )


def _messages(body: Json) -> Iterator[Json]:
    """Those that have an id and a kind that can be read."""
    listed = body.get("messages")
    for message in map(mapping, cast("list[object]", listed) if isinstance(listed, list) else []):
        ts, subtype = message.get("ts"), message.get("subtype")
        if isinstance(ts, str) and TS.fullmatch(ts) and (subtype is None or isinstance(subtype, str)):
            yield message
