"""Takes in what people decide about approvals.

Rule 1: what ``approval`` says is asked of the store's word each time, so that a decision counts once, whoever is quick.
Rule 2: who may not decide, or comes too late, is told so, alone; nothing else comes of it.
"""

from collections.abc import Callable
from dataclasses import replace

from gateway import approval
from gateway.inbound import CommandReceived, PressReceived
from gateway.store import Approvals, Decision, Stored


class Clerk:
    """Says what a press or a command decides, and what is said about that to who gave it.

    Args:
        approvals: what waits, and what was decided.
        approver: whether a user of a platform may decide for others.

    Raises:
        StoreError: from every method, where the store refuses.
    """

    def __init__(self, approvals: Approvals, approver: Callable[[str, str], bool]) -> None:
        self._approvals = approvals
        self._approver = approver

    async def weigh(self, inbound: PressReceived | CommandReceived) -> Decision | str:
        """What is decided by it, if it is the first; or the sentence that says why nothing is."""
        conversation = inbound.address.key
        wanted = approval.wanted(inbound, await self._approvals.open(conversation))
        if isinstance(wanted, str):
            return wanted
        found = await self._approvals.find(wanted.approval_id)
        approver = self._approver(inbound.address.platform, inbound.user)
        if (sentence := approval.refusal(found, conversation, inbound.user, approver=approver)) is not None:
            return sentence
        return replace(wanted, standing=wanted.standing and found is not None and found.may_stand)

    async def answer(self, weighed: Decision | str, stored: Stored) -> str:
        """What is said to who gave it; nothing where what they decided counts, since everybody sees that."""
        if isinstance(weighed, str):
            return weighed
        if stored.decided:
            return ""
        found = await self._approvals.find(weighed.approval_id)
        return approval.UNKNOWN if found is None else approval.settled(found)
