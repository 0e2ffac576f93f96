"""Read and repair transcripts of Claude Code. Pure: the lines come from outside."""
