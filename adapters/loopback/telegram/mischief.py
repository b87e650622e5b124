"""What goes wrong at random on a Telegram, and what does not."""

ERRORS = ("Internal Server Error", "Bad Gateway", "Internal Server Error: restart")
"""What Telegram's servers say when something may have been done or not."""

SPARED = frozenset({"getMe", "setWebhook", "deleteWebhook", "getWebhookInfo", "getMyCommands", "setMyCommands"})
"""Calls that go well: without them nobody gets in."""
