"""The IPC of a bridge to one parent program: NDJSON in on stdin, NDJSON out on stdout."""
