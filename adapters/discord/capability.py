"""What Discord can do, as data.

Its limits stand in the headers of its answers only ("should not be hard coded"); what stands here holds until they are
known: a little under what others saw, so that no window of five seconds is overrun even if it begins in the middle.
Source: https://docs.discord.com/developers/topics/rate-limits
"""

from dataclasses import replace
from functools import partial

from adapters.discord.markup import fits
from gateway.adapter import Budget, Capabilities, Surface, UnknownOutcome

EVERYTHING = Budget(name="everything", scope="account", rate=40, burst=8)
"""50 a second, whatever it is; what goes by an interaction's token is not counted."""

_GAP = 1 / 1.2
"""Edits a second of one message: more of them nobody reads."""

POST = (Budget(name="message", scope="thread", rate=0.6, burst=2), EVERYTHING)
EDIT = (
    Budget(name="edit", scope="thread", rate=0.6, burst=2),
    Budget(name="edit", scope="message", rate=_GAP, burst=1),
    EVERYTHING,
)
DELETE = (Budget(name="delete", scope="thread", rate=0.6, burst=2), EVERYTHING)
MARK = (Budget(name="reaction", scope="thread", rate=1.0, burst=1), EVERYTHING)
TYPING = (Budget(name="typing", scope="thread", rate=0.6, burst=2), EVERYTHING)

BY_TOKEN = Budget(name="webhook", scope="thread", rate=0.6, burst=2)
"""What goes by an interaction's token. That each has a budget of its own is not used: guests are few."""

PRIVATE = (Budget(name="private", scope="thread", rate=1.0, burst=3),)
"""What is said to who pressed goes by the press's own token, of which each has a budget; somebody may press often."""

TYPING_EVERY = 8.0
"""Platform seconds; it is seen for ten."""

NONCE_LIFE = 120.0
"""Platform seconds in which a nonce is known for certain; Discord says "in the past few minutes".

Source: https://docs.discord.com/developers/resources/message#create-message
"""

GUEST_BUBBLE = 1_950
GUEST_MESSAGES = 6
"""The first answer and five that follow it."""


def capabilities(*, surface: Surface, bubble: int, unknown_outcome: UnknownOutcome) -> Capabilities:
    """What holds where the bot is a member, and for guests."""
    member = Capabilities(
        surface=surface,
        unit="cp",
        bubble=bubble,
        post=POST,
        edit=EDIT,
        delete=DELETE,
        mark=MARK,
        typing=TYPING,
        private=PRIVATE,
        buttons=True,
        fits=partial(fits, limit=bubble),
        reconciliation="nonce",
        nonce_life=NONCE_LIFE,
        typing_every=TYPING_EVERY,
        slash=True,
        mention="<@{}>",
        unknown_outcome=unknown_outcome,
    )
    guest = replace(
        member,
        bubble=GUEST_BUBBLE,
        fits=partial(fits, limit=GUEST_BUBBLE),
        messages=GUEST_MESSAGES,
        post=(BY_TOKEN,),
        edit=(BY_TOKEN, Budget(name="webhook", scope="message", rate=_GAP, burst=1)),
        delete=(BY_TOKEN,),
        mark=(),
        typing=(),
        typing_every=None,
        reconciliation="none",
    )
    return replace(member, guest=guest)
