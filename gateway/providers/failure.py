"""How a model call fails, the same for all protocols."""

from gateway.event import Error, ErrorType

RETRYABLE = frozenset[ErrorType]({"incomplete_stream", "overloaded", "rate_limited", "server", "timeout"})
"""What may go well the next time. The rest fails alike until a person mends it."""

_STATUSES: dict[int, ErrorType] = {
    401: "authentication",
    402: "authentication",  # the account is not in order
    403: "authentication",
    408: "timeout",
    409: "server",
    429: "rate_limited",
    504: "timeout",
    529: "overloaded",  # Anthropic's own
}


def failure(error_type: ErrorType, message: str) -> Error:
    """The event of a failed call. ``message`` is for the operator."""
    return Error(error_type=error_type, error_message=message, retryable=error_type in RETRYABLE)


def by_status(status: int) -> ErrorType:
    """What an HTTP status of 300 and above means, where the body does not say it better."""
    return _STATUSES.get(status) or ("server" if status >= 500 else "invalid_request")
