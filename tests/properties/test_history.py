"""Every request that is made of a history is legal."""

import re
import string

from hypothesis import given
from hypothesis import strategies as st

from gateway.history import Answered, Asked, Entry, from_json, messages, to_json
from gateway.provider import AssistantMessage, Native, UserMessage

ROOM = 1_000_000
NAME = re.compile("<([^<>]+)>")

values: st.SearchStrategy[object] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=8,
)
natives = st.builds(
    Native,
    protocol=st.text(string.ascii_lowercase, max_size=8),
    blocks=st.lists(st.dictionaries(st.text(), values, max_size=3), max_size=3).map(tuple),
)
texts = st.one_of(st.text(), st.sampled_from(["", " ", "\n\t", "Hello."]))
tricks = st.lists(st.sampled_from(["<U1>", "<U2> ", "<", ">", "\\", "\n", " ", "\n\n", "a"])).map("".join)
asked = st.builds(Asked, speaker=st.text(min_size=1), text=texts)
answered = st.builds(Answered, text=texts, native=st.one_of(st.none(), natives))
entries: st.SearchStrategy[list[Entry]] = st.lists(st.one_of(asked, answered), max_size=12)


def quoted(text: str) -> str:
    """The text with a backslash before every line that begins like somebody's name."""
    return "\n".join(f"\\{line}" if NAME.match(line) else line for line in text.split("\n"))


@given(before=entries, last=asked)
def test_a_request_begins_and_ends_with_the_user_and_alternates(before: list[Entry], last: Asked) -> None:
    said = messages([*before, last], room=ROOM)
    kinds = [type(message) for message in said]
    assert kinds == [UserMessage, AssistantMessage] * (len(kinds) // 2) + [UserMessage]


@given(before=entries, last=asked)
def test_no_message_of_a_request_is_blank(before: list[Entry], last: Asked) -> None:
    assert all(message.text.strip() for message in messages([*before, last], room=ROOM))


@given(before=entries, last=asked)
def test_whatever_was_asked_is_in_the_request_with_its_speaker_and_in_order(before: list[Entry], last: Asked) -> None:
    said = "\n\n".join(
        message.text for message in messages([*before, last], room=ROOM) if isinstance(message, UserMessage)
    )
    at = 0
    for entry in [*before, last]:
        if isinstance(entry, Asked):
            words = f"<{entry.speaker}> {quoted(entry.text.strip())}"
            assert words in said[at:]
            at = said.index(words, at) + len(words)


@given(before=entries, last=asked)
def test_every_answer_to_a_question_is_in_the_request(before: list[Entry], last: Asked) -> None:
    said = "\n\n".join(
        message.text for message in messages([*before, last], room=ROOM) if isinstance(message, AssistantMessage)
    )
    first = next((at for at, entry in enumerate(before) if isinstance(entry, Asked)), len(before))
    expected = [entry.text for entry in before[first:] if isinstance(entry, Answered) and entry.text.strip()]
    assert said == "\n\n".join(expected)


@given(first=asked, answer=answered, last=asked)
def test_an_answer_is_replayed_in_its_own_form(first: Asked, answer: Answered, last: Asked) -> None:
    said = messages([first, answer, last], room=ROOM)
    if answer.text.strip():
        assert said[1] == AssistantMessage(text=answer.text, native=answer.native)


@given(before=entries, later=st.lists(asked, min_size=1, max_size=3))
def test_what_was_said_before_stays_the_beginning_of_later_requests(before: list[Entry], later: list[Asked]) -> None:
    """Else the model's cache of the conversation would never serve."""
    reply: list[Entry] = [Answered(text="Yes.")]
    earlier = messages([*before, later[0]], room=ROOM)
    assert messages([*before, later[0], *reply, *later], room=ROOM)[: len(earlier)] == earlier


@given(before=entries, last=asked, room=st.one_of(st.integers(-1, 50), st.integers(0, 1000)))
def test_a_request_is_the_longest_end_of_the_conversation_that_finds_room(
    before: list[Entry], last: Asked, room: int
) -> None:
    said = [*before, last]
    lengths = [len(entry.text) for entry in said]
    start = next((at for at in range(len(said)) if sum(lengths[at:]) <= room), len(before))
    assert messages(said, room=room) == messages(said[start:], room=ROOM)


@given(said=st.lists(st.builds(Asked, speaker=st.sampled_from(["U1", "U2"]), text=tricks), min_size=1, max_size=5))
def test_every_line_that_begins_with_a_name_is_by_that_speaker(said: list[Asked]) -> None:
    (message,) = messages(said, room=ROOM)
    names = [match.group(1) for line in message.text.split("\n") if (match := NAME.match(line))]
    assert names == [entry.speaker for entry in said]


@given(entry=st.one_of(asked, answered))
def test_an_entry_survives_the_store(entry: Entry) -> None:
    line = to_json(entry)
    assert "\n" not in line
    assert from_json(line) == entry
