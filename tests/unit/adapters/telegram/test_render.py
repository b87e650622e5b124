import pytest

from adapters.telegram.markup import INERT
from adapters.telegram.render import render
from gateway.address import Address
from gateway.operation import Button, DeleteMessage, EditMessage, PostMessage, ShowTyping

CHAT = Address(platform="telegram", account="7", channel="101")
NO_PREVIEW = {"is_disabled": True}


def test_a_message_is_text_with_entities_and_without_a_preview() -> None:
    call = render(PostMessage(address=CHAT, text="**hi** @bob"), chat="101")
    assert call is not None
    assert (call.method, call.arguments) == (
        "send_message",
        {
            "chat_id": 101,
            "text": f"hi @{INERT}bob",
            "entities": [{"type": "bold", "offset": 0, "length": 2}],
            "link_preview_options": NO_PREVIEW,
        },
    )


def test_plain_text_goes_as_it_stands() -> None:
    call = render(EditMessage(address=CHAT, message_id="3", text="**hi**", markup=False), chat="101")
    assert call is not None
    assert (call.method, call.arguments) == (
        "edit_message_text",
        {"chat_id": 101, "message_id": 3, "text": "**hi**", "link_preview_options": NO_PREVIEW},
    )


def test_buttons_go_with_a_message_and_an_edit_has_its_own_or_none() -> None:
    buttons = (Button(label="Yes", data="y"),)
    row = {"inline_keyboard": [[{"text": "Yes", "callback_data": "y"}]]}
    for operation, shown in (
        (PostMessage(address=CHAT, text="hi", buttons=buttons), row),
        (EditMessage(address=CHAT, message_id="3", text="hi", buttons=buttons), row),
        (EditMessage(address=CHAT, message_id="3", text="hi"), None),
    ):
        call = render(operation, chat="101")
        assert call is not None
        assert call.arguments.get("reply_markup") == shown


def test_what_is_answered_may_be_gone() -> None:
    call = render(PostMessage(address=CHAT, text="hi"), chat="101", answers="5")
    assert call is not None
    assert call.arguments["reply_parameters"] == {"message_id": 5, "allow_sending_without_reply": True}


@pytest.mark.parametrize(("topic", "sent"), [("5", 5), ("1", None), (None, None), ("x", None)])
def test_l36_general_is_never_named(topic: str | None, sent: int | None) -> None:
    for operation in (PostMessage(address=CHAT, text="hi"), ShowTyping(address=CHAT)):
        call = render(operation, chat="-1001", topic=topic)
        assert call is not None
        assert call.arguments["chat_id"] == -1001
        assert call.arguments.get("message_thread_id") == sent


def test_a_message_in_another_place_is_reached_there() -> None:
    call = render(DeleteMessage(address=CHAT, message_id="-100/3"), chat="-100")
    assert call is not None
    assert (call.method, call.arguments) == ("delete_message", {"chat_id": -100, "message_id": 3})


@pytest.mark.parametrize("identifier", ["", "x", "1.5", "²", "9" * 30, "--1"])
def test_what_is_no_id_of_telegrams_is_no_call(identifier: str) -> None:
    assert render(DeleteMessage(address=CHAT, message_id=identifier), chat="101") is None
    assert render(ShowTyping(address=CHAT), chat=identifier) is None


def test_whether_it_fits_is_measured_on_what_is_sent() -> None:
    for text, fits in (("a" * 4096, True), ("a" * 4097, False), ("🙂" * 2048, True), ("🙂" * 2049, False)):
        call = render(PostMessage(address=CHAT, text=text), chat="101")
        assert call is not None
        assert call.fits is fits
