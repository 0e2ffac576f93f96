"""``flybridge history``."""
