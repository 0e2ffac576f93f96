"""Decide what a caller may reach: folders, CI keys, blobs, sessions it opened."""
