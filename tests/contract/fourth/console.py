"""A chat of consoles: JSON over TCP, an object a line. Becomes ``adapters/console.py``.

Whoever connects to listen is told what was said, each with a number, and says which numbers it has kept; what it has
not kept is told to it again when it comes back. Every other line is answered by one line, and that is all of it.
"""

import json
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Literal, cast, get_args

import anyio
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream
from pydantic import ConfigDict, Field

from gateway.access import Allow, Ids
from gateway.adapter import Adapter, Budget, Capabilities, Receive, UnknownOutcome
from gateway.address import Address
from gateway.error import AdapterError, DragomanError, StoreError
from gateway.inbound import Command, CommandReceived, Ignored, Inbound, MessageDeleted, MessageEdited, MessageReceived
from gateway.operation import (
    DeleteMessage,
    EditMessage,
    Forbidden,
    MessageGone,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    TooLong,
    Unknown,
    Unreachable,
)
from gateway.secret import SecretName, reveal

log = logging.getLogger(__name__)

USERS = Ids(name="allow_users", pattern="[a-z]+", find="It is the name under which they log in.")
CHANNELS = Ids(name="allow_rooms", pattern="[a-z]+", find="It stands on the door.")

LONGEST = 2_000
_LONGEST_LINE = 1 << 20
_PAUSE = 0.1
"""Real seconds from a lost connection to the next."""

_WRITE = Budget(name="write", scope="channel", rate=4.0, burst=4)
_BROKEN = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, anyio.IncompleteRead)

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the configuration says about consoles.

    Attributes:
        word: where the password is kept.
        host: where the consoles are.
        port: likewise.
        allow_users: who may talk to the bot, by name; ``*`` is everybody, and none is nobody.
        allow_rooms: where; who talks to the bot alone needs no room.
        surface: ``edit`` shows an answer while it grows, ``post`` shows whole chunks only.
        bubble: how many characters a message of ours gets.
        unknown_outcome: what to do about a message of ours of which nobody can tell whether it arrived.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    word: SecretName = "env:CONSOLE_WORD"
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65_535)] = 7300
    allow_users: tuple[str, ...] = ()
    allow_rooms: tuple[str, ...] = ()
    surface: Literal["edit", "post"] = "edit"
    bubble: Annotated[int, Field(ge=1, le=LONGEST)] = 800
    unknown_outcome: UnknownOutcome = "repeat"


def create(settings: Settings) -> Adapter:
    """The adapter of one desk. Touches neither network nor secrets."""
    return ConsoleAdapter(settings)


def allow(settings: Settings) -> Allow:
    """Who may talk to the bot, and where."""
    return Allow(users=frozenset(settings.allow_users), channels=frozenset(settings.allow_rooms))


class ConsoleAdapter:
    """A ``gateway.adapter.Adapter``."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.capabilities = Capabilities(
            surface=settings.surface,
            unit="cp",
            bubble=settings.bubble,
            post=(_WRITE,),
            edit=(_WRITE,),
            delete=(_WRITE,),
            reconciliation="nonce",
            unknown_outcome=settings.unknown_outcome,
        )

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        """See ``gateway.adapter.Adapter``. What the store refuses is told again, so the connection is left then."""
        begun = False
        while True:
            try:
                async with self._asking({"do": "listen"}) as (stream, lines):
                    me = await _line(lines)
                    if "error" in me:
                        raise _refused(self._settings.word)
                    if not begun:
                        ready()
                    begun = True
                    while True:
                        event = await _line(lines)
                        await receive(decode(event, me))
                        await stream.send(_bytes({"kept": event["event"]}))
            except (*_BROKEN, StoreError) as error:
                log.warning("the console is asked again: %s", type(error).__name__)
                await anyio.sleep(_PAUSE)

    async def perform(self, operation: Operation) -> Outcome:
        """See ``gateway.adapter.Adapter``."""
        match operation:
            case PostMessage(text=text):
                asked: Json = {"do": "post", "room": operation.address.channel, "text": text, "nonce": operation.nonce}
            case EditMessage(text=text):
                asked = {"do": "edit", "id": operation.message_id, "text": text}
            case DeleteMessage():
                asked = {"do": "delete", "id": operation.message_id}
            case _:
                return Forbidden(reason="a console cannot do this")
        if len(str(asked.get("text", ""))) > LONGEST:
            return TooLong()
        sent = False
        try:
            async with self._asking({**asked, "quiet": True, "unfold": False}) as (_, lines):
                sent = True
                return _outcome(await _line(lines), operation)
        except _BROKEN as error:
            reason = type(error).__name__
            return Unknown(reason=reason) if sent else Unreachable(reason=reason)
        except DragomanError as error:  # there is no password
            return Forbidden(reason=str(error))

    @asynccontextmanager
    async def _asking(self, asked: Json) -> AsyncGenerator[tuple[ByteStream, BufferedByteReceiveStream]]:
        """A connection on which something was asked."""
        word = reveal(self._settings.word, purpose="the console's password", source="Ask whoever keeps the consoles.")
        async with await anyio.connect_tcp(self._settings.host, self._settings.port) as stream:
            await stream.send(_bytes({**asked, "word": word}))
            yield stream, BufferedByteReceiveStream(stream)


def decode(event: Json, me: Json) -> Inbound:
    """What an event means."""
    account, name = str(me["desk"]), f"@{me['me']} "
    event_id, message_id = f"console:{account}:{event['event']}", f"console:{account}:{event['id']}"
    address = Address(platform="console", account=account, channel=str(event["room"]))
    text, direct = str(event["text"]), event["direct"] is True
    if event["robot"] or not (direct or text.startswith(name)):
        return Ignored(event_id=event_id, reason="not for us")
    if event["kind"] == "gone":
        return MessageDeleted(event_id=event_id, message_id=message_id, address=address)
    said, user = text.removeprefix(name), str(event["who"])
    word = said.removeprefix("/")
    if word != said and word in get_args(Command):
        return CommandReceived(
            event_id=event_id,
            message_id=message_id,
            address=address,
            user=user,
            command=cast("Command", word),
            direct=direct,
        )
    message = MessageReceived(
        event_id=event_id, message_id=message_id, address=address, user=user, text=said, direct=direct
    )
    return message if event["kind"] == "said" else MessageEdited(event_id=event_id, message=message)


def _refused(word: SecretName) -> AdapterError:
    return AdapterError(f"the console does not take the password in {word}: write the right one there")


def _outcome(answer: Json, operation: Operation) -> Outcome:
    match answer.get("error"):
        case None:
            return Performed(message_id=str(answer["id"]))
        case "limited":
            return RateLimited(retry_after=float(str(answer["retry_after"])))
        case "gone":
            return MessageGone()
        case "failed":
            return Unknown(reason="the console failed")
        case "word":
            return Unreachable(reason="the console does not take the password any more")
        case error:
            return Forbidden(reason=f"the console says {error} to {type(operation).__name__}")


async def _line(lines: BufferedByteReceiveStream) -> Json:
    return json.loads(await lines.receive_until(b"\n", _LONGEST_LINE))


def _bytes(line: Json) -> bytes:
    return json.dumps(line).encode() + b"\n"
