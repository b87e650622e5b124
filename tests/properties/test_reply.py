"""The reply against a strict screen: whatever the platform does, the answer stands there whole, once, in order."""

from typing import Any, Literal, get_args

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from chunker import Chunker, split
from gateway.adapter import Capabilities
from gateway.address import Address
from gateway.event import (
    AgentEnd,
    AgentStart,
    ContentBlockEnd,
    ContentBlockStart,
    EndReason,
    Error,
    ErrorType,
    Event,
    MessageEnd,
    TextDelta,
    ThinkingDelta,
    ToolUseStart,
    TurnEnd,
    TurnStart,
    Usage,
)
from gateway.operation import EditMessage, Forbidden, PostMessage, Unknown
from gateway.reply import DOUBTS, ENDINGS, FAILURES, MAY_BE_A_REPEAT, NO_ANSWER, Bubble, Priority, Reply
from tests.properties.screen import Fate, Screen, chunks_of

ADDRESS = Address(platform="p", account="a", channel="c", thread="t")
HARMLESS: tuple[Fate, ...] = ("rate limited", "unreachable", "markup rejected", "lost", "done unheard")

texts = st.one_of(
    st.sampled_from(
        [
            "Hello ",
            "world. ",
            "\n",
            "\n\n",
            "   ",
            "a b c d e f g h ",
            "word" * 40,
            "- item\n",
            "é😀 ",
            "😀" * 30,
            "> quote\n",
        ]
    ),
    st.sampled_from(
        ["```python\n", "x = 1\n", "```\n", "`code` ", "**bold** ", "| a | b |\n", "|---|---|\n", "# Title\n"]
    ),
    st.text(max_size=20),
)
quiet: st.SearchStrategy[Event] = st.sampled_from(
    [
        AgentStart(agent_id="a", model="m", input_length=1),
        TurnStart(turn_number=1),
        ContentBlockStart(block_id="b0", block_type="text"),
        ContentBlockEnd(block_id="b0", block_type="text"),
        ThinkingDelta(block_id="b1", text="hm"),
        TurnEnd(turn_number=1, has_tool_calls=False),
    ]
)
breaks: st.SearchStrategy[Event] = st.sampled_from(
    [
        MessageEnd(message_id="m", stop_reason="end", usage=Usage()),
        ToolUseStart(block_id="b2", tool_use_id="u", tool_name="t"),
    ]
)
DONE: Fate = "done"
fates = st.sampled_from((DONE, DONE, DONE, DONE, *HARMLESS))


def letters(texts: list[str]) -> str:
    """What is left of texts however they are cut: a cut may drop white space, and repeat what opens a block."""
    return "".join(filter(str.isalnum, "".join(texts)))


class ReplyOnScreen(RuleBasedStateMachine):
    """Text comes, slots are granted, operations meet their fate and people delete messages, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.paragraphs = [""]
        self.error: ErrorType | None = None
        self.reason: EndReason | None = None
        self.forbidden = False
        self.doubt = False
        self.doubts = 0

    @initialize(
        surface=st.sampled_from(["edit", "edit", "post"]),
        unit=st.sampled_from(["cp", "utf16", "utf8"]),
        bubble=st.sampled_from([60, 200]),
        room=st.sampled_from([0, 10, 1000]),
        patience=st.sampled_from([50, 100, 10_000, 10_000, 10_000]),
    )
    def begin(
        self,
        surface: Literal["edit", "post"],
        unit: Literal["cp", "utf16", "utf8"],
        bubble: int,
        room: int,
        patience: int,
    ) -> None:
        limit = bubble + room
        self.capabilities = Capabilities(surface=surface, unit=unit, bubble=bubble, limit=limit, post=(), edit=())
        self.reply = Reply(address=ADDRESS, capabilities=self.capabilities, run_id="r1")
        self.screen = Screen(self.capabilities, patience)
        self.may_cut_again = patience < bubble

    @precondition(lambda self: self.reason is None)
    @rule(text=texts, block=st.sampled_from(["b0", "b1"]))
    def say(self, text: str, block: str) -> None:
        self.paragraphs[-1] += text
        self.reply.feed(TextDelta(block_id=block, text=text))

    @precondition(lambda self: self.reason is None)
    @rule(event=quiet)
    def happen(self, event: Event) -> None:
        before = self.reply.need()
        self.reply.feed(event)
        assert self.reply.need() == before

    @precondition(lambda self: self.reason is None)
    @rule(event=breaks)
    def pause(self, event: Event) -> None:
        self.reply.feed(event)
        self.paragraphs.append("")

    @precondition(lambda self: self.reason is None)
    @rule(error=st.sampled_from(get_args(ErrorType)))
    def fail(self, error: ErrorType) -> None:
        self.reply.feed(Error(error_type=error, error_message="secret", retryable=False))
        self.error = error
        self.end("error")

    @precondition(lambda self: self.reason is None)
    @rule(reason=st.sampled_from(get_args(EndReason)))
    def stop(self, reason: EndReason) -> None:
        self.end(reason)

    @precondition(lambda self: self.screen.in_flight is None)
    @rule()
    def grant(self) -> None:
        self.grant_slot()

    @precondition(lambda self: self.reason is None and self.capabilities.surface == "edit")
    @rule()
    def catch_up(self) -> None:
        while self.screen.in_flight or self.reply.need():
            self.settle("done") if self.screen.in_flight else self.grant_slot()
        if not self.may_cut_again and self.reply.failure is None:
            self.compare_live()

    @precondition(lambda self: self.screen.in_flight is not None)
    @rule(fate=fates)
    def meet(self, fate: Fate) -> None:
        self.settle(fate)

    @precondition(lambda self: self.screen.in_flight is not None)
    @rule()
    def lose_the_right_to_speak(self) -> None:
        self.forbidden = True
        self.settle("forbidden")
        assert self.reply.failure == "channel_not_found"

    @precondition(lambda self: self.screen.messages)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        self.screen.messages[data.draw(st.sampled_from(sorted(self.screen.messages)))].deleted = True

    @invariant()
    def nothing_is_needed_while_something_is_in_flight(self) -> None:
        if self.screen.in_flight is not None:
            assert self.reply.need() is None
            assert self.reply.next_operation() is None
            assert not self.reply.done

    @invariant()
    def nothing_is_needed_once_it_is_done(self) -> None:
        if self.reply.done:
            assert self.reply.need() is None
            assert self.reply.next_operation() is None
            assert self.reason is not None or self.reply.failure is not None

    def teardown(self) -> None:
        if self.reason is None:
            self.end("complete")
        for _ in range(200 + 2 * sum(map(len, self.paragraphs))):
            if self.reply.done:
                break
            self.settle("done") if self.screen.in_flight else self.grant_slot()
        assert self.reply.done, "it never ends"
        if not self.forbidden and self.doubts < DOUBTS:
            assert self.reply.failure is None
            self.compare()

    def end(self, reason: EndReason) -> None:
        self.reason = reason
        self.reply.feed(AgentEnd(reason=reason, final_response="", turn_count=1, message_count=1, usage=Usage()))

    def grant_slot(self) -> None:
        need = self.reply.need()
        operation = self.reply.next_operation()
        if operation is None:
            assert self.reply.need() is None, "a slot was of no use, and yet it asks for another"
            return
        assert need is not None
        assert need.message_id == (operation.message_id if isinstance(operation, EditMessage) else None)
        assert need.priority == Priority.FINAL or self.capabilities.surface == "edit"
        self.screen.begin(operation, doubt=self.doubt)

    def settle(self, fate: Fate) -> None:
        operation = self.screen.in_flight
        outcome = self.screen.end(fate)
        self.doubt = isinstance(outcome, Unknown)
        assert operation is not None
        assert not isinstance(outcome, Forbidden) or self.forbidden
        self.doubts += isinstance(outcome, Unknown) and isinstance(operation, PostMessage)
        self.reply.settle(outcome)
        assert (self.reply.failure is not None) == (self.forbidden or self.doubts == DOUBTS)

    def compare(self) -> None:
        bubbles, messages = self.reply.bubbles, self.screen.messages
        for bubble in bubbles:
            message = messages[bubble.message_id]
            assert message.deleted or message.text == bubble.text
            assert not message.unheard
        self.compare_order(bubbles)
        self.compare_text([bubble.text for bubble in bubbles if bubble.text != MAY_BE_A_REPEAT])
        self.compare_doubts(bubbles)

    def compare_order(self, bubbles: list[Bubble]) -> None:
        places = [list(self.screen.messages).index(bubble.message_id) for bubble in bubbles]
        assert places == sorted(set(places)), "out of order, or a message that shows two bubbles"
        text = "".join(self.paragraphs)
        at = 0
        for bubble in bubbles:
            assert at <= bubble.start <= bubble.end
            assert not text[at : bubble.start].strip(), "text that no bubble stands for"
            at = bubble.end
        assert not text[at:].strip()

    def compare_text(self, shown: list[str]) -> None:
        expected = [chunk for text in self.paragraphs for chunk in chunks_of(text, self.capabilities)]
        sentence = self.sentence(answered=bool(expected))
        if sentence:
            chunks = split(sentence, self.capabilities.bubble, unit=self.capabilities.unit)
            expected += [chunk.text for chunk in chunks]
        if self.may_cut_again:
            rest = iter(letters(shown))
            assert all(letter in rest for letter in letters(expected)), "something is missing, or out of order"
        else:
            assert shown == expected

    def sentence(self, *, answered: bool) -> str:
        reason = self.reason or "complete"
        if reason == "complete":
            return "" if answered else NO_ANSWER
        sentence = FAILURES[self.error] if reason == "error" and self.error else ENDINGS[reason]
        return sentence if sentence.endswith(")") else f"{sentence} Reference: r1)"

    def compare_doubts(self, bubbles: list[Bubble]) -> None:
        """What stands there beside the bubbles was in doubt, and what follows says so; our own words need no word."""
        places = {bubble.message_id: bubble for bubble in bubbles}
        ours = (MAY_BE_A_REPEAT, self.sentence(answered=False))
        ahead = False
        for message_id, message in self.screen.messages.items():
            bubble = places.get(message_id)
            if bubble is not None:
                assert bubble.text == MAY_BE_A_REPEAT or not ahead
                ahead = False
            elif not message.deleted:
                assert message.unheard
                ahead = ahead or not any(message.text in words for words in ours)
        assert not ahead, "a stray message with nothing behind it"
        assert sum(bubble.text == MAY_BE_A_REPEAT for bubble in bubbles) <= self.doubts

    def compare_live(self) -> None:
        """Where the model pauses, all that it said stands there."""
        chunker = Chunker(self.capabilities.bubble, unit=self.capabilities.unit)
        chunker.feed(self.paragraphs[-1])
        live, sealed = chunker.preview(), {bubble.message_id for bubble in self.reply.bubbles}
        standing = [message.text for message_id, message in self.screen.messages.items() if message_id not in sealed]
        assert not live or live in standing[-1:]


TestReplyOnScreen: Any = ReplyOnScreen.TestCase
