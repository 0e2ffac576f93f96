"""Open a session from the command line: which session, its options, trust in its folder."""
