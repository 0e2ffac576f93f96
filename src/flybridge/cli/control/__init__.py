"""``flybridge control`` and ``flybridge team``."""
