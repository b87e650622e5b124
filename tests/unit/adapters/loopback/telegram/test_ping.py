import pytest

from adapters.loopback.telegram import autolink
from adapters.loopback.telegram.entity import Entity
from adapters.loopback.telegram.formatting import Shown
from adapters.loopback.telegram.message import Content
from adapters.loopback.telegram.ping import find_pings


def covering(kind: str, text: str, url: str | None = None) -> Entity:
    return Entity(type=kind, offset=0, length=len(text), url=url)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@ada_l", ["ada_l"]),
        ("(@ada_l), \U0001f600@bob_k!", ["ada_l", "bob_k"]),
        ("@gif", ["gif"]),
        ("@abc", []),
        ("ada@ada_l", []),
        ("@\u2060ada_l", []),
        ("@ada\u2060_l", []),
        ("@" + "x" * 33, []),
        ("ada@example.com", []),
        ("https://example.com/@ada_l", []),
    ],
)
def test_whoever_would_be_notified_is_found(text: str, found: list[str]) -> None:
    assert [ping.target for ping in find_pings(Shown(text=text))] == found


@pytest.mark.parametrize("kind", ["code", "pre", "text_link", "custom_emoji"])
def test_nobody_is_notified_from_code_or_a_link(kind: str) -> None:
    entity = covering(kind, "@ada_l", "https://a.com" if kind == "text_link" else None)
    assert find_pings(Shown(text="@ada_l", entities=(entity,))) == ()


@pytest.mark.parametrize("kind", ["bold", "blockquote", "spoiler", "mention"])
def test_other_entities_hinder_nobody(kind: str) -> None:
    pings = find_pings(Shown(text="@ada_l", entities=(covering(kind, "@ada_l"),)))
    assert [(ping.kind, ping.target, ping.raw) for ping in pings] == [("mention", "ada_l", "@ada_l")]


def test_users_are_notified_by_id_too() -> None:
    link = covering("text_link", "Ada", "tg://user?id=101")
    mention = Entity(type="text_mention", offset=0, length=3, user=101)
    for entity in (link, mention):
        (ping,) = find_pings(Shown(text="Ada", entities=(entity,)))
        assert (ping.kind, ping.target, ping.raw) == ("text_mention", "101", "Ada")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://example.com/a_(b).", ["https://example.com/a_(b"]),
        ("see example.com, README.md and a.b", ["example.com", "README.md"]),
        ("http://127.0.0.1:8800/", ["http://127.0.0.1:8800/"]),
        ("ada@example.com", []),
        ("nothing.Here", []),
    ],
)
def test_links_are_found_in_plain_text(text: str, found: list[str]) -> None:
    assert autolink.links(text, ()) == found


def test_a_preview_is_of_any_link_unless_it_is_disabled() -> None:
    link = covering("text_link", "here", "https://a.com")
    shown = Shown(text="here or b.com", entities=(link,))
    assert Content(text="", shown=shown).previews == ("https://a.com", "b.com")
    assert Content(text="", shown=shown, link_preview_options={"is_disabled": True}).previews == ()
    assert Content(text="", shown=Shown(text="c"), link_preview_options={"url": "https://d.com"}).previews == (
        "https://d.com",
    )
    in_code = Shown(text="https://a.com", entities=(covering("code", "https://a.com"),))
    assert Content(text="", shown=in_code).previews == ()


def test_commands_and_hashtags_are_found() -> None:
    found = autolink.find("/new@dragoman_bot #tag1 a/b //c /d-e #1")
    assert [(each.type, each.offset, each.length) for each in found] == [
        ("bot_command", 0, 17),
        ("hashtag", 18, 5),
        ("bot_command", 32, 2),
    ]
