import json
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from adapters.loopback.clock import PlatformClock
from adapters.loopback.discord.change import Change, MessagePosted
from adapters.loopback.discord.event import Intent
from adapters.loopback.discord.gate import Gate
from adapters.loopback.discord.limit import Limits
from adapters.loopback.discord.message import Content
from adapters.loopback.discord.shard import Close, Connection, Sent, Shard
from adapters.loopback.discord.stage import Stage
from adapters.loopback.discord.world import ADA, ADA_DM, BOB, FOREIGN_CHANNEL, GENERAL, World
from tests.unit.adapters.loopback.discord.caller import HandClock

CHAT = int(Intent.GUILDS | Intent.GUILD_MESSAGES | Intent.DIRECT_MESSAGES)
TOKEN = World().bot_token


@dataclass
class Client:
    """A connection, and what came through it."""

    shard: Shard
    got: list[Sent | Close] = field(default_factory=list[Sent | Close])
    connection: Connection = field(init=False)

    def __post_init__(self) -> None:
        self.connection = self.shard.open(self.got.append)

    def send(self, op: object, **data: object) -> list[Any]:
        """Send a payload, and give what comes of it."""
        self.got.clear()
        self.shard.receive(self.connection, json.dumps({"op": op, "d": data}))
        return self.got

    def identify(self, intents: int = CHAT, **data: object) -> list[Any]:
        return self.send(2, **({"token": TOKEN, "intents": intents} | data))

    def resume(self, session: str, seq: object, token: str = TOKEN) -> list[Any]:
        return self.send(6, token=token, session_id=session, seq=seq)

    @property
    def session(self) -> str:
        assert self.connection.session is not None
        return self.connection.session.id


class Platform:
    """A stage with a shard, without a server."""

    def __init__(self, hand: HandClock, world: World | None = None, limits: Limits | None = None) -> None:
        self.changes: list[Change] = []
        self.stage = Stage(
            world=world or World(),
            clock=PlatformClock(20, source=hand),
            limits=limits or Limits(),
            tell=self._happened,
        )
        self.gate = Gate(self.stage.world)
        self.shard = Shard(self.stage, self.gate, self.changes.append, lambda: "ws://here/")

    def _happened(self, change: Change) -> None:
        self.shard.happened(change)

    def say(self, user: str, channel: str, text: str) -> None:
        self.stage.history.post(channel=channel, user=user, content=Content(text=text))


@pytest.fixture
def hand() -> HandClock:
    return HandClock()


@pytest.fixture
def platform(hand: HandClock) -> Platform:
    return Platform(hand)


def test_a_connection_is_greeted_with_the_interval_of_heartbeats(hand: HandClock) -> None:
    client = Client(Platform(hand, limits=Limits(heartbeat_interval=0.3)).shard)
    assert client.got == [{"op": 10, "s": None, "t": None, "d": {"heartbeat_interval": 300}}]
    assert client.send(1) == [{"op": 11}]


def test_who_identifies_is_told_all_there_is_by_intent(platform: Platform, hand: HandClock) -> None:
    frames = Client(platform.shard).identify(shard=[0, 1])
    assert [(frame["op"], frame["s"], frame["t"]) for frame in frames] == [(0, 1, "READY"), (0, 2, "GUILD_CREATE")]
    assert frames[0]["d"]["shard"] == [0, 1]
    assert (frames[0]["d"]["application"]["id"], frames[0]["d"]["resume_gateway_url"]) == (
        platform.stage.world.application,
        "ws://here/",
    )
    guild = frames[1]["d"]
    assert [len(guild[name]) for name in ("members", "channels", "threads", "roles")] == [3, 2, 1, 3]
    assert all("flags" in member for member in guild["members"])
    hand.seconds += 1
    assert [frame["t"] for frame in Client(platform.shard).identify(intents=0)] == ["READY"]


def test_a_wrong_token_and_a_privileged_intent_are_refused(platform: Platform, hand: HandClock) -> None:
    assert Client(platform.shard).identify(token="wrong") == [Close(code=4004)]
    assert Client(platform.shard).identify(CHAT | Intent.MESSAGE_CONTENT) == [Close(code=4014)]
    assert platform.shard.sessions == []
    privileged = Platform(hand, World(privileged=int(Intent.MESSAGE_CONTENT)))
    assert len(Client(privileged.shard).identify(CHAT | Intent.MESSAGE_CONTENT)) == 2


def test_a_connection_identifies_first_and_once(platform: Platform) -> None:
    client = Client(platform.shard)
    assert client.send(3) == client.send(8) == [Close(code=4003)]
    client.identify()
    assert client.identify() == client.resume(client.session, 1) == [Close(code=4005)]
    assert client.send(3) == client.send(4) == []


def test_what_makes_no_sense_closes_the_connection(platform: Platform) -> None:
    client = Client(platform.shard)
    for text in ("", "[]", "{", json.dumps({"op": 1, "d": "x" * 4_096})):
        client.got.clear()
        platform.shard.receive(client.connection, text)
        assert client.got == [Close(code=4002)]
    assert client.send(99) == client.send(None) == [Close(code=4001)]


def test_a_connection_sends_120_payloads_in_60_real_seconds(platform: Platform, hand: HandClock) -> None:
    client = Client(platform.shard)
    for _ in range(120):
        assert client.send(1) == [{"op": 11}]
    assert client.send(1) == [Close(code=4008)]
    assert Client(platform.shard).send(1) == [{"op": 11}]
    hand.seconds += 60
    assert client.send(1) == [{"op": 11}]


def test_another_identify_within_five_platform_seconds_is_told_to_begin_anew(
    platform: Platform, hand: HandClock
) -> None:
    assert len(Client(platform.shard).identify()) == len(Client(platform.shard).identify()) == 2
    third = Client(platform.shard)
    assert third.identify() == [{"op": 9, "d": False}]
    hand.seconds += 5 / 20
    assert len(third.identify()) == 2


def test_after_the_days_last_identify_the_token_is_reset(hand: HandClock) -> None:
    platform = Platform(hand, limits=Limits(identifies=2))
    for left in (1, 0):
        hand.seconds += 1
        assert len(Client(platform.shard).identify()) == 2
        assert platform.shard.identifies_left == left
    hand.seconds += 1
    assert Client(platform.shard).identify() == [Close(code=4004)]
    assert platform.gate.token_is_reset
    assert not platform.gate.is_token(TOKEN)


def test_a_message_reaches_sessions_by_intent_and_the_bots_own_places_only(platform: Platform) -> None:
    clients = [Client(platform.shard) for _ in range(2)]
    for client, intents in zip(clients, (Intent.GUILD_MESSAGES, Intent.DIRECT_MESSAGES), strict=True):
        client.identify(int(intents))
        client.got.clear()
    for channel in (GENERAL, ADA_DM, FOREIGN_CHANNEL):
        platform.say(ADA, channel, "hi")
    got = [[cast("Any", frame)["d"]["channel_id"] for frame in client.got] for client in clients]
    assert got == [[GENERAL], [ADA_DM]]
    assert sum(isinstance(change, MessagePosted) for change in platform.changes) == 0


def test_what_is_missed_is_replayed_in_order(platform: Platform) -> None:
    client = Client(platform.shard)
    client.identify()
    platform.shard.close(client.connection, 1006)
    platform.say(ADA, GENERAL, "one")
    platform.say(BOB, GENERAL, "two")
    again = Client(platform.shard)
    frames = again.resume(client.session, 2)
    assert [(frame["s"], frame["t"]) for frame in frames] == [
        (3, "MESSAGE_CREATE"),
        (4, "MESSAGE_CREATE"),
        (5, "RESUMED"),
    ]
    assert [(frame["s"]) for frame in Client(platform.shard).resume(client.session, 4)] == [5, 6]
    again.got.clear()
    platform.say(ADA, GENERAL, "three")
    assert again.got == []


def test_a_session_that_is_gone_cannot_be_resumed(platform: Platform, hand: HandClock) -> None:
    client = Client(platform.shard)
    assert client.resume("unheard of", 0) == [{"op": 9, "d": False}]
    client.identify()
    platform.shard.close(client.connection, 1000)
    assert Client(platform.shard).resume(client.session, 1) == [{"op": 9, "d": False}]
    hand.seconds += 1
    other = Client(platform.shard)
    other.identify()
    other.got.clear()
    platform.shard.invalidate(resumable=False)
    assert other.got == [{"op": 9, "d": False}]
    assert Client(platform.shard).resume(other.session, 1) == [{"op": 9, "d": False}]
    assert platform.shard.sessions == []


@pytest.mark.parametrize("seq", [99, -1, None])
def test_a_number_that_was_never_sent_ends_the_session(platform: Platform, seq: object) -> None:
    client = Client(platform.shard)
    client.identify()
    assert Client(platform.shard).resume(client.session, 1, token="wrong") == [Close(code=4004)]
    assert Client(platform.shard).resume(client.session, seq) == [Close(code=4007)]
    assert platform.shard.sessions == []


def test_a_zombie_hears_nothing_and_misses_nothing(platform: Platform) -> None:
    client = Client(platform.shard)
    client.identify()
    platform.shard.zombify()
    client.got.clear()
    platform.say(ADA, GENERAL, "hi")
    assert client.send(1) == []
    assert [frame["t"] for frame in Client(platform.shard).resume(client.session, 2)] == ["MESSAGE_CREATE", "RESUMED"]


def test_the_members_of_a_guild_can_be_asked_for(platform: Platform) -> None:
    client = Client(platform.shard)
    client.identify()
    guild = platform.stage.world.guilds[0].id
    (frame,) = client.send(8, guild_id=guild, nonce="n1")
    assert (frame["t"], len(frame["d"]["members"]), frame["d"]["nonce"]) == ("GUILD_MEMBERS_CHUNK", 3, "n1")
    assert client.send(8, guild_id="404") == []


def test_the_newest_dispatch_is_found(platform: Platform) -> None:
    Client(platform.shard).identify()
    session = platform.shard.sessions[0]
    assert (session.last().event, session.last("READY").seq, session.seq) == ("GUILD_CREATE", 1, 2)
    with pytest.raises(LookupError, match="as MESSAGE_CREATE"):
        session.last("MESSAGE_CREATE")
