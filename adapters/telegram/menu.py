"""The commands that clients offer while one types.

Source: https://core.telegram.org/bots/api#setmycommands
"""

import logging

from adapters.telegram.outcome import Answer, NoAnswer
from adapters.telegram.web import Web
from gateway.payload import objects

log = logging.getLogger(__name__)

COMMANDS = (
    ("new", "Begin anew: what was said so far is forgotten"),
    ("stop", "End the answer that is being given"),
    ("status", "What is going on here"),
    ("approve", "Let a tool do what it asks for"),
    ("deny", "Do not let a tool do what it asks for"),
    ("approvals", "What waits for approval, and what is allowed for good"),
    ("revoke", "Allow a tool no more for good: its name"),
    ("ask", "Ask something, in a group"),
    ("help", "What you may ask for"),
)


async def offer(web: Web) -> None:
    """Set the commands, if they are others; nothing depends on it."""
    known = await web.ask("get_my_commands")
    if not isinstance(known, Answer) or not known.ok:
        _tell(known)
        return
    if [(each.get("command"), each.get("description")) for each in objects(known.result)] == list(COMMANDS):
        return
    answer = await web.ask("set_my_commands", commands=list(COMMANDS))
    if not isinstance(answer, Answer) or not answer.ok:
        _tell(answer)


def _tell(answer: Answer | NoAnswer) -> None:
    reason = answer.reason if isinstance(answer, NoAnswer) else f"HTTP {answer.status} {answer.description}"
    log.warning("the list of commands could not be set, so clients offer none or old ones: %s", reason)
