"""The model protocols that this gateway speaks, one module each, loaded by name."""
