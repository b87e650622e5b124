import pytest

from gateway.access import Allow, Ids, admits, warnings
from gateway.address import Address
from gateway.inbound import MessageReceived
from tests.cases import case

USERS = Ids(name="allow_users", pattern="U[0-9]+", find="Look at the profile.")
CHANNELS = Ids(name="allow_channels", pattern="C[0-9]+", find="Look at the channel.")
SPACES = Ids(name="allow_guilds", pattern="G[0-9]+", find="Look at the guild.")


def message(user: str, channel: str, *, direct: bool = False) -> MessageReceived:
    address = Address(platform="slack", account="T1", channel=channel)
    return MessageReceived(event_id="e", message_id="m", address=address, user=user, text="hi", direct=direct)


def rule(users: tuple[str, ...] = (), channels: tuple[str, ...] = ()) -> Allow:
    return Allow(users=frozenset(users), channels=frozenset(channels))


@pytest.mark.parametrize(
    ("users", "channels", "in_channel", "in_direct"),
    [
        ((), (), False, False),
        ((), ("*",), False, False),
        (("",), ("",), False, False),
        (("U1",), (), False, True),
        (("U1",), ("C1",), True, True),
        (("U1",), ("C2",), False, True),
        (("U2",), ("C1",), False, False),
        (("U2",), ("*",), False, False),
        (("u1",), ("C1",), False, False),
        (("U",), ("C1",), False, False),
        (("*",), (), False, True),
        (("*",), ("*",), True, True),
        (("U2", "*"), ("C1",), True, True),
    ],
)
def test_a_channel_needs_user_and_channel_and_a_direct_message_its_user(
    users: tuple[str, ...], channels: tuple[str, ...], in_channel: bool, in_direct: bool
) -> None:
    assert admits(rule(users, channels), message("U1", "C1")) is in_channel
    assert admits(rule(users, channels), message("U1", "D1", direct=True)) is in_direct


def test_nobody_without_an_id_is_admitted() -> None:
    assert not admits(rule(("",), ("*",)), message("", "C1"))
    assert not admits(rule(("*",), ("*",)), message("", "C1"))


def test_x01_an_empty_missing_or_mistyped_list_is_nobody_and_is_said() -> None:
    for config in case("X01")["input"]["config"]:
        allow = rule(tuple(config.get("allowed", ())), ("*",))
        assert not admits(allow, message("u9", "C1"))
        assert not admits(allow, message("u9", "D1", direct=True))
        assert warnings(allow, users=USERS, channels=CHANNELS)


def test_x02_a_member_of_an_allowed_channel_is_not_allowed_by_that() -> None:
    config = case("X02")["input"]
    channel = str(config["allowed_chats"][0])
    allow = rule(tuple(config["allowed_users"]), (channel,))
    assert admits(allow, message("u1", channel))
    assert not admits(allow, message("u2", channel))


def test_all_well_is_said_by_silence() -> None:
    assert warnings(rule(("U1",), ("C1",)), users=USERS, channels=CHANNELS) == ()
    assert warnings(rule(("*",), ("*",)), users=USERS, channels=CHANNELS) == ()


def test_an_empty_list_is_said_with_the_mend() -> None:
    (nobody,) = warnings(rule((), ("C1",)), users=USERS, channels=CHANNELS)
    assert "Nobody may talk" in nobody
    assert "allow_users is empty. Look at the profile." in nobody
    (direct,) = warnings(rule(("U1",)), users=USERS, channels=CHANNELS)
    assert "Only direct messages" in direct
    assert "allow_channels is empty. Look at the channel." in direct


def test_where_strangers_can_be_paired_an_empty_list_says_so() -> None:
    (told,) = warnings(rule((), ("C1",)), users=USERS, channels=CHANNELS, pairing=True)
    assert "but strangers whom you pair" in told
    assert "dragoman pair" in told
    assert told.endswith('allow_users is empty. Look at the profile. "*" means everybody.')
    assert warnings(rule(("U1",), ("C1",)), users=USERS, channels=CHANNELS, pairing=True) == ()


def test_a_space_counts_as_its_channels_and_its_ids_are_looked_at_too() -> None:
    def told(*spaces: str) -> tuple[str, ...]:
        allow = Allow(users=frozenset({"U1"}), spaces=frozenset(spaces))
        return warnings(allow, users=USERS, channels=CHANNELS, spaces=SPACES)

    assert told("G1") == ()
    _, name = told("my guild")
    assert name == '"my guild" in allow_guilds is not an id and allows nothing: names do not count. Look at the guild.'
    (empty,) = told()
    assert "allow_channels and allow_guilds are empty. Look at the channel. Look at the guild." in empty


def test_a_name_is_said_to_be_no_id() -> None:
    told = warnings(rule(("@ada", "U1", "U1 or so", "*"), ("#general", "C1")), users=USERS, channels=CHANNELS)
    assert [line.split('"')[1] for line in told] == ["@ada", "U1 or so", "#general"]
    assert '"@ada" in allow_users is not an id' in told[0]
    assert told[0].endswith("Look at the profile.")
    assert told[2].endswith("Look at the channel.")


NUMBERS = Ids(name="allow_users", pattern="[0-9]{3,5}", find="Ask.")
GROUPS = Ids(name="allow_groups", pattern="-[0-9]+", find="Look.")


@pytest.mark.parametrize("pairing", [False, True])
def test_a_list_that_holds_no_id_is_nobody(pairing: bool) -> None:
    nobody, strange = warnings(rule(("@ada",), ("C1",)), users=USERS, channels=CHANNELS, pairing=pairing)
    assert nobody.startswith("Nobody may talk to the bot")
    assert 'allow_users holds no id. Look at the profile. "*" means everybody.' in nobody
    assert strange.startswith('"@ada" in allow_users')
    assert not any("Only direct" in line for line in warnings(rule(("@ada",)), users=USERS, channels=CHANNELS))


def test_places_that_are_no_ids_are_no_places() -> None:
    private, *_ = warnings(rule(("U1",), ("#general",)), users=USERS, channels=CHANNELS)
    assert private.startswith("Only direct messages are answered: allow_channels holds no id. Look at the channel.")
    allow = Allow(users=frozenset({"U1"}), channels=frozenset({"#general"}), spaces=frozenset({"my guild"}))
    private, *_ = warnings(allow, users=USERS, channels=CHANNELS, spaces=SPACES)
    assert "allow_channels and allow_guilds hold no id." in private
    assert warnings(rule(("U1", "@ada"), ("C1", "#general")), users=USERS, channels=CHANNELS)[0].startswith('"@ada"')


@pytest.mark.parametrize(
    ("users", "groups", "why"),
    [
        ("12", "*", "an id has another number of digits, or other characters"),
        ("123456", "*", "an id has another number of digits, or other characters"),
        ("-12", "*", "it belongs into allow_groups"),
        (" 123", "*", 'write "123"'),
        ("@ada", "*", "names do not count"),
        ("", "*", "names do not count"),
        ("*", "123", 'the minus in front is missing, write "-123"'),
        ("*", "12", 'the minus in front is missing, write "-12"'),
        ("*", "the team", "names do not count"),
    ],
)
def test_what_is_wrong_with_what_is_no_id_is_said(users: str, groups: str, why: str) -> None:
    *_, told = warnings(rule((users,), (groups,)), users=NUMBERS, channels=GROUPS)
    assert f"is not an id and allows nothing: {why}. " in told


def test_a_token_in_the_wrong_line_is_not_repeated() -> None:
    _, told = warnings(rule(("xoxb-SECRET",), ("*",)), users=USERS, channels=CHANNELS)
    assert '"xoxb-…" in allow_users is not an id' in told
    assert "SECRET" not in told
