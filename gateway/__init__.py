"""The gateway between a language model's agent and chat platforms."""
