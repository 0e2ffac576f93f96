"""Send control messages to a gateway."""
