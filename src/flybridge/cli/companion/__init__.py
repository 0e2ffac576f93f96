"""``flybridge companion`` and ``flybridge devices``."""
