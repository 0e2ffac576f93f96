"""Probes of Claude Code: what the measured versions do, and whether another does the same."""
