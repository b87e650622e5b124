"""The root of all our errors, and those that cross a contract."""


class DragomanError(Exception):
    """Something went wrong that we foresaw. Where a person can mend it, the message says how."""


class AdapterError(DragomanError):
    """A platform does not let us in."""


class ConfigurationError(DragomanError):
    """The configuration cannot be used."""


class UsageError(DragomanError):
    """The command was asked for what it cannot do, or given what it cannot read."""


class StoreError(DragomanError):
    """The store did not take something."""


class PairingError(DragomanError):
    """Nobody has the code that was confirmed, or is paired by the name that was revoked."""


class UnreadableError(StoreError):
    """The oldest open message of a conversation cannot be read. ``sequence`` is its number; ``reject`` closes it."""

    def __init__(self, message: str, sequence: int) -> None:
        super().__init__(message)
        self.sequence = sequence


class OwnershipLostError(StoreError):
    """A write came from a process that no longer owns the conversation; it must stop working on it."""
