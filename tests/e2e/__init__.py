"""Whole processes and the real SDKs, against the loopback servers."""
