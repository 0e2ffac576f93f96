"""Inputs nobody would think of, one harness for each thing that reads them."""
