"""The signals by which we are asked to end."""

import signal


def signals() -> tuple[signal.Signals, ...]:
    """SIGTERM, and SIGHUP, which a closed terminal sends; not where ``nohup`` has had that one ignored."""
    hangup = getattr(signal, "SIGHUP", None)
    heeded = hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN
    return (signal.SIGTERM, hangup) if hangup is not None and heeded else (signal.SIGTERM,)
