"""Our own protocol."""
