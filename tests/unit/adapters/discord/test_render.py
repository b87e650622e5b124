from collections.abc import Mapping

import pytest

from adapters.discord.render import EPHEMERAL, SUPPRESS_EMBEDS, Call, Rendered, callback, in_channel, render
from gateway.address import Address
from gateway.inbound import Ticket
from gateway.operation import (
    Button,
    DeleteMessage,
    EditMessage,
    MarkWaiting,
    PostMessage,
    ShowTyping,
    TellPrivately,
    UnmarkWaiting,
)
from gateway.payload import mapping

CHANNEL = Address(platform="discord", account="900", channel="10")
THREAD = Address(platform="discord", account="900", channel="10", thread="11")
MEMBER = Ticket(secret="s/1", lifetime=900, opening="@600", guest=False)
GUEST = Ticket(secret="s/1", lifetime=900, opening="@600", guest=True)


def call(operation: Rendered) -> Call:
    rendered = render(operation)
    assert rendered is not None
    return rendered


def body(operation: Rendered) -> Mapping[str, object]:
    return mapping(call(operation).body)


@pytest.mark.parametrize(
    ("operation", "method", "path", "by_token"),
    [
        (PostMessage(address=CHANNEL, text="a"), "POST", "/channels/10/messages", False),
        (PostMessage(address=THREAD, text="a"), "POST", "/channels/11/messages", False),
        (PostMessage(address=CHANNEL, text="a", ticket=MEMBER), "POST", "/channels/10/messages", False),
        (PostMessage(address=CHANNEL, text="a", ticket=GUEST), "POST", "/webhooks/900/s%2F1?wait=true", True),
        (EditMessage(address=THREAD, message_id="5", text="a"), "PATCH", "/channels/11/messages/5", False),
        (
            EditMessage(address=CHANNEL, message_id="5", text="a", ticket=MEMBER),
            "PATCH",
            "/channels/10/messages/5",
            False,
        ),
        (
            EditMessage(address=CHANNEL, message_id="@600", text="a", ticket=MEMBER),
            "PATCH",
            "/webhooks/900/s%2F1/messages/@original",
            True,
        ),
        (
            EditMessage(address=CHANNEL, message_id="5", text="a", ticket=GUEST),
            "PATCH",
            "/webhooks/900/s%2F1/messages/5",
            True,
        ),
        (DeleteMessage(address=CHANNEL, message_id="5"), "DELETE", "/channels/10/messages/5", False),
        (
            DeleteMessage(address=CHANNEL, message_id="@600", ticket=MEMBER),
            "DELETE",
            "/webhooks/900/s%2F1/messages/@original",
            True,
        ),
        (MarkWaiting(address=CHANNEL, message_id="5"), "PUT", "/channels/10/messages/5/reactions/%E2%8F%B3/@me", False),
        (
            UnmarkWaiting(address=CHANNEL, message_id="5"),
            "DELETE",
            "/channels/10/messages/5/reactions/%E2%8F%B3/@me",
            False,
        ),
        (ShowTyping(address=THREAD), "POST", "/channels/11/typing", False),
    ],
    ids=range(13),
)
def test_an_operation_is_one_call(operation: Rendered, method: str, path: str, by_token: bool) -> None:
    rendered = call(operation)
    assert (rendered.method, rendered.path, rendered.by_token) == (method, path, by_token)


@pytest.mark.parametrize(
    "operation",
    [
        EditMessage(address=CHANNEL, message_id="@600", text="a"),
        DeleteMessage(address=CHANNEL, message_id="@600"),
        MarkWaiting(address=CHANNEL, message_id="@600"),
        UnmarkWaiting(address=CHANNEL, message_id="@600"),
    ],
    ids=lambda operation: type(operation).__name__,
)
def test_the_first_answer_is_not_reached_without_its_ticket(operation: Rendered) -> None:
    assert render(operation) is None


@pytest.mark.parametrize("markup", [True, False])
@pytest.mark.parametrize("ticket", [None, MEMBER, GUEST], ids=["none", "member", "guest"])
@pytest.mark.parametrize("message_id", [None, "5", "@600"])
def test_l22_nothing_that_is_sent_pings_or_shows_a_preview(
    markup: bool, ticket: Ticket | None, message_id: str | None
) -> None:
    text = "@everyone <@1> https://x.y"
    operation = (
        PostMessage(address=CHANNEL, text=text, markup=markup, ticket=ticket)
        if message_id is None
        else EditMessage(address=CHANNEL, message_id=message_id, text=text, markup=markup, ticket=ticket or MEMBER)
    )
    sent = body(operation)
    assert (sent["allowed_mentions"], sent["flags"]) == ({"parse": []}, 4)


def test_a_post_has_a_nonce_that_counts_and_a_guests_has_none() -> None:
    post = body(PostMessage(address=CHANNEL, text="a", nonce="n1"))
    assert (post["nonce"], post["enforce_nonce"]) == ("n1", True)
    assert "nonce" not in body(PostMessage(address=CHANNEL, text="a", nonce="n1", ticket=GUEST))
    assert "nonce" not in body(PostMessage(address=CHANNEL, text="a"))


def test_l20_a_reply_goes_though_its_question_is_gone() -> None:
    post = body(PostMessage(address=CHANNEL, text="a", answers="5"))
    assert post["message_reference"] == {"message_id": "5", "fail_if_not_exists": False}
    assert "message_reference" not in body(PostMessage(address=CHANNEL, text="a", answers="@600"))


BUTTONS = (
    Button(label="Allow", data="approve:abcdefg2", style="go"),
    Button(label="Always here", data="always:abcdefg2"),
    Button(label="Deny", data="deny:abcdefg2", style="stop"),
)
ROW = {
    "type": 1,
    "components": [
        {"type": 2, "style": 3, "label": "Allow", "custom_id": "approve:abcdefg2"},
        {"type": 2, "style": 2, "label": "Always here", "custom_id": "always:abcdefg2"},
        {"type": 2, "style": 4, "label": "Deny", "custom_id": "deny:abcdefg2"},
    ],
}


@pytest.mark.parametrize("ticket", [None, MEMBER, GUEST])
def test_buttons_stand_in_one_row_wherever_a_message_goes(ticket: Ticket | None) -> None:
    assert body(PostMessage(address=CHANNEL, text="a", ticket=ticket, buttons=BUTTONS))["components"] == [ROW]
    assert "components" not in body(PostMessage(address=CHANNEL, text="a", ticket=ticket))
    for name in ("5", "@600") if ticket else ("5",):
        edit = EditMessage(address=CHANNEL, message_id=name, text="a", ticket=ticket, buttons=BUTTONS)
        assert body(edit)["components"] == [ROW]


def test_an_edit_without_buttons_says_that_there_are_none() -> None:
    assert body(EditMessage(address=CHANNEL, message_id="5", text="a"))["components"] == []


def test_what_is_for_one_person_alone_follows_by_the_token_and_wakes_nobody() -> None:
    told = TellPrivately(address=CHANNEL, user="20", text="**No.** @everyone", press="600", ticket=MEMBER)
    assert (call(told).method, call(told).path, call(told).by_token) == ("POST", "/webhooks/900/s%2F1?wait=true", True)
    assert body(told) == {
        "content": "**No.** @everyone",
        "allowed_mentions": {"parse": []},
        "flags": SUPPRESS_EMBEDS | EPHEMERAL,
    }
    assert render(TellPrivately(address=CHANNEL, user="20", text="No.", press="600")) is None


def test_plain_text_is_escaped_and_markdown_is_not() -> None:
    assert call(PostMessage(address=CHANNEL, text="**a**")).text == "**a**"
    assert call(PostMessage(address=CHANNEL, text="**a**", markup=False)).text == r"\*\*a\*\*"


def test_what_is_too_long_after_rendering_does_not_fit() -> None:
    assert call(PostMessage(address=CHANNEL, text="a" * 2000)).fits
    assert not call(PostMessage(address=CHANNEL, text="*" * 1001, markup=False)).fits
    assert call(ShowTyping(address=CHANNEL)).fits


def test_a_call_shows_no_token() -> None:
    operation = EditMessage(address=CHANNEL, message_id="@600", text="a", ticket=GUEST)
    assert "s%2F1" not in repr(call(operation))
    assert "s%2F1" not in repr(callback("600", "s/1", {"type": 5}))


def test_the_first_answer_is_asked_for_with_its_message() -> None:
    first = callback("600", "s/1", {"type": 5})
    assert (first.method, first.by_token) == ("POST", True)
    assert first.path == "/interactions/600/s%2F1/callback?with_response=true"
    assert in_channel(THREAD, "5").path == "/channels/11/messages/5"
