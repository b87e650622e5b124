"""The gateway: who identifies, what is dispatched to whom, and what happens to connections.

Rule 1: a session outlives its connection, unless the client closes with 1000 or 1001, or is told to begin anew; what is
        dispatched meanwhile waits for its RESUME.
Rule 2: heartbeats, and how much a connection may send, are counted in real seconds: they measure the client.
Rule 3: a connection that was made a zombie hears nothing any more; what it should have heard is kept.
"""

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast

from adapters.loopback.discord import gateway_rule as rule
from adapters.loopback.discord.change import (
    Change,
    Dispatched,
    SessionResumed,
    SessionStarted,
    SocketClosed,
    SocketOpened,
)
from adapters.loopback.discord.content import mapping_of
from adapters.loopback.discord.event import PRIVILEGED, Intent
from adapters.loopback.discord.gate import Gate
from adapters.loopback.discord.rule import Rule
from adapters.loopback.discord.session import Dispatch, Session
from adapters.loopback.discord.stage import Stage
from adapters.loopback.discord.window import Allowance, Tally, Window

Frame = Mapping[str, object]

Sent = Frame | str
"""What goes into a socket: JSON, or a text that stands where JSON should."""

HEARTBEAT, IDENTIFY, RESUME, RECONNECT, MEMBERS, INVALID, HELLO, ACK = 1, 2, 6, 7, 8, 9, 10, 11

_UNHEARD = frozenset({3, 4, 31})
"""Operations that are taken and mean nothing here: presence, voice, soundboard."""

_IDENTIFY_PACE = Allowance(name="identify", limit=1, seconds=float(rule.IDENTIFY_PACE.limit))
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """In the place of a frame: the connection is to be closed with this code."""

    code: int


@dataclass(slots=True, kw_only=True, eq=False)
class Connection:
    """A socket that is open.

    Attributes:
        out: takes what goes into it.
        sends: how much came out of it lately.
        session: whose it is, once it has identified or resumed.
        zombie: nothing goes into it any more.
    """

    out: Callable[[Sent | Close], None]
    sends: Tally = field(default_factory=lambda: Tally(60.0))
    session: Session | None = None
    zombie: bool = False

    def send(self, frame: Sent | Close) -> None:
        """Send a frame, unless the connection is a zombie."""
        if not self.zombie:
            self.out(frame)


class Shard:
    """The gateway's side of every connection.

    Args:
        stage: who there is.
        gate: knows the token.
        tell: hears what happens.
        address: where a client resumes.
    """

    def __init__(self, stage: Stage, gate: Gate, tell: Callable[[Change], None], address: Callable[[], str]) -> None:
        self.sessions: list[Session] = []
        self.connections: list[Connection] = []
        self._world = stage.world
        self._clock = stage.clock
        self._limits = stage.limits
        self._wire = stage.wire
        self._events = stage.events
        self._tell = tell
        self._gate = gate
        self._address = address
        self._identifies = Tally(_DAY)
        self._pace = Window(_IDENTIFY_PACE)

    @property
    def identifies_left(self) -> int:
        """How many IDENTIFYs the day has left."""
        return max(0, self._limits.identifies - self._identifies.count(self._clock.now()))

    # What happens to connections.

    def open(self, out: Callable[[Sent | Close], None]) -> Connection:
        """Take a connection and greet it."""
        connection = Connection(out=out)
        self.connections.append(connection)
        connection.send(
            {
                "op": HELLO,
                "s": None,
                "t": None,
                "d": {"heartbeat_interval": int(self._limits.heartbeat_interval * 1000)},
            }
        )
        self._tell(SocketOpened(count=len(self.connections)))
        return connection

    def close(self, connection: Connection, code: int) -> None:
        """A connection is closed; with some codes its session ends, too."""
        self.connections.remove(connection)
        if code in {1000, 1001} and connection.session in self.sessions:
            self.sessions.remove(connection.session)
        self._tell(SocketClosed(count=len(self.connections), code=code))

    def receive(self, connection: Connection, text: str) -> None:
        """Take what a client sent."""
        connection.sends.add(self._clock.real())
        frame = _parsed(text)
        operation = frame.get("op") if frame else None
        data = mapping_of(frame.get("d")) if frame else {}
        if frame is None:
            _refuse(connection, rule.PAYLOADS)
        elif connection.sends.count(self._clock.real()) > rule.SENDS.limit:
            _refuse(connection, rule.SENDS)
        elif operation == HEARTBEAT:
            connection.send({"op": ACK})
        elif operation == IDENTIFY:
            self._identify(connection, data)
        elif operation == RESUME:
            self._resume(connection, data)
        elif operation not in {MEMBERS, *_UNHEARD}:
            _refuse(connection, rule.OPERATIONS)
        elif connection.session is None:
            _refuse(connection, rule.IDENTIFIED_FIRST)
        elif operation == MEMBERS:
            self._members(connection.session, data)

    # What is dispatched.

    def happened(self, change: Change) -> None:
        """Tell every session what it is to know of a change."""
        for session in tuple(self.sessions):
            for event, data in self._events.of(change, session.intents):
                self.dispatch(session, event, data)

    def dispatch(self, session: Session, event: str, data: Frame, text: str | None = None) -> None:
        """Number an event, and send it, or a text in its place, to where the session is connected."""
        dispatch = session.add(event, data, text)
        self.send(session, dispatch)
        self._tell(Dispatched(session=session.id, seq=dispatch.seq, event=event, data=data))

    def send(self, session: Session, dispatch: Dispatch) -> None:
        """Send a dispatch, new or old."""
        for connection in self.connections:
            if connection.session is session:
                connection.send(dispatch.to_wire())

    def invalidate(self, *, resumable: bool) -> None:
        """Tell every client that its session is invalid; unless it is resumable it is over."""
        for connection in tuple(self.connections):
            connection.send({"op": INVALID, "d": resumable})
            if not resumable and connection.session in self.sessions:
                self.sessions.remove(connection.session)

    def broadcast(self, frame: Frame | Close) -> None:
        """Send a frame into every connection."""
        for connection in tuple(self.connections):
            connection.send(frame)

    def zombify(self) -> None:
        """Let nothing reach the clients that are connected now."""
        for connection in self.connections:
            connection.zombie = True

    def _identify(self, connection: Connection, data: Frame) -> None:
        now = self._clock.now()
        intents = data.get("intents")
        intents = intents if isinstance(intents, int) else 0
        if connection.session is not None:
            return _refuse(connection, rule.IDENTIFIED_ONCE)
        if self._gate.is_token(data.get("token")) and self._identifies.count(now) >= self._limits.identifies:
            self._gate.token_is_reset = True
        if not self._gate.is_token(data.get("token")):
            return _refuse(connection, rule.GATEWAY_TOKEN)
        if intents & PRIVILEGED & ~self._world.privileged:
            return _refuse(connection, rule.INTENTS)
        if self._pace.wait(now):
            return connection.send({"op": INVALID, "d": False})
        self._pace.take(now)
        self._identifies.add(now)
        self._begin(connection, Session(secrets.token_hex(16), intents), data.get("shard"))
        return None

    def _begin(self, connection: Connection, session: Session, shard: object) -> None:
        """Say READY, then what there is in each guild."""
        connection.session = session
        self.sessions.append(session)
        guilds = self._world.joined()
        ready: dict[str, object] = {
            "v": 10,
            "user": self._wire.user(self._world.bot) | {"mfa_enabled": False, "verified": True, "flags": 0},
            "guilds": [{"id": guild.id, "unavailable": True} for guild in guilds],
            "session_id": session.id,
            "resume_gateway_url": self._address(),
            "application": {"id": self._world.application, "flags": 0},
        }
        self.dispatch(session, "READY", ready | ({"shard": shard} if shard else {}))
        if session.intents & Intent.GUILDS:
            for guild in guilds:
                self.dispatch(session, "GUILD_CREATE", self._wire.guild(guild))
        self._tell(SessionStarted(session=session.id))

    def _resume(self, connection: Connection, data: Frame) -> None:
        if connection.session is not None:
            return _refuse(connection, rule.IDENTIFIED_ONCE)
        if not self._gate.is_token(data.get("token")):
            return _refuse(connection, rule.GATEWAY_TOKEN)
        session = next((each for each in self.sessions if each.id == data.get("session_id")), None)
        if session is None:
            return connection.send({"op": INVALID, "d": False})
        seq = data.get("seq")
        if not isinstance(seq, int) or not 0 <= seq <= session.seq:
            self.sessions.remove(session)
            return _refuse(connection, rule.RESUME_SEQ)
        for other in self.connections:
            if other.session is session:
                other.session = None
        connection.session = session
        missed = session.after(seq)
        for dispatch in missed:
            connection.send(dispatch.to_wire())
        self.dispatch(session, "RESUMED", {})
        return self._tell(SessionResumed(session=session.id, replayed=len(missed)))

    def _members(self, session: Session, data: Frame) -> None:
        """Answer a request for a guild's members."""
        guild = self._world.guild(str(data.get("guild_id")))
        if guild is None:
            return
        chunk: dict[str, object] = {
            "guild_id": guild.id,
            "members": [self._wire.member(member) for member in guild.members],
            "chunk_index": 0,
            "chunk_count": 1,
            "not_found": [],
            "presences": [],
        }
        nonce = data.get("nonce")
        self.dispatch(session, "GUILD_MEMBERS_CHUNK", chunk | ({} if nonce is None else {"nonce": nonce}))


def _refuse(connection: Connection, broken: Rule) -> None:
    connection.send(Close(code=broken.close))


def _parsed(text: str) -> Frame | None:
    """The JSON object of a payload; none where it is something else, or too long."""
    if len(text.encode()) > rule.PAYLOADS.limit:
        return None
    try:
        frame: object = json.loads(text)
    except ValueError:
        return None
    return cast("Frame", frame) if isinstance(frame, dict) else None
