"""What goes wrong at random on a Discord, and what does not."""

ERRORS = ("0", "130000")
"""The codes of a server's error: none, and "API resource is currently overloaded"."""

SPARED = frozenset(
    {
        "GET /users/@me",
        "GET /oauth2/applications/@me",
        "GET /applications/@me",
        "GET /gateway",
        "GET /gateway/bot",
        "GET /applications/{application}/commands",
        "PUT /applications/{application}/commands",
        "PUT /applications/{application}/guilds/{guild}/commands",
    }
)
"""Calls that go well: without them nobody gets in, or is offered a command, and the SDK waits unscaled seconds."""
