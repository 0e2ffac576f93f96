"""Contract kits for drivers, adapters and journals, and agents that misbehave on purpose."""
