"""The control protocol: other programs say something to a live session, or stop its turn."""
