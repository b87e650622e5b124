"""What broke other gateways' rendering for Slack, and reading from it; each test has the id of its case."""

import pytest

from adapters.slack.decode import decode
from adapters.slack.identity import Identity
from adapters.slack.render import TEXT_LIMIT, render
from gateway.address import Address
from gateway.inbound import CommandReceived, Ignored, MessageEdited
from gateway.operation import EditMessage, PostMessage
from tests.cases import case

HERE = Address(platform="slack", account="T1", channel="C1", thread="17.1")
ME = Identity(team="T1", user="UBOT", bot="B1")


def sent(text: str, *, markup: bool = True) -> dict[str, object]:
    """What goes to Slack of a text, the same for a post and for an edit, which takes buttons away that were there."""
    post = render(PostMessage(address=HERE, text=text, markup=markup)).arguments
    edit = render(EditMessage(address=HERE, message_id="18.1", text=text, markup=markup)).arguments
    fields = ("markdown_text", "text", "blocks", "attachments")
    of_post, of_edit = ({name: each[name] for name in fields if name in each} for each in (post, edit))
    assert of_post == {name: value for name, value in of_edit.items() if value != []}
    return of_post


@pytest.mark.parametrize("identifier", ["R09", "R10", "R11", "R12"])
def test_markdown_goes_as_it_is_and_is_translated_by_slack_alone(identifier: str) -> None:
    source = case(identifier)["input"]["text"]
    assert sent(source) == {"markdown_text": source}


def test_r09_bold_in_front_of_a_letter_is_not_ours_to_translate() -> None:
    """The case wants no ``**`` in ``mrkdwn``. We send none: Slack is given Markdown, or what is shown as it stands."""
    source = case("R09")["input"]["text"]
    assert sent(source) == {"markdown_text": source}
    assert render(PostMessage(address=HERE, text=source, markup=False)).arguments["mrkdwn"] is False


def test_r10_one_star_and_three_stars_are_not_ours_to_translate() -> None:
    source = case("R10")["input"]["text"]
    assert sent(source) == {"markdown_text": source}


@pytest.mark.parametrize("markup", [True, False], ids=["markdown", "plain"])
def test_r11_no_digit_is_lost(markup: bool) -> None:
    ((_, text),) = case("R11")["assert"]
    assert list(sent(case("R11")["input"]["text"], markup=markup).values()) == [text]


def test_l16_what_is_measured_is_what_is_sent() -> None:
    given = case("L16")["input"]
    for count, fits in ((800, True), (801, False)):
        call = render(PostMessage(address=HERE, text="&" * count, markup=False))
        assert len(str(call.arguments["text"])) == 5 * count
        assert call.fits is fits is (5 * count <= TEXT_LIMIT)
    assert given["block_limit"] == 3000
    assert "blocks" not in sent("&" * 800)  # and so their limit is none of ours


def test_l31_an_edit_is_never_a_command_and_one_that_changes_nothing_no_edit() -> None:
    _, update = case("L31")["input"]["updates"]
    said: dict[str, object] = {
        "type": "message",
        "user": "U1",
        "ts": "17.1",
        "text": "!" + update["edited_message"]["text"].strip("/"),
    }
    place = {"channel": "D1", "channel_type": "im"}

    def inbound(event: dict[str, object]) -> object:
        return decode({"event_id": "Ev1", "event": event | place}, ME)

    def changed(text: str) -> dict[str, object]:
        return {
            "type": "message",
            "subtype": "message_changed",
            "message": said | {"text": text, "edited": {"user": "U1", "ts": "18.1"}},
            "previous_message": said,
        }

    assert isinstance(inbound(said), CommandReceived)
    assert isinstance(inbound(changed(str(said["text"]))), Ignored)
    assert isinstance(inbound(changed("!new")), MessageEdited)
