"""``flybridge sessions``."""
