"""Claude Code over stdio."""
