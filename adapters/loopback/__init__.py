"""Local servers that speak the platforms' wire protocols and enforce their rules."""
