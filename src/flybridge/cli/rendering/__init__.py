"""Render a transcript as text for a terminal."""
