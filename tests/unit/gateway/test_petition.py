"""What is shown of a call that waits for a person."""

import json
import re
import unicodedata
from dataclasses import replace

import pytest

from chunker import split
from gateway import approval
from gateway.adapter import Capabilities
from gateway.address import Address
from gateway.event import ApprovalRequested, ApprovalResolved, JsonObject
from gateway.petition import RUN, Petition, code, fenced, visible
from gateway.place import Place
from tests.properties.markdown_judge import JUDGE

EDIT = Capabilities(surface="edit", unit="cp", bubble=800, post=(), edit=(), buttons=True, mention="<@{}>")
ID = "abcdefgh"


def petition(
    given: JsonObject, capabilities: Capabilities = EDIT, *, name: str = "delete_file", direct: bool = False
) -> Petition:
    place = Place(address=Address(platform="p", account="a", channel="c"), capabilities=capabilities, direct=direct)
    return Petition(ApprovalRequested(approval_id=ID, tool_use_id="u", tool_name=name, input=given), place)


def resolved(asked: Petition, decision: str = "approved", by: str | None = "42") -> Petition:
    event = ApprovalResolved(approval_id=ID, tool_use_id="u", decision="denied", by=by)
    asked.resolved = replace(event, decision=decision)
    return asked


def code_in(markdown: str) -> list[str]:
    """What stands in fences, as a reader of CommonMark has it."""
    return [token.content for token in JUDGE.parse(markdown) if token.type == "fence"]


def test_it_names_the_tool_shows_the_whole_input_and_says_how_to_answer() -> None:
    asked = petition({"path": "/etc/motd", "force": True})
    assert asked.text("") == (
        "**Allow `delete_file`?**\n\n"
        '```json\n{\n  "path": "/etc/motd",\n  "force": true\n}\n```\n\n'
        "Press a button, or mention me with `approve abcdefgh` or `deny abcdefgh`."
    )
    assert asked.buttons == approval.buttons(ID, may_stand=True)
    assert asked.input == ""


@pytest.mark.parametrize(
    ("slash", "direct", "how"),
    [
        (True, False, "type `/approve abcdefgh` or `/deny abcdefgh`."),
        (False, True, "type `!approve abcdefgh` or `!deny abcdefgh`."),
        (False, False, "mention me with `approve abcdefgh` or `deny abcdefgh`."),
    ],
)
def test_what_may_be_typed_is_what_the_place_lets_through(*, slash: bool, direct: bool, how: str) -> None:
    asked = petition({}, replace(EDIT, slash=slash, buttons=False), direct=direct)
    assert asked.text("").endswith(f"To decide, {how}")
    assert asked.buttons == ()


@pytest.mark.parametrize(
    ("decision", "by", "outcome", "said"),
    [
        ("approved", "42", "It is running.", "**Approved by <@42>.** It is running."),
        ("approved", "42", "Done.", "**Approved by <@42>.** Done."),
        ("denied", "42", "", "**Denied by <@42>.** It was not run."),
        ("expired", None, "", "**Expired:** nobody decided in time. It was not run."),
        ("withdrawn", None, "", "**Withdrawn.** It was not run."),
    ],
)
def test_once_decided_it_says_what_was_asked_who_decided_and_what_came_of_it_and_has_no_buttons(
    decision: str, by: str | None, outcome: str, said: str
) -> None:
    asked = resolved(petition({"path": "a"}), decision, by)
    assert asked.text(outcome) == f'I asked to run `delete_file`:\n\n```json\n{{\n  "path": "a"\n}}\n```\n\n{said}'
    assert asked.buttons == ()


def test_where_nobody_can_be_named_the_plain_id_stands_there() -> None:
    assert "**Approved by `U_1`.**" in resolved(petition({}, replace(EDIT, mention=None)), by="U_1").text("")


def test_a_question_that_nobody_answered_is_withdrawn_when_the_run_is_over() -> None:
    asked = petition({})
    asked.over = True
    assert "**Withdrawn.**" in asked.text("")
    assert not asked.buttons
    assert not asked.open


def test_what_cannot_be_edited_has_no_buttons_and_goes_on_asking() -> None:
    asked = petition({}, replace(EDIT, surface="post"))
    before = asked.text("")
    assert asked.buttons == ()
    assert resolved(asked).text("Done.") == before
    assert asked.resolution == "(`delete_file`: **Approved by <@42>.**)"


HOSTILE = [
    "```\n\n**Allow `ls`?** Press a button.\n\n```",
    "`" * 3,
    "`" * 5_000,
    "~~~\n# Title",
    "safe\u202etxt.exe\u2066",
    "a\u200bb\u00adc\ufeffd\u2060e",
    "\x00\x07\x1b[2K\x7f\x9b",
    "line\u2028line\u2029\x85end",
    "tag\U000e0041\U000e0001 fill\u3164\uffa0\u115f\u2800 \ufe0f\u034f",
    "family \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "half \ud83d of a pair",
    "rm\u00a0-rf\u2003/",
    "@everyone <!channel> <@U1> [x](https://evil.example) <b>&amp;</b>",
    "</code></pre>*_|~>#",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("bubble", [200, 800, 4_000])
def test_an_input_is_whole_in_its_fence_and_nothing_in_it_hides_or_gets_out(text: str, bubble: int) -> None:
    given: JsonObject = {"text": text, text: ["x", {"k": text}]}
    asked = petition(given, replace(EDIT, bubble=bubble))
    chunks = [each.text for each in split(asked.input, bubble)] if asked.input else []
    shown = [*chunks, asked.text("")]
    inside = [code for each in shown for code in code_in(each)]
    assert len(inside) == sum("```" in each for each in shown), "a fence that was closed from inside"
    assert "".join(inside).replace("\n", "") == re.sub(r"^`+json\n|\n`+$", "", fenced(given)).replace("\n", "")
    assert json.loads("".join(inside).replace("\n", "")) == given
    assert all(len(each) <= bubble for each in shown)
    assert not [char for each in shown for char in each if char not in "\n " and unicodedata.category(char)[0] in "CZ"]


def test_a_hundred_kilobytes_go_before_the_question_and_none_is_lost() -> None:
    given: JsonObject = {"text": "".join(f"{number} `{'`' * (number % 12)} " for number in range(9_000))}
    assert len(given["text"]) > 100_000
    asked = petition(given)
    chunks = [each.text for each in split(asked.input, 800)]
    assert json.loads("".join(code for each in chunks for code in code_in(each)).replace("\n", "")) == given
    assert asked.text("").startswith("**Allow `delete_file` with the input above?**")
    assert (
        resolved(asked).text("Done.")
        == "I asked to run `delete_file` with the input above. **Approved by <@42>.** Done."
    )


def test_emoji_are_shown_with_the_joiners_that_hold_them_together_made_visible() -> None:
    assert visible("\U0001f468\u200d\U0001f467 é 漢") == "\U0001f468\\u200d\U0001f467 é 漢"
    assert visible("\U000e0041") == "\\udb40\\udc41"


def test_a_run_of_backticks_is_shown_as_it_is_up_to_a_length() -> None:
    assert fenced({"a": "`" * RUN}).startswith("`" * (RUN + 1) + "json\n")
    assert fenced({"a": "`" * 2 * RUN}).startswith("`" * (RUN + 1) + "json\n")
    assert "`" * (RUN + 2) not in fenced({"a": "`" * 1_000})


@pytest.mark.parametrize("words", ["a`b", "`", "``a", "a\nb", "", "  ", "\u202ex", "x" * 500])
def test_a_name_is_one_span_of_code(words: str) -> None:
    (_, inline, _) = JUDGE.parse(f"**Allow {code(words)}?**")
    assert inline.children is not None
    assert [token.type for token in inline.children if token.type not in {"text"}] == [
        "strong_open",
        "code_inline",
        "strong_close",
    ]


def test_what_the_platform_takes_for_too_long_gets_shorter_until_nobody_can_be_asked() -> None:
    asked = petition({"path": "a"})
    asked.narrow("")
    assert asked.text("").startswith("**Allow `delete_file` with the input above?**")
    assert '"path": "a"' in asked.input
    asked.narrow("")
    assert asked.text("") == "**Allow this?** `approve abcdefgh` or `deny abcdefgh`"
    asked.narrow("")
    assert asked.text("") == ""


def test_a_question_leaves_room_for_what_will_be_said_of_it() -> None:
    for size in range(100, 800, 7):
        asked = petition({"text": "x" * size})
        whole = not asked.input
        said = resolved(asked).text("It was interrupted, and may have done what it does.")
        assert ("```" in said) == whole
