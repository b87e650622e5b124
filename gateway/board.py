"""What stays on the screen and changes: the lines about tools, and the approvals. Pure.

Rule 1: what a board shows is worked out from the events alone, so a run that is told again has the same boards.
Rule 2: a call that a person was asked about is told of in its approval, any other in a line about tools.
Rule 3: a board of which this reply has not been told shows nothing.
"""

from collections.abc import Iterator
from dataclasses import replace

from gateway.activity import Activity
from gateway.draft import Piece
from gateway.event import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    ToolProgress,
    ToolResult,
    ToolStart,
    ToolUseStart,
)
from gateway.operation import Button
from gateway.petition import Petition
from gateway.place import Place


class Boards:
    """The boards of one run, each known by the piece that stands for it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._activity = Activity()
        self._petitions: dict[str, Petition] = {}
        self._room = place.capabilities.bubble
        self._texts: dict[tuple[str, tuple[str, ...]], str] = {}

    @property
    def open(self) -> Iterator[str]:
        """The approvals that wait for a decision."""
        return (name for name, petition in self._petitions.items() if petition.open)

    def feed(self, event: Event) -> None:
        """Take in what the run did."""
        match event:
            case ApprovalRequested(approval_id=name):
                if name not in self._petitions:
                    self._petitions[name] = Petition(event, self._place)
            case ApprovalResolved(approval_id=name):
                if name in self._petitions:
                    self._petitions[name].resolved = event
            case ToolUseStart() | ToolStart() | ToolProgress() | ToolResult():
                self._activity.feed(event)
            case _:
                return
        self._texts.clear()

    def end(self) -> None:
        """The run is over: nothing goes on, and nothing is to be decided any more."""
        self._activity.end()
        for petition in self._petitions.values():
            petition.over = True
        self._texts.clear()

    def asked_for(self, tool_use_id: str) -> bool:
        """Whether a person was asked about a call."""
        return any(each.request.tool_use_id == tool_use_id for each in self._petitions.values())

    def text(self, piece: Piece) -> str:
        """What a piece shows now; nothing where it is not to be shown."""
        if not piece.changes:
            return piece.text
        about = piece.kind, piece.board
        if (text := self._texts.get(about)) is None:
            text = self._texts[about] = self._text(piece)
        return text

    def buttons(self, piece: Piece) -> tuple[Button, ...]:
        """What stands below a piece now."""
        petition = self._petition(piece)
        return petition.buttons if petition is not None else ()

    def rests(self, piece: Piece) -> bool:
        """Whether a piece will go on showing what it shows, as far as can be seen."""
        if piece.kind == "activity":
            return not self._activity.works(piece.board)
        petition = self._petition(piece)
        if petition is None or self._place.capabilities.surface == "post":
            return True
        done = self._activity.ended(petition.request.tool_use_id)
        return not petition.open and (done or petition.resolved is None or petition.resolved.decision != "approved")

    def input(self, name: str) -> str:
        """What has to stand in front of an approval: what it is about, where that has no room in it."""
        return self._petitions[name].input

    def resolution(self, name: str) -> str:
        """Who decided what; nothing where nobody was asked."""
        return self._petitions[name].resolution if name in self._petitions else ""

    def narrow(self, piece: Piece) -> str:
        """The platform takes a board for too long: it gets shorter. What has to stand in front of it for that."""
        petition = self._petition(piece)
        if petition is None:
            self._room = len(self.text(piece).encode()) * 3 // 4
            before = after = ""
        else:
            before = petition.input
            petition.narrow(self._outcome(petition))
            after = petition.input
        self._texts.clear()
        return "" if before else after

    def written(self, piece: Piece, *, rests: bool) -> Piece:
        """A board as it is written down: with its text, if that is what whoever reads it will have to know."""
        known = rests or self._place.capabilities.surface == "post"
        return replace(piece, text=self.text(piece)) if known else piece

    def _text(self, piece: Piece) -> str:
        if piece.kind == "activity":
            return self._activity.text(self._room, piece.board)
        petition = self._petition(piece)
        return petition.text(self._outcome(petition)) if petition is not None else ""

    def _outcome(self, petition: Petition) -> str:
        approved = petition.resolved is not None and petition.resolved.decision == "approved"
        return self._activity.outcome(petition.request.tool_use_id) if approved else ""

    def _petition(self, piece: Piece) -> Petition | None:
        return self._petitions.get(piece.board[0]) if piece.kind == "approval" else None
