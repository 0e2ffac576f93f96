"""Serve HTTP: parse and check requests, call the handler of a route, write responses."""
