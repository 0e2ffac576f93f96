"""The native protocol: what Flybridge's own clients and its gateway say to each other."""
