import pytest

from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.entity import checked_url, read_entities
from adapters.loopback.telegram.rule import Rule

USERS = frozenset({101})


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        (None, outbound.ENTITIES_FORMAT),
        (["bold"], outbound.ENTITIES_FORMAT),
        ([{"type": "bold", "offset": "0", "length": 1}], outbound.ENTITIES_FORMAT),
        ([{"type": "bold", "offset": 0}], outbound.ENTITIES_FORMAT),
        ([{"type": "fat", "offset": 0, "length": 1}], outbound.ENTITY_TYPE),
        ([{"type": "text_link", "offset": 0, "length": 1}], outbound.ENTITY_FIELD),
        ([{"type": "text_mention", "offset": 0, "length": 1}], outbound.ENTITY_FIELD),
        ([{"type": "custom_emoji", "offset": 0, "length": 1}], outbound.ENTITY_FIELD),
        ([{"type": "text_mention", "offset": 0, "length": 1, "user": {"id": 404}}], outbound.ENTITY_USER),
        ([{"type": "text_mention", "offset": 0, "length": 1, "user": "ada"}], outbound.ENTITY_USER),
        ([{"type": "bold", "offset": -1, "length": 1}], outbound.ENTITY_OFFSET),
        ([{"type": "bold", "offset": 0, "length": 1_000_001}], outbound.ENTITY_OFFSET),
    ],
)
def test_an_entity_that_is_malformed_is_refused(values: list[object] | None, rule: Rule) -> None:
    with pytest.raises(RefusedError) as raised:
        read_entities(values, USERS)
    assert raised.value.rule is rule


def test_entities_are_read_with_what_belongs_to_them() -> None:
    pre, link, mention = read_entities(
        [
            {"type": "pre", "offset": 0, "length": 1, "language": "python"},
            {"type": "text_link", "offset": 1, "length": 1, "url": "tg://user?id=102"},
            {"type": "text_mention", "offset": 2, "length": 1, "user": {"id": 101, "first_name": "Ada"}},
        ],
        USERS,
    )
    assert (pre.language, link.url, link.linked_user, mention.linked_user) == ("python", "tg://user?id=102", 102, 101)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "HTTP://example.com:8080/a?b#c",
        "example.com/a",
        "https://user:secret@example.com",
        "http://[2001:db8::1]/",
        "tg://resolve?domain=x",
        "mailto:ada@example.com",
    ],
)
def test_an_address_that_clients_open_is_let_through(url: str) -> None:
    assert checked_url(url) == url


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "URL host is empty"),
        ("not-a-url", "Wrong HTTP URL"),
        ("http://localhost:3000/", "Wrong HTTP URL"),
        ("javascript:alert(1)", "Wrong HTTP URL"),
        ("ftp://example.com", "Unsupported URL protocol"),
        ("file:///etc/passwd", "Unsupported URL protocol"),
        ("/relative/path.html", "Wrong HTTP URL"),
    ],
)
def test_a_link_needs_an_address_that_clients_open(url: str, why: str) -> None:
    with pytest.raises(RefusedError) as raised:
        checked_url(url)
    assert str(raised.value) == f"Bad Request: entity URL '{url}' is invalid: {why}"
