"""What is logged: on standard error, and without secrets, whoever wrote the line."""

import logging

from gateway.redaction import redact

TALKATIVE = ("aiohttp.access", "discord", "httpcore", "httpcore2", "httpx", "httpx2")
"""Libraries that tell of every call, or every connection, as loudly as we of what an operator wants to know."""


class Clean(logging.Formatter):
    """Writes a record without secrets: message, arguments, and the traceback that hangs on it."""

    def format(self, record: logging.LogRecord) -> str:
        """See ``logging.Formatter``."""
        return redact(super().format(record))


def begin(level: int, form: str, handler: logging.Handler | None = None) -> None:
    """Log what is at least so grave, in that form; of what libraries say of each call only what went wrong.

    On standard error, where there is no other handler.
    """
    handler = handler or logging.StreamHandler()
    handler.setFormatter(Clean(form))
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(level)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
