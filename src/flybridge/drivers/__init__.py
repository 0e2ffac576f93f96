"""One agent's language each, as facts and commands of ours; pure."""
