"""``flybridge ipc``."""
