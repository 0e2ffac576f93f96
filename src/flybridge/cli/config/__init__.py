"""``flybridge config``."""
