import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.loopback.telegram import outbound, utf16
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.entity import CODE, QUOTES, SPLITTABLE, TYPES, Entity
from adapters.loopback.telegram.formatting import show
from adapters.loopback.telegram.rule import Rule


def at(kind: str, offset: int, length: int) -> Entity:
    return Entity(type=kind, offset=offset, length=length, url="https://a.com" if kind == "text_link" else None)


def seen(text: str, *entities: Entity) -> list[tuple[str, int, int]]:
    return [(each.type, each.offset, each.length) for each in show(text, entities).entities]


@pytest.mark.parametrize(
    ("text", "entity", "rule", "said"),
    [
        ("hello", at("bold", 100, 1), outbound.ENTITY_BEGIN, "offset 100"),
        ("hello", at("bold", 5, 1), outbound.ENTITY_BEGIN, "offset 5"),
        (
            "hello",
            at("bold", 0, 100),
            outbound.ENTITY_END,
            "offset 0 ends after the end of the text at UTF-16 offset 100",
        ),
        (
            "a\U0001f600",
            at("bold", 2, 1),
            outbound.ENTITY_SPLITS,
            "begins in a middle of a UTF-16 symbol at byte offset 5",
        ),
        ("a\U0001f600", at("bold", 0, 2), outbound.ENTITY_SPLITS, "offset 0 ends in a middle of a UTF-16 symbol"),
    ],
)
def test_an_entity_outside_the_text_or_inside_a_character_is_refused(
    text: str, entity: Entity, rule: Rule, said: str
) -> None:
    with pytest.raises(RefusedError) as raised:
        show(text, [entity])
    assert raised.value.rule is rule
    assert said in str(raised.value)


def test_an_entity_may_end_with_the_text() -> None:
    assert seen("a\U0001f600", at("bold", 1, 2)) == [("bold", 1, 2)]


@pytest.mark.parametrize(
    ("entities", "flaws", "left"),
    [
        ([at("bold", 0, 0)], ["empty"], []),
        ([at("bold", 3, 1)], ["blank"], []),
        ([at("bold", 0, 4), at("italic", 2, 4)], ["crosses another"] * 2, [("bold", 0, 4), ("italic", 2, 4)]),
        ([at("text_link", 0, 3), at("code", 1, 1)], ["overlap"], [("text_link", 0, 3)]),
        ([at("text_link", 0, 4), at("code", 2, 4)], ["overlap"], [("text_link", 0, 4)]),
        ([at("blockquote", 0, 7), at("blockquote", 2, 3)], ["nested quote"], [("blockquote", 0, 7)]),
        ([at("blockquote", 0, 5), at("code", 4, 3)], ["crosses a quote"], [("blockquote", 0, 5)]),
        ([at("code", 0, 7), at("bold", 1, 2)], ["inside code"], [("code", 0, 7)]),
        ([at("bold", 0, 7), at("pre", 1, 2)], ["inside code"], [("bold", 0, 1), ("pre", 1, 2), ("bold", 4, 3)]),
    ],
)
def test_what_breaks_the_documented_rules_is_mended_and_reported(
    entities: list[Entity], flaws: list[str], left: list[tuple[str, int, int]]
) -> None:
    shown = show("abc defg", entities)
    assert [flaw.kind for flaw in shown.flaws] == flaws
    assert [(each.type, each.offset, each.length) for each in shown.entities] == left


def test_what_keeps_the_rules_has_no_flaws() -> None:
    entities = [at("blockquote", 0, 8), at("bold", 0, 3), at("italic", 1, 1), at("text_link", 4, 4), at("bold", 4, 2)]
    shown = show("abc defg", entities)
    assert shown.flaws == ()
    assert sorted(map(repr, shown.entities)) == sorted(map(repr, entities))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" a \n", "a"),
        ("a\r\nb", "a\nb"),
        ("a\tb\x00c", "a b c"),
        ("a\u202eb\u2028c", "abc"),
        ("a\u00a0", "a\u00a0"),
        ("\u2060", "\u2060"),
    ],
)
def test_text_is_cleaned(text: str, shown: str) -> None:
    assert show(text).text == shown


def test_entities_move_along_with_what_is_taken_away() -> None:
    assert seen("\n\r a\u202eb c", at("bold", 3, 3), at("code", 7, 1)) == [("bold", 0, 2), ("code", 3, 1)]
    assert seen("a  bc ", at("bold", 1, 5)) == [("bold", 3, 2)]


@pytest.mark.parametrize("text", [" ", "\r\n", "\u202e\n"])
def test_white_space_alone_is_refused(text: str) -> None:
    with pytest.raises(RefusedError, match="text must be non-empty"):
        show(text)


def test_half_a_pair_is_no_text() -> None:
    with pytest.raises(RefusedError, match="UTF-8"):
        show("\ud83d")


ENTITIES = st.builds(
    at, st.sampled_from(sorted(TYPES)), st.integers(min_value=0, max_value=8), st.integers(min_value=0, max_value=8)
)


@given(st.text(alphabet="ab \n\r\U0001f600\u202e", max_size=8), st.lists(ENTITIES, max_size=6))
def test_whatever_is_shown_keeps_the_rules(text: str, entities: list[Entity]) -> None:
    try:
        shown = show(text, entities)
    except RefusedError:
        return
    size = utf16.length(shown.text)
    assert shown.text == shown.text.strip(" \n")
    assert show(shown.text, shown.entities).entities == shown.entities
    for each in shown.entities:
        assert 0 <= each.offset < each.end <= size
        assert utf16.cut(shown.text, each.offset, each.end).strip()
        for other in shown.entities:
            if other is not each:
                assert not each.crosses(other) or {each.type, other.type} <= SPLITTABLE
                assert not (each.type in CODE and each.contains(other) and other.type in SPLITTABLE)
                assert not ({each.type, other.type} <= QUOTES and each.offset < other.end and other.offset < each.end)
