"""``flybridge doctor``."""
