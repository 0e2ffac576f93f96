"""``flybridge adhoc`` and ``flybridge runs``."""
