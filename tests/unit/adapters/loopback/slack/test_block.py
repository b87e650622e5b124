from typing import Any

import pytest

from adapters.loopback.slack import block_rule
from adapters.loopback.slack.answer import RefusedError
from adapters.loopback.slack.block import buttons_of, check_blocks, text_of
from adapters.loopback.slack.rule import Rule


def button(**changes: object) -> dict[str, Any]:
    text = {"type": "plain_text", "text": "Yes"}
    return {"type": "button", "text": text, "action_id": "a", "value": "v"} | changes


def actions(*elements: object, **changes: object) -> dict[str, object]:
    return {"type": "actions", "elements": list(elements)} | changes


def section(text: str, kind: str = "mrkdwn") -> dict[str, object]:
    return {"type": "section", "text": {"type": kind, "text": text}}


def label(text: str, kind: str = "plain_text") -> dict[str, str]:
    return {"type": kind, "text": text}


BROKEN: list[tuple[list[object], Rule]] = [
    (["x"], block_rule.BLOCK_SHAPE),
    ([{}], block_rule.BLOCK_SHAPE),
    ([{"type": "buttons"}], block_rule.BLOCK_SHAPE),
    ([{"type": "section"}], block_rule.BLOCK_SHAPE),
    ([section("a", "markdown")], block_rule.BLOCK_SHAPE),
    ([{"type": "markdown"}], block_rule.BLOCK_SHAPE),
    ([{"type": "actions"}], block_rule.BLOCK_SHAPE),
    ([actions("x")], block_rule.BLOCK_SHAPE),
    ([actions({"type": "image"})], block_rule.BLOCK_SHAPE),
    ([{"type": "divider", "block_id": "x" * 256}], block_rule.BLOCK_ID),
    ([{"type": "divider", "block_id": "x"}] * 2, block_rule.BLOCK_ID),
    ([section("")], block_rule.SECTION_LENGTH),
    ([section("x" * 3_001)], block_rule.SECTION_LENGTH),
    ([{"type": "markdown", "text": "x" * 6_001}] * 2, block_rule.MARKDOWN_BLOCKS),
    ([actions()], block_rule.ACTIONS),
    ([actions(*(button(action_id=str(number)) for number in range(26)))], block_rule.ACTIONS),
    ([actions(button(), button())], block_rule.ACTION_ID),
    ([actions(button(action_id="x" * 256))], block_rule.ACTION_ID),
    ([actions(button(action_id=5))], block_rule.ACTION_ID),
    ([actions(button(text=label("x" * 76)))], block_rule.BUTTON_TEXT),
    ([actions(button(text=label("")))], block_rule.BUTTON_TEXT),
    ([actions(button(text=label("Yes", "mrkdwn")))], block_rule.BUTTON_TEXT),
    ([actions(button(value="x" * 2_001))], block_rule.BUTTON_VALUE),
    ([actions(button(value=5))], block_rule.BUTTON_VALUE),
    ([actions(button(style="default"))], block_rule.BUTTON_STYLE),
]


@pytest.mark.parametrize(
    ("blocks", "broken"), BROKEN, ids=[f"{number} {broken.name}" for number, (_, broken) in enumerate(BROKEN)]
)
def test_blocks_that_break_a_rule_are_refused(blocks: list[object], broken: Rule) -> None:
    with pytest.raises(RefusedError) as refusal:
        check_blocks(blocks)
    assert refusal.value.rule is broken


def test_blocks_at_their_limits_are_taken() -> None:
    full = [button(action_id="x" * 253 + f"{number:02}", value="x" * 2_000) for number in range(25)]
    check_blocks(
        [
            section("x" * 3_000),
            section("x", "plain_text"),
            {"type": "section", "fields": [label("x")]},
            {"type": "markdown", "text": "x" * 12_000},
            actions(*full, block_id="x" * 255),
            actions(button(text=label("x" * 75), style="primary"), {"type": "overflow", "action_id": "b"}),
            {"type": "divider"},
        ]
    )


def test_buttons_are_found_in_their_order_and_named_where_they_are_not() -> None:
    blocks = [section("a"), actions(button(), button(action_id=None, value="w"), block_id="b"), actions(button())]
    assert [(each.label, each.action_id, each.block_id, each.value) for each in buttons_of(blocks)] == [
        ("Yes", "a", "b", "v"),
        ("Yes", "a1", "b", "w"),
        ("Yes", "a", "b2", "v"),
    ]


def test_a_reader_sees_the_text_above_the_buttons() -> None:
    blocks = [{"type": "markdown", "text": "**a** &lt;"}, section("b &lt;"), section("&lt;", "plain_text"), actions()]
    assert text_of(blocks) == "**a** &lt;\nb <\n&lt;"
