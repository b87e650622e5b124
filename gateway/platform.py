"""The platforms that are configured."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from gateway.access import Allow
from gateway.adapter import Adapter
from gateway.address import Address

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A configured platform: its adapter, and who may use it. That is asked again when a message's turn has come."""

    name: str
    adapter: Adapter
    allow: Allow


def platform_of(conversation: str, platforms: Mapping[str, Platform]) -> Platform | None:
    """The platform that a conversation is on, by the conversation's key; none where it is not configured."""
    try:
        platform = platforms.get(Address.from_key(conversation).platform)
    except ValueError as error:
        log.error("%s: its messages wait: %s", conversation, error)  # noqa: TRY400 - the message says it whole
        return None
    if platform is None:
        log.error("%s: its platform is not configured; its messages wait", conversation)
    return platform
