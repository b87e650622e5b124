"""The root of all our errors, and those that cross a contract."""


class DragomanError(Exception):
    """Something that a person can mend; the message says how."""


class AdapterError(DragomanError):
    """A platform does not let us in."""


class ConfigurationError(DragomanError):
    """The configuration cannot be used."""


class UsageError(DragomanError):
    """The command was asked for what it cannot do, or given what it cannot read."""


class StoreError(DragomanError):
    """The store did not take something."""


class OwnershipLostError(StoreError):
    """A write came from a process that no longer owns the conversation; it must stop working on it."""
