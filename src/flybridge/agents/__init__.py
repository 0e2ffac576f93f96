"""The kinds of agents: those that come with Flybridge, and those that other packages add."""
