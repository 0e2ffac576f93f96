"""Claude Code's stream-json, as both sides speak it: what the CLI says, what a host says."""
