"""A database's file, and the lock that makes it one process's own."""

import fcntl
import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from gateway.error import StoreError


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold ``PATH.lock``, and have the database's file readable by its owner only: it holds what people say.

    Raises:
        StoreError: another process holds the lock, or the file cannot be used.
    """
    lock = Path(f"{path}.lock")
    with ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = _private(lock)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
            os.close(_private(path))
        except BlockingIOError as error:
            msg = (
                f"{path} is in use by process {lock.read_text().strip() or '(unknown)'}, which holds {lock}:"
                " stop that process, or configure another path"
            )
            raise StoreError(msg) from error
        except OSError as error:
            msg = f"{path} cannot be used ({error}): check its folder's permissions, or configure another path"
            raise StoreError(msg) from error
        yield


def expect(path: Path) -> None:
    """Make sure that the file is there, without opening it: closing it would give back SQLite's locks on it.

    Raises:
        StoreError: it is not there, or not ours to write to.
    """
    if not os.access(path, os.R_OK | os.W_OK):
        there = os.access(path, os.F_OK)
        why = "may not be written to by this user" if there else "is not there: the gateway has to have run once"
        msg = f"{path}: the store {why}; ask as the gateway's user, in its working folder or with its --config"
        raise StoreError(msg)


def _private(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
