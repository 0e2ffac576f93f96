"""Our own language: what is said inside Flybridge. Frozen structs, no behaviour."""
