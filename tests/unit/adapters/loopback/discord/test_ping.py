import pytest

from adapters.loopback.discord.ping import MESSAGES, WEBHOOKS, Ping, find_links, find_pings, read_allowed, texts_of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@everyone and @here", [("everyone", ""), ("here", "")]),
        ("<@1> <@!2> <@&3>", [("user", "1"), ("user", "2"), ("role", "3")]),
        (r"\@everyone \<@1>", [("everyone", ""), ("user", "1")]),
        ("a@here.org", [("here", "")]),
        ("@everyones <@x> <#1> @ everyone <@ 1>", []),
        ("@\N{WORD JOINER}everyone", []),
    ],
)
def test_what_could_ping_is_found(text: str, found: list[tuple[str, str]]) -> None:
    assert [(ping.kind, ping.target) for ping in find_pings(text)] == found
    assert all(ping.certain for ping in find_pings(text))


@pytest.mark.parametrize("text", ["`@everyone`", "```\n@everyone\n```", "``` @everyone"])
def test_in_code_it_is_reported_as_uncertain(text: str) -> None:
    assert [ping.certain for ping in find_pings(text)] == [False]


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("see https://example.org/a?b=c.", ("https://example.org/a?b=c.",)),
        ("<https://example.org> [x](<https://example.com>)", ()),
        ("[x](https://example.com)", ("https://example.com)",)),
        ("<https://example.org and https://example.com>", ("https://example.org", "https://example.com")),
        ("`https://example.org`", ()),
        ("example.org", ()),
    ],
)
def test_links_that_show_a_preview_are_found(text: str, links: tuple[str, ...]) -> None:
    assert find_links(text) == links


def test_what_a_call_allows_is_read() -> None:
    reply = Ping(kind="reply", target="1")
    assert read_allowed(None, MESSAGES).allows(reply)
    assert not read_allowed(None, WEBHOOKS).allows(reply)
    assert not read_allowed({}, MESSAGES).allows(reply)
    assert read_allowed({"parse": [], "replied_user": True}, MESSAGES).allows(reply)
    allowed = read_allowed({"users": ["1"], "roles": [2]}, MESSAGES)
    assert [ping.target for ping in find_pings("@here <@1> <@3> <@&2> <@&4>") if allowed.allows(ping)] == ["1", "2"]


def test_the_text_of_components_is_found() -> None:
    shown = {"type": 10, "content": "a"}
    components = [{"type": 17, "components": [shown, {"type": 9, "components": [{"type": 10, "content": "b"}]}]}]
    assert list(texts_of(components)) == ["a", "b"]
