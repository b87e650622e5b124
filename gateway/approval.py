"""Who may let a tool do what it asks for, and by which words and buttons. Pure.

Rule 1: who asked for the run decides, or an approver of the configuration; nobody else.
Rule 2: an approval decides itself, and is decided where it was asked.
Rule 3: nothing but these buttons and commands is ever taken for consent.
Rule 4: here is only said what a person wants and whether they may; that the first decision counts is the store's word.
"""

import base64
import re
from collections.abc import Sequence
from hashlib import blake2s

from gateway.inbound import CommandReceived, PressReceived
from gateway.operation import Button
from gateway.store import Approval, Decision

ID = re.compile(r"[a-z2-7]{7}[2-7]")
"""What an approval is called: short enough to be typed, and no word, for it ends in a digit."""

_ALWAYS = "always"
_DATA = re.compile(rf"(approve|always|deny):({ID.pattern})")

UNKNOWN = "(I do not ask for that here, or not any more.)"
NOTHING_OPEN = "(Nothing waits for approval here.)"
NOT_YOURS = "(Only who asked me, or an approver, may decide this.)"


WAITING = "(I wait until somebody decides whether I may use `{tool}`: {words}. I answer this message behind that.)"


def waiting(approval: Approval, sign: str) -> str:
    """What is said to who writes while an approval is open; ``sign`` stands in front of commands there."""
    return WAITING.format(tool=approval.tool_name.replace("`", ""), words=words(approval.id, sign))


def identifier(seed: str, tool_use_id: str) -> str:
    """The name of the approval of a call: the same after a restart, and no other's.

    Args:
        seed: names the run among all runs of all conversations.
        tool_use_id: the call.
    """
    digest = blake2s(f"{seed}\0{tool_use_id}".encode(), digest_size=6).digest()
    return base64.b32encode(digest[:5]).decode().lower()[:7] + str(2 + digest[5] % 6)


def buttons(approval_id: str, *, may_stand: bool) -> tuple[Button, ...]:
    """What an open approval is decided with; ``may_stand``: for the whole conversation, too."""
    standing = (Button(label="Always here", data=f"always:{approval_id}"),) if may_stand else ()
    return (
        Button(label="Allow", data=f"approve:{approval_id}", style="go"),
        *standing,
        Button(label="Deny", data=f"deny:{approval_id}", style="stop"),
    )


def words(approval_id: str, sign: str) -> str:
    """What may be typed instead; ``sign`` stands in front of commands there."""
    return f"`{sign}approve {approval_id}` or `{sign}deny {approval_id}`"


def wanted(inbound: PressReceived | CommandReceived, waiting: Sequence[Approval]) -> Decision | str:
    """What a person wants to decide; or the sentence that says why that cannot be.

    Args:
        inbound: a press, or one of the commands ``approve`` and ``deny``.
        waiting: the approvals that are open in its conversation.
    """
    if isinstance(inbound, PressReceived):
        found = _DATA.fullmatch(inbound.data)
        return UNKNOWN if found is None else _decision(found[2], found[1])
    given = inbound.argument.lower().split()
    named = [word for word in given if word != _ALWAYS]
    verb = _ALWAYS if inbound.command == "approve" and _ALWAYS in given else inbound.command
    match named:
        case []:
            return _decision(waiting[0].id, verb) if waiting else NOTHING_OPEN
        case [name] if ID.fullmatch(name):
            return _decision(name, verb)
        case _:
            return UNKNOWN


def refusal(approval: Approval | None, conversation: str, user: str, *, approver: bool) -> str | None:
    """Why this person's decision does not count, in a sentence; none where it does, if it is the first.

    Args:
        approval: the one that it is about, or none where there is no such.
        conversation: in which they decide.
        user: who does.
        approver: the configuration lets them decide for others.
    """
    if approval is None or approval.conversation != conversation:
        return UNKNOWN
    if user != approval.asker and not approver:
        return NOT_YOURS
    return None if approval.state == "open" else settled(approval)


def settled(approval: Approval) -> str:
    """What is said to who comes too late."""
    match approval.state:
        case "open":
            return ""
        case "approved":
            return "(This was approved already.)"
        case "denied":
            return "(This was denied already.)"
        case "expired":
            return "(This has expired: nobody decided in time, so nothing was done.)"
        case "withdrawn":
            return "(There is nothing left to decide about this.)"


def _decision(approval_id: str, verb: str) -> Decision:
    return Decision(approval_id=approval_id, granted=verb != "deny", standing=verb == _ALWAYS)
