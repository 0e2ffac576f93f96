"""What the demo agent can play: short scenes, each showing one thing and saying what it is."""
