"""What is logged holds no secret, whoever writes it."""

import io
import logging
import sys
from collections.abc import Iterator

import pytest

from gateway.cli.log import TALKATIVE, Clean, begin

FORM = "%(levelname)s %(name)s: %(message)s"


@pytest.fixture(autouse=True)
def root() -> Iterator[logging.Logger]:
    """The root logger, which is afterwards as it was."""
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield logger
    logger.handlers[:] = handlers
    logger.setLevel(level)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.NOTSET)


def test_message_arguments_and_traceback_are_written_without_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stderr", written := io.StringIO())
    begin(logging.INFO, FORM)
    log, secret = logging.getLogger("somebody.elses"), "".join(["SEC", "RET"])  # a traceback shows lines of source, too
    log.info(f"Connecting to wss://host/link/?ticket={secret}&app_id=A1")
    log.warning("refused: %s, %r", f"xoxb-{secret}", {"Authorization": f"Bearer {secret}"})
    error = ValueError(f"no answer from https://ada:{secret}@host/")
    log.error("failed with %s", f"xapp-1-{secret}", exc_info=error)
    assert "INFO somebody.elses: Connecting to wss://host/link/?ticket=…&app_id=A1" in written.getvalue()
    assert "WARNING somebody.elses: refused: xoxb-…, {'Authorization': 'Bearer …'}" in written.getvalue()
    assert "ERROR somebody.elses: failed with xapp-…" in written.getvalue()
    assert "ValueError: no answer from https://…@host/" in written.getvalue()
    assert secret not in written.getvalue()


def test_other_lines_are_written_as_they_are() -> None:
    record = logging.makeLogRecord({"name": "dragoman", "levelname": "INFO", "msg": "run %s ended", "args": ("r1",)})
    assert Clean(FORM).format(record) == "INFO dragoman: run r1 ended"


def test_what_libraries_say_of_each_call_drowns_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", written := io.StringIO())
    begin(logging.INFO, FORM)
    for name in ("httpx", "httpx2", "httpcore.connection", "aiohttp.access", "discord.gateway"):
        logging.getLogger(name).info("HTTP Request: POST")
        logging.getLogger(name).warning("something is wrong")
    logging.getLogger("gateway.app").info("ready")
    lines = written.getvalue().splitlines()
    assert len(lines) == 6
    assert lines[-1] == "INFO gateway.app: ready"
    assert "HTTP Request" not in written.getvalue()
