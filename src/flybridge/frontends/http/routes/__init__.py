"""What can be asked for over HTTP: one table of routes, each with the scope it needs."""
