"""Commands that run, serve and stop the gateway."""
