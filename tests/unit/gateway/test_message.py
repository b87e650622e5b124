"""One message of ours on the platform."""

from dataclasses import replace

from gateway import journal
from gateway.adapter import Capabilities
from gateway.address import Address
from gateway.draft import Piece
from gateway.message import PLACEHOLDER, WHOLE, Message, Standing
from gateway.operation import (
    AppendText,
    Button,
    DeleteMessage,
    EditMessage,
    FinishStream,
    NotModified,
    Performed,
    PostMessage,
    RateLimited,
    ReadThread,
    StartStream,
    Unknown,
)
from gateway.place import Place

ADDRESS = Address(platform="p", account="a", channel="c", thread="t")

EDIT = Capabilities(surface="edit", unit="cp", bubble=800, post=(), edit=(), update=10)
LOST = Unknown(reason="no answer")


def message_on(capabilities: Capabilities = EDIT) -> Message:
    return Message(place=Place(address=ADDRESS, capabilities=capabilities, seed="s"), number=3)


def there(message: Message, text: str = "Hel") -> Message:
    operation = message.show(text, whole=False)
    assert operation is not None
    message.settle(operation, Performed(message_id="m1"))
    return message


def test_it_is_posted_under_a_nonce_of_its_own_and_edited_then() -> None:
    message = message_on()
    posted = PostMessage(address=ADDRESS, text="Hel", nonce=journal.nonce("s", 3, 1))
    assert message.show("Hel", whole=False) == posted
    message.settle(posted, Performed(message_id="m1"))
    assert message.shows("Hel")
    assert message.show("Hel", whole=True) is None
    assert message.show("Hello.", whole=True) == EditMessage(address=ADDRESS, message_id="m1", text="Hello.")


def test_it_is_never_without_text() -> None:
    assert message_on().show("", whole=True) is None
    assert there(message_on()).show("", whole=False) is None


def test_a_stream_grows_in_steps_and_is_finished_with_the_last() -> None:
    message = message_on(replace(EDIT, surface="append"))
    assert isinstance(message.show("0123456789abc", whole=True), StartStream)
    there(message, "0123456789abcdefghijklm")
    text = "0123456789abcdefghijklm"
    assert message.show(text, whole=True) == AppendText(address=ADDRESS, message_id="m1", text="abcdefghij")
    message.settle(AppendText(address=ADDRESS, message_id="m1", text="abcdefghij"), Performed(message_id="m1"))
    assert message.show(text, whole=True) == FinishStream(address=ADDRESS, message_id="m1", text="klm")


def test_a_stream_that_begins_otherwise_is_closed_and_edited() -> None:
    message = there(message_on(replace(EDIT, surface="append")))
    close = FinishStream(address=ADDRESS, message_id="m1", text="")
    assert message.show("Other", whole=False) == close
    message.settle(close, Performed(message_id="m1"))
    assert message.show("Other", whole=False) == EditMessage(address=ADDRESS, message_id="m1", text="Other")


def test_what_was_not_heard_of_is_looked_for() -> None:
    message = message_on(replace(EDIT, reconciliation="read"))
    operation = message.show("Hel", whole=False)
    assert operation is not None
    message.settle(operation, LOST)
    assert (message.standing, message.draws()) == (Standing.UNHEARD, "read")
    assert message.show("Hello.", whole=False) == message.remove() == ReadThread(address=ADDRESS, limit=WHOLE)


def test_where_nobody_remembers_its_text_a_placeholder_finds_its_id() -> None:
    place = Place(address=ADDRESS, capabilities=replace(EDIT, reconciliation="nonce"), seed="s")
    before = Message(place=place, number=3, tries=1)
    line = before.line(Piece(kind="text", draft=0), "open")
    message = Message.restored(line, place)
    found = PostMessage(address=ADDRESS, text=PLACEHOLDER, nonce=journal.nonce("s", 3, 1))
    assert message.show("Hello.", whole=False) == found
    message.settle(found, Performed(message_id="m1"))
    assert message.show("Hello.", whole=True) == EditMessage(address=ADDRESS, message_id="m1", text="Hello.")


def test_it_is_taken_away_by_its_id() -> None:
    assert there(message_on()).remove() == DeleteMessage(address=ADDRESS, message_id="m1")
    assert message_on().remove() is None


def test_an_edit_that_nobody_heard_of_may_be_on_its_way_until_the_text_is_sent_once_more() -> None:
    message = there(message_on())
    change = message.show("Hello.", whole=True)
    assert change is not None
    message.settle(change, LOST)
    message.settle(change, Performed(message_id="m1"))
    assert message.late
    repeat = message.repeat()
    assert repeat is not None
    assert repeat == change
    for outcome in (LOST, RateLimited(retry_after=1.0)):
        message.repeated(repeat, outcome)
        assert message.late
    message.repeated(repeat, NotModified())
    assert not message.late
    assert message.shows("Hello.")


def test_a_stream_that_was_not_heard_of_is_begun_once_more_where_a_nonce_is_shown_once() -> None:
    capabilities = replace(EDIT, surface="append", reconciliation="nonce")
    message = message_on(capabilities)
    begun = message.show("```python", whole=False)
    assert isinstance(begun, StartStream)
    message.settle(begun, LOST)
    assert message.draws() == "append"
    assert message.show("```python\nx = 1", whole=False) == begun
    message.settle(begun, Performed(message_id="m1"))
    assert message.show("```python\nx = 1", whole=False) == AppendText(address=ADDRESS, message_id="m1", text="\nx = 1")


YES = (Button(label="Yes", data="yes"),)


def test_buttons_go_with_its_text_and_are_gone_with_the_next_edit_that_has_none() -> None:
    message = message_on()
    posted = message.show("Well?", whole=True, buttons=YES)
    assert posted is not None
    assert posted == PostMessage(address=ADDRESS, text="Well?", nonce=journal.nonce("s", 3, 1), buttons=YES)
    message.settle(posted, Performed(message_id="m1"))
    assert message.shows("Well?", YES)
    assert not message.shows("Well?")
    assert message.show("Well?", whole=True, buttons=YES) is None
    assert message.show("Well?", whole=True) == EditMessage(address=ADDRESS, message_id="m1", text="Well?")


def test_a_post_with_buttons_is_looked_for_with_the_same_ones() -> None:
    message = message_on(replace(EDIT, reconciliation="nonce"))
    posted = message.show("Well?", whole=True, buttons=YES)
    assert posted is not None
    message.settle(posted, LOST)
    assert message.show("Other", whole=True) == posted


def test_what_goes_once_more_has_its_buttons() -> None:
    message = message_on()
    posted = message.show("Well?", whole=True, buttons=YES)
    assert posted is not None
    message.settle(posted, Performed(message_id="m1"))
    assert message.repeat() == EditMessage(address=ADDRESS, message_id="m1", text="Well?", buttons=YES)


def test_after_a_restart_an_ordinary_message_is_known_from_a_stream() -> None:
    streams = replace(EDIT, surface="append", reconciliation="nonce")
    place = Place(address=ADDRESS, capabilities=streams, seed="s")
    for ordinary in (True, False):
        before = Message(place=place, number=3, tries=1)
        before.streams = not ordinary
        before.standing = Standing.UNHEARD
        message = Message.restored(before.line(Piece(kind="approval", draft=0, board=("a",)), "open"), place)
        assert isinstance(message.show("Well?", whole=True), PostMessage if ordinary else StartStream)
