"""Consoles on loopback, with a lobby where several talk. Becomes ``adapters/loopback/console.py``."""

import asyncio
import itertools
import json
import math
import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from adapters.loopback.bucket import Budget, TokenBucket
from adapters.loopback.clock import PlatformClock
from adapters.loopback.feed import Feed
from adapters.loopback.log import Call, CallLog
from adapters.loopback.venue import Doing, Happened, Shown, Trouble, Value, Venue, Where, Who

ME, DESK, WORD, LOBBY = "dragoman", "desk", "open sesame", "lobby"
LONGEST = 2_000
LINE = 1 << 20
WRITE = Budget(name="write", rate=4.0, capacity=5)
NAME = re.compile(r"@(?:ada|bob|here|channel|everyone)\b")
LINK = re.compile(r"https?://[^\s<>|)]+")

Json = Mapping[str, object]


@asynccontextmanager
async def open_venue(time_scale: float, faults: int | None = None) -> AsyncGenerator[Venue]:
    """Consoles that listen while the context lasts."""
    assert faults is None, "consoles do not misbehave by themselves yet"
    venue = ConsoleVenue(PlatformClock(time_scale))
    async with await asyncio.start_server(venue.serve, "127.0.0.1", 0, limit=LINE) as server:
        venue.port = server.sockets[0].getsockname()[1]
        yield venue
        venue.drop()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    id: int
    author: str
    room: str
    text: str
    nonce: str = ""
    edited: bool = False
    pings: tuple[str, ...] = ()
    previews: tuple[str, ...] = ()


class Refusal(Enum):
    """Why something is not done, as the wire has it."""

    WORD = "word"
    FAILED = "failed"
    LENGTH = "length"
    GONE = "gone"
    LIMITED = "limited"


class RefusedError(Exception):
    """A request was wrong; ``retry_after`` is for one that came too soon."""

    def __init__(self, error: Refusal, retry_after: float | None = None) -> None:
        super().__init__(error.value)
        self.error = error.value
        self.retry_after = retry_after


class ConsoleVenue:
    """See ``adapters.loopback.venue.Venue``."""

    name = "console"
    longest = LONGEST

    def __init__(self, clock: PlatformClock) -> None:
        self.port = 0
        self._clock = clock
        self._feed = Feed[None]()
        self._calls = CallLog()
        self._messages: dict[int, Message] = {}
        self._taken: list[Message] = []
        self._ids = itertools.count(1)
        self._events: list[Json] = []
        self._kept = 0
        self._listening: set[asyncio.StreamWriter] = set()
        self._refusing = False
        self._troubles: defaultdict[str, list[Trouble]] = defaultdict(list)
        self._buckets: dict[str, TokenBucket] = {}

    # What people do.

    def settings(self, folder: Path) -> dict[str, Value]:
        """See ``Venue``."""
        (folder / "console_word").write_text(WORD, encoding="utf-8")
        return {
            "word": f"file:{folder / 'console_word'}",
            "port": self.port,
            "allow_users": ["ada"],
            "allow_rooms": [LOBBY],
        }

    def ask(self, text: str, *, who: Who = "ada", shared: bool = False) -> str:
        """See ``Venue``. Everybody is in the lobby."""
        del shared
        return self.say(text, who=who)

    def say(
        self,
        text: str,
        *,
        who: Who = "ada",
        where: Where = "channel",
        addressed: bool = True,
        beside: str | None = None,
    ) -> str:
        """See ``Venue``."""
        room = LOBBY if where == "channel" else who
        if beside is not None:
            room = self._messages[int(beside)].room
        message = Message(
            id=next(self._ids), author=who, room=room, text=f"@{ME} {text}" if addressed and room == LOBBY else text
        )
        self._messages[message.id] = message
        self._tell("said", message)
        return str(message.id)

    def command(self, word: str, argument: str = "", *, who: Who = "ada", beside: str | None = None) -> str:
        """See ``Venue``."""
        return self.say(f"/{word} {argument}".rstrip(), who=who, beside=beside)

    def press(self, who: Who, message_id: str, data: str, *, stale: bool = False) -> None:
        """See ``Venue``. Consoles have no buttons."""
        del who, stale
        raise LookupError(message_id, data)

    def edit(self, message_id: str, text: str) -> None:
        """See ``Venue``."""
        message = self._messages[int(message_id)]
        named = f"@{ME} {text}" if message.room == LOBBY else text
        self._messages[message.id] = replace(message, text=named, edited=True)
        self._tell("changed", self._messages[message.id])

    def delete(self, message_id: str) -> None:
        """See ``Venue``."""
        message = self._messages.pop(int(message_id))
        if message.author == ME:
            self._taken.append(message)
            self._feed.publish(None)
        else:
            self._tell("gone", message)

    def repeat(self, what: Happened = "message") -> None:
        """See ``Venue``."""
        assert what == "message", "consoles have no buttons"
        self._send(self._events[-1])

    def outdate(self) -> None:
        """See ``Venue``."""

    # What goes wrong.

    def trouble(self, doing: Doing, trouble: Trouble) -> None:
        """See ``Venue``."""
        self._troubles["listen" if doing == "connect" else doing].append(trouble)

    def refuse(self) -> None:
        """See ``Venue``."""
        self._refusing = True

    def drop(self) -> None:
        """See ``Venue``."""
        for writer in self._listening:
            writer.close()
        self._listening.clear()

    # What is to be seen.

    def listeners(self) -> int:
        """See ``Venue``."""
        return len(self._listening)

    def secrets(self) -> Sequence[str]:
        """See ``Venue``."""
        return (WORD,)

    def messages(self) -> list[Shown]:
        """See ``Venue``."""
        return [_shown(message) for message in self._messages.values()]

    def taken(self) -> list[Shown]:
        """See ``Venue``."""
        return [_shown(message) for message in self._taken]

    def buttons(self, message_id: str) -> list[tuple[str, str]]:
        """See ``Venue``."""
        del message_id
        return []

    def whispers(self, who: Who) -> list[str]:
        """See ``Venue``."""
        del who
        return []

    def waiting(self) -> int:
        """See ``Venue``."""
        return 0

    def calls(self) -> list[dict[str, object]]:
        """See ``Venue``."""
        return self._calls.to_json()

    def subscribe(self, observer: Callable[[], None]) -> Callable[[], None]:
        """See ``Venue``."""
        return self._feed.subscribe(lambda _: observer())

    def until(self, condition: Callable[[], object]) -> Awaitable[object]:
        """See ``Venue``."""
        return self._feed.until(condition)

    # The other end of the wire.

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection: who listens is told what happens from behind what is kept, and says what is."""
        try:
            asked: Json = json.loads(await reader.readline())
            answer = self._answered(asked)
            if answer is not None:
                writer.write(_bytes(answer))
            if asked["do"] == "listen" and answer is not None and "error" not in answer:
                self._listening.add(writer)
                writer.writelines(map(_bytes, self._events[self._kept :]))
                self._feed.publish(None)
                while line := await reader.readline():
                    self._kept = max(self._kept, int(json.loads(line)["kept"]))
        except ConnectionError:
            pass
        finally:
            writer.close()
            self._listening.discard(writer)
            self._feed.publish(None)

    def _answered(self, asked: Json) -> Json | None:
        """What is said to a request; none where the connection is cut instead."""
        do, now = str(asked["do"]), self._clock.now()
        troubles = self._troubles[do]
        trouble = troubles.pop(0) if troubles else None
        answer: Json | None = None
        try:
            if trouble != "cut":
                answer = self._done(do, asked, trouble, now)
        except RefusedError as refusal:
            wait = {} if refusal.retry_after is None else {"retry_after": refusal.retry_after}
            answer = {"error": refusal.error, **wait}
        if trouble == "lost":
            answer = None
        error, wait_for = (answer or {}).get("error"), (answer or {}).get("retry_after")
        self._calls.append(
            Call(
                t=now,
                method=do,
                target=str(asked.get("room", asked.get("id", ""))),
                status=0 if answer is None else 200,
                error=None if error is None else str(error),
                retry_after=None if wait_for is None else float(str(wait_for)),
            )
        )
        self._feed.publish(None)
        return answer

    def _done(self, do: str, asked: Json, trouble: Trouble | None, now: float) -> Json:
        if asked.get("word") != WORD or self._refusing:
            raise RefusedError(Refusal.WORD)
        if trouble == "failed":
            raise RefusedError(Refusal.FAILED)
        if do == "listen":
            return {"me": ME, "desk": DESK}
        text = str(asked.get("text", ""))
        if len(text) > LONGEST or not (text.strip() or do == "delete"):
            raise RefusedError(Refusal.LENGTH)
        room = str(asked["room"]) if do == "post" else self._mine(asked).room
        if trouble == "limited":
            raise RefusedError(Refusal.LIMITED, 7.0)
        self._admit(room, now)
        if do == "post":
            return {"id": self._post(asked, room, text)}
        message = self._mine(asked)
        if do == "delete":
            del self._messages[message.id]
        else:
            self._messages[message.id] = _written(replace(message, text=text, edited=True), asked)
        return {"id": message.id}

    def _mine(self, asked: Json) -> Message:
        message = self._messages.get(int(str(asked["id"])))
        if message is None or message.author != ME:
            raise RefusedError(Refusal.GONE)
        return message

    def _admit(self, room: str, now: float) -> None:
        bucket = self._buckets.setdefault(room, TokenBucket(WRITE))
        if wait := bucket.wait(now):
            raise RefusedError(Refusal.LIMITED, math.ceil(wait))
        bucket.take(now)

    def _post(self, asked: Json, room: str, text: str) -> int:
        """What was posted with the same nonce is not posted again."""
        nonce = str(asked.get("nonce", ""))
        for message in self._messages.values():
            if nonce and message.nonce == nonce:
                return message.id
        message = Message(id=next(self._ids), author=ME, room=room, text=text, nonce=nonce)
        self._messages[message.id] = _written(message, asked)
        return message.id

    def _tell(self, kind: str, message: Message) -> None:
        event: Json = {
            "event": len(self._events) + 1,
            "kind": kind,
            "id": message.id,
            "who": message.author,
            "robot": message.author == "robot",
            "room": message.room,
            "direct": message.room != LOBBY,
            "text": message.text,
        }
        self._events.append(event)
        self._send(event)

    def _send(self, event: Json) -> None:
        for writer in self._listening:
            writer.write(_bytes(event))
        self._feed.publish(None)


def _written(message: Message, asked: Json) -> Message:
    """A message with what it does to others: each version of it may call, and unfold."""
    pings = () if asked.get("quiet") is True else tuple(NAME.findall(message.text))
    previews = () if asked.get("unfold") is False else tuple(LINK.findall(message.text))
    return replace(message, pings=(*message.pings, *pings), previews=previews)


def _shown(message: Message) -> Shown:
    return Shown(
        id=str(message.id),
        author="bot" if message.author == ME else "user",
        text=message.text,
        edited=message.edited,
        where="channel" if message.room == LOBBY else "direct",
        pings=message.pings,
        previews=message.previews,
    )


def _bytes(line: Json) -> bytes:
    return json.dumps(line).encode() + b"\n"
