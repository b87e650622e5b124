"""Where mailboxes and histories are kept; one module a database, loaded by name."""
