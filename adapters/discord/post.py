"""Our own messages, as the gateway tells of them: what became of a post of which nobody heard. Pure.

Rule 1: a post with a nonce that Discord has told of is there, and is not made again: Discord itself knows a nonce for a
    few minutes only, and a post may have to wait for longer.

Source: https://docs.discord.com/developers/resources/message#create-message (``nonce``: "Value will appear in the
Message Create event"; ``enforce_nonce``: "in the past few minutes").
"""

from collections import OrderedDict

REMEMBERED = 10_000


class Posts:
    """Which messages our nonces became."""

    def __init__(self) -> None:
        self._messages: OrderedDict[str, str] = OrderedDict()

    def heard(self, nonce: object, message: object) -> None:
        """Discord has told of a message of ours; without a nonce of ours it is none that anybody asks for."""
        if isinstance(nonce, str) and nonce and isinstance(message, str):
            self._messages[nonce] = message
            while len(self._messages) > REMEMBERED:
                self._messages.popitem(last=False)

    def message(self, nonce: str) -> str | None:
        """The message that was posted with a nonce; none where Discord has told of none."""
        return self._messages.get(nonce)
