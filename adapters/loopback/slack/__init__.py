"""A Slack on this machine: Web API and Socket Mode for the real SDK, with Slack's rules enforced."""

from adapters.loopback.slack.change import Change as Change
from adapters.loopback.slack.envelope import Acknowledgement as Acknowledgement
from adapters.loopback.slack.envelope import Redelivery as Redelivery
from adapters.loopback.slack.loopback import LoopbackSlack as LoopbackSlack
from adapters.loopback.slack.message import Message as Message
from adapters.loopback.slack.ping import Ping as Ping
from adapters.loopback.slack.venue import open_venue as open_venue
from adapters.loopback.slack.workspace import Channel as Channel
from adapters.loopback.slack.workspace import User as User
from adapters.loopback.slack.workspace import Workspace as Workspace
