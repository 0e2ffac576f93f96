"""``flybridge chat``."""
