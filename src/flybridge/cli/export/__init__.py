"""Write a session as a document or as its events."""
