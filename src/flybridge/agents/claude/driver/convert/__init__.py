"""Convert Claude's messages to structs of the model, and back. Functions without state."""
