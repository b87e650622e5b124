"""The tools that ship, one file each, loaded by name."""
