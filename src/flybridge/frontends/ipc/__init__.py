"""The IPC front end: one conversation at a time, with the program that started it."""
