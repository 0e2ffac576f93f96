"""Keepers: the processes that hold agents, and the starter that is their parent."""
