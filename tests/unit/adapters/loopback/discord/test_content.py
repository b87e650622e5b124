from typing import Any

import pytest

from adapters.loopback.discord.answer import RefusedError
from adapters.loopback.discord.component import find_component
from adapters.loopback.discord.content import Reading, read_edit, read_nonce, read_post
from adapters.loopback.discord.message import Content, Flag
from adapters.loopback.discord.ping import MESSAGES

READING = Reading(default=MESSAGES)
V2 = int(Flag.COMPONENTS_V2)


def button(**more: object) -> dict[str, object]:
    return {"type": 2, "style": 1, "custom_id": "b", "label": "B", **more}


def row(*components: object) -> dict[str, object]:
    return {"type": 1, "components": list(components)}


def display(text: str) -> dict[str, object]:
    return {"type": 10, "content": text}


def path_of(body: dict[str, Any]) -> str:
    """Where the refusal says that the fault is."""
    with pytest.raises(RefusedError) as raised:
        read_post(body, READING)
    here: Any = raised.value.errors or {}
    path = list[str]()
    while here and "_errors" not in here:
        path.append(next(iter(here)))
        here = here[path[-1]]
    return ".".join(path)


@pytest.mark.parametrize(
    ("embed", "path"),
    [
        ({"title": "x" * 257}, "embeds.0.title"),
        ({"description": "x" * 4_097}, "embeds.0.description"),
        ({"footer": {"text": "x" * 2_049}}, "embeds.0.footer.text"),
        ({"author": {"name": "x" * 257}}, "embeds.0.author.name"),
        ({"fields": [{"name": "a", "value": "b"}] * 26}, "embeds.0.fields"),
        ({"fields": [{"name": "x" * 257, "value": "b"}]}, "embeds.0.fields.0.name"),
        ({"fields": [{"name": "a", "value": "x" * 1_025}]}, "embeds.0.fields.0.value"),
        ({"description": "x" * 4_000, "footer": {"text": "x" * 2_001}}, "embeds"),
    ],
)
def test_an_embed_that_is_too_long_is_refused(embed: dict[str, object], path: str) -> None:
    assert path_of({"embeds": [embed]}) == path


def test_embeds_are_ten_at_most_and_white_space_round_their_texts_is_none() -> None:
    assert path_of({"embeds": [{"title": "a"}] * 11}) == "embeds"
    assert len(read_post({"embeds": [{"title": " " + "x" * 256 + " "}] * 10}, READING).embeds) == 10


@pytest.mark.parametrize(
    ("components", "path"),
    [
        ([row(button())] * 6, "components"),
        ([row(*[button()] * 6)], "components.0.components"),
        ([row()], "components.0.components"),
        ([button()], "components.0.components"),
        ([row(button(custom_id="x" * 101))], "components.custom_id"),
        ([row(button(custom_id=""))], "components.custom_id"),
        ([row(button(label="x" * 81))], "components.label"),
        ([row(button(style=9))], "components.style"),
        ([row(button(label=""))], "components"),
        ([row(button(), button(label="C"))], "components"),
        ([row(button()), row(button())], "components"),
    ],
)
def test_components_that_are_too_many_or_too_long_are_refused(components: list[object], path: str) -> None:
    assert path_of({"content": "a", "components": components}) == path


def test_a_button_is_found_by_its_id() -> None:
    content = read_post({"components": [row(button(), button(custom_id="c", label="C"))]}, READING)
    found = find_component(content, "c")
    assert found is not None
    assert found["label"] == "C"
    assert find_component(content, "d") is None
    link: dict[str, object] = {"type": 2, "style": 5, "label": "Look", "url": "https://example.org"}
    assert read_post({"components": [row(link)]}, READING).components


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"content": "a", "components": [display("b")]}, "content"),
        ({"embeds": [{"title": "a"}], "components": [display("b")]}, "content"),
        ({"components": [display("b")] * 41}, "components"),
        ({"components": [display("x" * 2_000), display("x" * 2_001)]}, "components"),
        ({"components": [{"type": 17, "components": [display("b")] * 40}]}, "components"),
    ],
)
def test_version_two_of_components_stands_alone_and_has_limits(body: dict[str, object], path: str) -> None:
    assert path_of(body | {"flags": V2}) == path


def test_version_two_of_components_stays() -> None:
    before = read_post({"components": [display("@here https://example.org")], "flags": V2}, READING)
    assert ([ping.kind for ping in before.pings], before.previews) == (["here"], ())
    assert read_edit(before, {"flags": 0}, READING).flags == Flag.COMPONENTS_V2
    with pytest.raises(RefusedError):
        read_edit(before, {"content": "a", "flags": 0}, READING)


def test_an_edit_changes_what_it_names() -> None:
    before = read_post({"content": "a", "embeds": [{"title": "b"}], "flags": 4}, READING, files=1)
    assert read_edit(before, {"content": "c"}, READING) == Content(
        text="c", embeds=({"title": "b"},), files=1, flags=Flag.SUPPRESS_EMBEDS
    )
    after = read_edit(before, {"content": None, "embeds": [], "flags": 0}, READING)
    assert (after.text, after.embeds, after.files, after.flags) == ("", (), 1, Flag.NONE)
    with pytest.raises(RefusedError, match="empty"):
        read_edit(before, {"content": None, "embeds": [], "attachments": []}, READING)
    with pytest.raises(RefusedError, match="empty"):
        read_edit(Content(flags=Flag.LOADING), {}, READING)


def test_only_some_flags_can_be_set() -> None:
    everything = sum(Flag)
    assert read_post({"content": "a", "flags": everything & ~V2}, READING).flags == (
        Flag.SUPPRESS_EMBEDS | Flag.SUPPRESS_NOTIFICATIONS
    )
    assert read_edit(Content(text="a"), {"flags": everything & ~V2}, READING).flags == Flag.SUPPRESS_EMBEDS
    assert read_post({"content": "a", "flags": "4"}, READING).flags == Flag.NONE


def test_who_has_no_right_to_it_pings_nobody_but_users_and_open_roles() -> None:
    reading = Reading(default=MESSAGES, everyone=False, mentionable=frozenset({"2"}))
    content = read_post({"content": "@everyone <@1> <@&2> <@&3>"}, reading, reply_to="4")
    assert [(ping.kind, ping.target) for ping in content.pings] == [("reply", "4"), ("user", "1"), ("role", "2")]


def test_a_list_of_more_than_a_hundred_is_refused() -> None:
    for kind in ("users", "roles"):
        allowed = {"parse": list[str](), kind: [str(number) for number in range(101)]}
        assert path_of({"content": "a", "allowed_mentions": allowed}) == f"allowed_mentions.{kind}"
    assert path_of({"content": "a", "allowed_mentions": "none"}) == "allowed_mentions.parse"


@pytest.mark.parametrize(("nonce", "read"), [(None, None), (7, "7"), ("x" * 25, "x" * 25)])
def test_a_nonce_is_a_short_text_or_a_number(nonce: object, read: str | None) -> None:
    assert read_nonce({"nonce": nonce}) == read


def test_a_longer_nonce_is_refused() -> None:
    with pytest.raises(RefusedError, match="nonce_length"):
        read_nonce({"nonce": "x" * 26})
