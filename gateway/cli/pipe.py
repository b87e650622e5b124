"""What a command does whose output nobody reads any more."""

import signal


def end_when_closed() -> None:
    """End silently by SIGPIPE, as Unix commands do, when standard output is closed.

    Only for commands without sockets: these too would end the process when their other side goes away.
    """
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
