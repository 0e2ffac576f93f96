"""The doors clients come in by."""
