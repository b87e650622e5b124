"""What is shown of a call that waits for a person: all that it would do, and later what came of that. Pure.

Rule 1: the whole input is shown, and nothing in it can hide, or pose as something else or as words of ours: it is JSON
        in a fence that nothing inside can close, and what cannot be seen stands there as an escape.
Rule 2: the question is one message. Where the input has no room in it, that goes before it, in as many as it takes.
Rule 3: buttons stand below an open question and nowhere else, and nowhere where they could not be taken away.
Rule 4: of several wordings the longest that fits is shown; where none does, nobody can be asked.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from chunker import split
from gateway import approval
from gateway.event import ApprovalRequested, ApprovalResolved, JsonObject
from gateway.operation import Button
from gateway.place import Place

RUN = 8
"""Backticks in a row that an input may show as they are, at most: the fence has one more."""

_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What is no space and no control character by its category, and can be seen all the same by nobody."""

_DECISIONS = {
    "approved": "**Approved{by}.**",
    "denied": "**Denied{by}.** It was not run.",
    "expired": "**Expired:** nobody decided in time. It was not run.",
    "withdrawn": "**Withdrawn.** It was not run.",
}


_LONGEST = "w" * 120
"""About as much as is ever said of what was decided and what came of it; a question leaves room for that."""


@dataclass(slots=True)
class Petition:
    """One approval, from the question to what came of it.

    ``apart``: the input stands in front of the question. ``tried``: how many of the wordings are too long.
    """

    request: ApprovalRequested
    place: Place
    resolved: ApprovalResolved | None = None
    over: bool = False
    apart: bool = False
    tried: int = 0
    fenced: str = ""

    def __post_init__(self) -> None:
        self.fenced = fenced(self.request.input)
        self.apart = not all(map(self._fits, (self._asking()[0], self._telling(_LONGEST, "")[0])))

    @property
    def open(self) -> bool:
        """Whether it waits for a decision."""
        return self.resolved is None and not self.over

    @property
    def input(self) -> str:
        """What stands in front of the question; nothing where the input is part of it."""
        return f"{code(self.request.tool_name)} is to run with this input:\n\n{self.fenced}" if self.apart else ""

    @property
    def buttons(self) -> tuple[Button, ...]:
        """What stands below it now."""
        capabilities = self.place.capabilities
        if not self.open or not capabilities.buttons or capabilities.surface == "post":
            return ()
        return approval.buttons(self.request.approval_id, may_stand=self.request.may_stand)

    @property
    def resolution(self) -> str:
        """Who decided what, for where the question cannot be changed."""
        return f"({code(self.request.tool_name)}: {self._decision()})"

    def text(self, outcome: str) -> str:
        """What its message is to show; nothing where none of its wordings fits.

        Args:
            outcome: what came of the call so far, in a sentence, or nothing.
        """
        return next((text for _, text in self._wordings(outcome) if self._fits(text)), "")

    def narrow(self, outcome: str) -> None:
        """The platform takes its text for too long: the next wording, and if it is open, the input goes in front."""
        shown = next((at for at, text in self._wordings(outcome) if self._fits(text)), self.tried)
        self.tried, self.apart = shown + 1, self.apart or self.open

    def _wordings(self, outcome: str) -> Iterator[tuple[int, str]]:
        asks = self.open or self.place.capabilities.surface == "post"
        texts = self._asking() if asks else self._telling(self._decision(), outcome)
        first = max(self.tried, 1 if self.apart else 0)
        return ((at, text) for at, text in enumerate(texts) if at >= first)

    def _asking(self) -> tuple[str, str, str]:
        name, how = code(self.request.tool_name), self._how()
        return (
            f"**Allow {name}?**\n\n{self.fenced}\n\n{how}",
            f"**Allow {name} with the input above?**\n\n{how}",
            f"**Allow this?** {approval.words(self.request.approval_id, self.place.sign)}",
        )

    def _telling(self, decision: str, outcome: str) -> tuple[str, str, str, str]:
        name, said = code(self.request.tool_name), f"{decision} {outcome}".strip()
        above = " with the input above" if self.apart else ""
        whole = f"I asked to run {name}:\n\n{self.fenced}\n\n{said}"
        return whole, f"I asked to run {name}{above}. {said}", said, decision

    def _how(self) -> str:
        words = approval.words(self.request.approval_id, self.place.sign)
        typed = f"type {words}" if self.place.sign else f"mention me with {words}"
        return f"Press a button, or {typed}." if self.buttons else f"To decide, {typed}."

    def _decision(self) -> str:
        decision = "withdrawn" if self.resolved is None else self.resolved.decision
        by = None if self.resolved is None else self.resolved.by
        return _DECISIONS[decision].format(by=f" by {self.place.named(by) or code(by)}" if by else "")

    def _fits(self, text: str) -> bool:
        capabilities = self.place.capabilities
        return len(split(text, capabilities.bubble, unit=capabilities.unit, fits=capabilities.fits)) == 1


def fenced(given: JsonObject) -> str:
    """An input as JSON in a fence, as it is, but for what would not be seen."""
    shown = re.sub(f"(`{{{RUN}}})`", r"\1\\u0060", visible(json.dumps(given, indent=2, ensure_ascii=False)))
    fence = "`" * max(3, 1 + _longest(shown))
    return f"{fence}json\n{shown}\n{fence}"


def visible(text: str) -> str:
    """A text in which all that cannot be seen, but for plain spaces and the ends of lines, is a JSON escape."""
    return re.sub(r"[^\n -~]", lambda found: found[0] if _seen(found[0]) else _escapes(found), text)


def code(words: str) -> str:
    """Words in a span of code, all of them in one line, that they cannot end."""
    shown = visible(words).replace("\n", "\\n").strip() or "(no name)"
    ticks = "`" * (1 + _longest(shown))
    space = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def _seen(char: str) -> bool:
    return unicodedata.category(char) not in _UNSEEN and not _IGNORABLE.match(char)


def _escapes(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _longest(text: str) -> int:
    """How long the longest run of backticks is."""
    return max((len(list(run)) for char, run in groupby(text) if char == "`"), default=0)
