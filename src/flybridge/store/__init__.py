"""Where things last: journals and blobs."""
