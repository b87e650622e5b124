"""Anthropic's Messages API, and whatever else speaks it."""

from gateway.providers.anthropic_messages.connection import Settings, create
from gateway.providers.anthropic_messages.decoder import PROTOCOL, Decoder, decode

__all__ = ["PROTOCOL", "Decoder", "Settings", "create", "decode"]
