"""One module or folder a chat platform; no platform knows another."""
