"""All the waiting: keepers, links, sessions, fan-out, replies."""
