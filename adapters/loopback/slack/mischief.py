"""What goes wrong at random on a Slack, and what does not."""

ERRORS = ("fatal_error", "internal_error", "service_unavailable")
"""Slack's documents say of these that some aspect of the operation may have succeeded before."""

SPARED = frozenset({"apps.connections.open", "auth.test"})
"""Calls that go well: without them nobody gets in, and the SDK waits unscaled seconds for the first."""
