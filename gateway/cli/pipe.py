"""What a command does whose output nobody reads any more: it ends by SIGPIPE, as Unix commands do."""

import os
import signal


def end_when_closed() -> None:
    """End silently as soon as standard output is found closed.

    Only for commands without sockets: these too would end the process when their other side goes away.
    """
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def end_now() -> None:
    """End silently, now that standard output was found closed."""
    end_when_closed()
    if hasattr(signal, "SIGPIPE"):
        os.kill(os.getpid(), signal.SIGPIPE)
