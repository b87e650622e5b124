"""What an outcome means for the message that an operation was about. One table, read by ``message`` and ``reply``."""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from gateway.operation import (
    AppendText,
    DeleteMessage,
    EditMessage,
    EditRefused,
    Expired,
    FinishStream,
    Forbidden,
    MarkupRejected,
    MessageGone,
    NotModified,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    ReadThread,
    StartStream,
    ThreadRead,
    TooLong,
    Unknown,
    Unreachable,
)


class Verdict(Enum):
    """What becomes of a message."""

    SHOWN = "it shows the text that was sent"
    WAIT = "nothing has changed; the newest state goes as soon as the pacer allows"
    UNSURE = "what it shows is not known, so the newest state is sent whole"
    FIND = "whether it was posted has to be found out"
    READ = "the conversation was read, and tells whether it was posted"
    DOUBT = "whether it was posted cannot be found out"
    ANEW = "it is gone, so all of its chunk goes into a new one"
    REPLACE = "it cannot be changed any more: it is taken away, and all of its chunk goes into a new one"
    ORDINARY = "it goes again, by the ordinary route"
    PLAIN = "the same text at the same place, as plain text"
    SMALLER = "its chunk is cut again, smaller"
    CLOSE = "its stream is closed, and it is edited as a whole from then on"
    CLOSED = "its stream was closed, and it is edited as a whole from now on"
    GONE = "it is off the screen"
    STAYS = "it stays on the screen, since nobody can take it away"
    END = "the reply can go no further"


_Verdicts = dict[type[Outcome], Verdict]

_CREATE: _Verdicts = {
    Performed: Verdict.SHOWN,
    MarkupRejected: Verdict.PLAIN,
    TooLong: Verdict.SMALLER,
    Expired: Verdict.ORDINARY,
    Unknown: Verdict.FIND,
}
_CHANGE: _Verdicts = {
    Performed: Verdict.SHOWN,
    NotModified: Verdict.SHOWN,
    MessageGone: Verdict.ANEW,
    EditRefused: Verdict.REPLACE,
    Expired: Verdict.REPLACE,
    MarkupRejected: Verdict.PLAIN,
    TooLong: Verdict.SMALLER,
    Unknown: Verdict.UNSURE,
}
_GROW: _Verdicts = {
    Performed: Verdict.SHOWN,
    MessageGone: Verdict.ANEW,
    EditRefused: Verdict.REPLACE,
    Expired: Verdict.CLOSED,
    MarkupRejected: Verdict.PLAIN,
    TooLong: Verdict.CLOSE,
    Unknown: Verdict.UNSURE,
}
_DELETE: _Verdicts = {
    Performed: Verdict.GONE,
    NotModified: Verdict.GONE,
    MessageGone: Verdict.GONE,
    EditRefused: Verdict.STAYS,
    Expired: Verdict.STAYS,
    Unknown: Verdict.WAIT,
    Forbidden: Verdict.STAYS,
}
_READ: _Verdicts = {
    ThreadRead: Verdict.READ,
    Unknown: Verdict.WAIT,
    MessageGone: Verdict.DOUBT,
    Forbidden: Verdict.DOUBT,
}

_BY_OPERATION: dict[type[Operation], _Verdicts] = {
    PostMessage: _CREATE | {Expired: Verdict.END},  # it was the ordinary route
    StartStream: _CREATE,
    EditMessage: _CHANGE,
    AppendText: _GROW,
    FinishStream: _GROW,
    DeleteMessage: _DELETE,
    ReadThread: _READ,
}

TABLE: Mapping[type[Operation], Mapping[type[Outcome], Verdict]] = MappingProxyType(_BY_OPERATION)
"""The verdict on an outcome of an operation. Of every operation: rate limited and unreachable are ``WAIT``, and what
stands nowhere is ``END``."""


def verdict(operation: Operation, outcome: Outcome) -> Verdict:
    """What an outcome of an operation means."""
    if isinstance(outcome, RateLimited | Unreachable):
        return Verdict.WAIT
    return TABLE.get(type(operation), {}).get(type(outcome), Verdict.END)
