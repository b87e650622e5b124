"""``dragoman`` with tools of the tests' own, for as long as no configuration can name any: run as a program.

All but the tools is the command as it is: they are put into the agent that the configuration describes.
"""

import fcntl
import os
import sys
import termios
from dataclasses import replace

from gateway import app
from gateway.agent import Agent
from gateway.cli import main
from gateway.configuration import Configuration
from gateway.role import Roles
from gateway.toolset import Toolset
from tests.unit.gateway.model import Fake

LOOK = Fake("look", result="A cat.\x1b[2J")
WRITE = Fake("write", result="Written.", safe=False, approval=True)
SLEEP = Fake("sleep", seconds=600)


def equipped(configuration: Configuration) -> tuple[Agent, Roles]:
    """The configured agent, with tools."""
    tools = Toolset(tools={tool.name: tool for tool in (LOOK, WRITE, SLEEP)})
    agent, roles = _agent(configuration)
    return replace(agent, tools=tools), roles


def own_terminal() -> None:
    """Make a terminal on standard input ours, so that what is typed there can interrupt us."""
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


if __name__ == "__main__":
    own_terminal()
    _agent, app.agent = app.agent, equipped
    sys.argv[0] = "dragoman"
    main()
