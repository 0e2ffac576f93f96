"""Measurements. Every figure stands beside an anchor taken in the same run."""
