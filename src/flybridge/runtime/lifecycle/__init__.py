"""Start, adopt, resume, fork and stop the agent of a session."""
