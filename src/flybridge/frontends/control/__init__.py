"""The control front end: one message in, one honest acknowledgement out."""
