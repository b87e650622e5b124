"""Every request that is made of a history is legal."""

import json
import re
import string
from itertools import pairwise
from typing import Literal, get_args

from hypothesis import given
from hypothesis import strategies as st

from gateway.event import EndReason
from gateway.history import (
    MAY_HAVE_RUN,
    NOT_BEGUN,
    QUOTED,
    Answered,
    Asked,
    Ended,
    Entry,
    Quoted,
    Returned,
    Started,
    Unseen,
    from_json,
    messages,
    to_json,
)
from gateway.provider import AssistantMessage, Call, Message, Native, UserMessage

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
tricks = st.lists(
    st.sampled_from(["<U1>", "<U2> ", "<", ">", "> ", "\\", "\n", "\r", "\u2028", " ", "\n\n", "a", QUOTED])
).map("".join)
speakers = st.sampled_from(["U1", "U2"])
asked = st.builds(Asked, speaker=st.text(min_size=1), text=texts)
answered = st.builds(Answered, text=texts, native=st.one_of(st.none(), natives))
entries: st.SearchStrategy[list[Entry]] = st.lists(st.one_of(asked, answered), max_size=12)
quotes = st.lists(st.builds(Quoted, speaker=speakers, text=tricks), max_size=3).map(tuple)
reasons = st.sampled_from([*get_args(EndReason), "interrupted"])
# All that may stand in a history, in whatever order; and how one may end while its last question is being answered.
anything: st.SearchStrategy[list[Entry]] = st.lists(
    st.one_of(
        st.builds(Asked, speaker=speakers, text=texts, context=quotes),
        st.builds(Answered, text=texts, native=st.one_of(st.none(), natives), reason=reasons),
        st.just(Unseen()),
    ),
    max_size=12,
)
last_asked = st.builds(Asked, speaker=speakers, text=texts, context=quotes)
begun: st.SearchStrategy[list[Entry]] = st.lists(
    st.builds(Answered, text=texts, reason=st.just("interrupted")), max_size=2
)


def quoted(text: str) -> str:
    """The text with a backslash before every line that begins like somebody's name."""
    return "\n".join(f"\\{line}" if NAME.match(line) else line for line in text.splitlines())


def size(entry: Entry) -> int:
    """How many characters of what people and the model said are in it."""
    match entry:
        case Asked():
            return len(entry.text) + sum(len(each.text) for each in entry.context)
        case Answered():
            return len(entry.text) + sum(len(json.dumps(call.input)) for call in entry.calls)
        case Returned():
            return len(entry.content)
        case Started() | Ended() | Unseen():
            return 0


@given(before=anything, last=last_asked, half=begun, room=st.integers(-1, 100))
def test_a_request_begins_and_ends_with_the_user_alternates_and_has_no_blank_message(
    before: list[Entry], last: Asked, half: list[Entry], room: int
) -> None:
    said = messages([*before, last, *half], room=room)
    kinds = [type(message) for message in said]
    assert kinds == [UserMessage, AssistantMessage] * (len(kinds) // 2) + [UserMessage]
    assert all(message.text.strip() for message in said)


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


@given(before=anything, last=last_asked, half=begun, room=st.one_of(st.integers(-1, 50), st.integers(0, 1000)))
def test_a_request_is_an_end_of_the_conversation_that_finds_room_and_the_last_question_always_does(
    before: list[Entry], last: Asked, half: list[Entry], room: int
) -> None:
    said = [*before, last, *half]
    sizes = [size(entry) for entry in said]
    request = messages(said, room=room)
    starts = [at for at in range(len(before) + 1) if messages(said[at:], room=ROOM) == request]
    assert any(sum(sizes[at:]) <= room for at in starts) or len(before) in starts
    assert sum(sizes) > room or 0 in starts
    questions = [message.text for message in request if isinstance(message, UserMessage)]
    assert any(f"<{last.speaker}> {quoted(last.text.strip())}" in text for text in questions)


@given(lengths=st.lists(st.integers(1, 50), min_size=20, max_size=60), room=st.integers(800, 2000))
def test_requests_go_on_beginning_alike_until_half_of_the_room_was_said_anew(lengths: list[int], room: int) -> None:
    """Else the model's cache of a long conversation would never serve."""
    said: list[Entry] = []
    beginnings: list[str] = []
    for number, length in enumerate(lengths):
        said.append(Asked(speaker="U1", text=f"{number}".ljust(length)[:length] + "?" * 20))
        beginnings.append(messages(said, room=room)[0].text)
        said.append(Answered(text=f"{number}" + "!" * length))
    changes = sum(before != after for before, after in pairwise(beginnings))
    most = 2 * (50 + 20)
    assert changes <= sum(map(size, said)) // (room // 2 - most)


@given(said=st.lists(st.builds(Asked, speaker=st.sampled_from(["U1", "U2"]), text=tricks), min_size=1, max_size=5))
def test_every_line_that_begins_with_a_name_is_by_that_speaker(said: list[Asked]) -> None:
    (message,) = messages(said, room=ROOM)
    names = [match.group(1) for line in message.text.splitlines() if (match := NAME.match(line))]
    assert names == [entry.speaker for entry in said]


@given(context=quotes, speaker=speakers, text=tricks)
def test_nobody_who_is_quoted_breaks_out_or_speaks_in_anothers_name(
    context: tuple[Quoted, ...], speaker: str, text: str
) -> None:
    (message,) = messages([Asked(speaker=speaker, text=text, context=context)], room=ROOM)
    lines = message.text.splitlines()
    spoken = next(at for at, line in enumerate(lines) if NAME.match(line))
    assert NAME.findall(lines[spoken])[0] == speaker
    assert not any(NAME.match(line) for line in lines[spoken + 1 :])
    head = [QUOTED, *["> "] * (spoken - 2), ""] if context else []
    assert [line if at in (0, spoken - 1) else line[:2] for at, line in enumerate(lines[:spoken])] == head
    names = [match.group(1) for line in lines[:spoken] if (match := NAME.match(line.removeprefix("> ")))]
    assert names == [each.speaker for each in context]


@given(entry=st.one_of(asked, answered, last_asked))
def test_an_entry_survives_the_store(entry: Entry) -> None:
    line = to_json(entry)
    assert "\n" not in line
    assert from_json(line) == entry


numbers = st.integers(0, 10**9)


@st.composite
def worked(draw: st.DrawFn, *, open_end: bool = False) -> list[Entry]:
    """A run with tools, cut short anywhere: calls that began or did not, results in whatever order, or missing."""
    run: list[Entry] = [draw(last_asked)]
    for turn in range(draw(st.integers(0, 4))):
        calls = tuple(
            Call(tool_use_id=f"{draw(numbers)}-{turn}-{number}", name="look", input={"at": number})
            for number in range(draw(st.integers(0, 3)))
        )
        begun = draw(st.lists(st.sampled_from(calls), unique_by=lambda call: call.tool_use_id)) if calls else []
        ended = draw(st.lists(st.sampled_from(begun), unique_by=lambda call: call.tool_use_id)) if begun else []
        early, late = (begun, []) if draw(st.booleans()) else ([], begun)
        run += [Started(call=call) for call in early]
        said: list[Entry] = [Returned(tool_use_id=call.tool_use_id, content="Done.", length=5) for call in ended]
        front, behind = (said, []) if early and draw(st.booleans()) else ([], said)
        run += front
        reason: Literal["continued", "interrupted"] = "continued"
        if not calls and draw(st.booleans()):
            reason = "interrupted"
        run.append(Answered(text=draw(texts), calls=calls, reason=reason))
        run += [Started(call=call) for call in late]
        run += behind
    if not open_end:
        run.append(draw(st.sampled_from([Ended(reason="stopped"), Answered(text="So it is."), Unseen()])))
    return run


def judged(said: tuple[Message, ...]) -> None:
    """Hold a request to what every provider demands: each call has its result right behind it, and the other way."""
    assert isinstance(said[0], UserMessage)
    assert not said[0].results
    for before, after in pairwise(said):
        assert isinstance(before, UserMessage) != isinstance(after, UserMessage)
        if isinstance(before, AssistantMessage):
            assert isinstance(after, UserMessage)
            assert [result.tool_use_id for result in after.results] == [call.tool_use_id for call in before.calls]
    assert isinstance(said[-1], UserMessage) or not said[-1].calls


@given(before=st.lists(worked(), max_size=4), last=worked(open_end=True), room=st.integers(-1, 300))
def test_s03_wherever_a_history_is_cut_each_call_has_its_result_behind_it_and_each_result_its_call(
    before: list[list[Entry]], last: list[Entry], room: int
) -> None:
    judged(messages([*(entry for run in before for entry in run), *last], room=room))


@given(run=worked(open_end=True))
def test_a_call_without_a_result_is_said_to_have_been_interrupted_or_never_begun(run: list[Entry]) -> None:
    started = {entry.call.tool_use_id for entry in run if isinstance(entry, Started)}
    returned = {entry.tool_use_id for entry in run if isinstance(entry, Returned)}
    for message in messages(run, room=ROOM):
        for result in message.results if isinstance(message, UserMessage) else ():
            known = result.tool_use_id in returned
            assert result.is_error is not known
            assert known or result.content == (MAY_HAVE_RUN if result.tool_use_id in started else NOT_BEGUN)


def test_s01_a_call_that_a_crash_left_open_gets_its_result_before_the_next_question() -> None:
    call = Call(tool_use_id="tu_1", name="look", input={})
    died: list[Entry] = [Asked(speaker="U1", text="check"), Started(call=call), Answered(text="", calls=(call,))]
    said = messages([*died, Asked(speaker="U1", text="hello?")], room=ROOM)
    judged(said)
    last = said[-1]
    assert isinstance(last, UserMessage)
    assert [(result.tool_use_id, result.is_error) for result in last.results] == [("tu_1", True)]
    assert "interrupted" in last.results[0].content.lower()
    assert last.text == "<U1> hello?"
