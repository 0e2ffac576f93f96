"""Measures the page as a browser has it: `make bench-web`."""
