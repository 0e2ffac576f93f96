"""Claude Code: its wire format, its driver, its options and the transcripts it keeps."""
