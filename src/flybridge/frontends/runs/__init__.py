"""The run front end: a session's log as the frames of one run."""
