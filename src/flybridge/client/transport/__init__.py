"""Connect to a gateway: Unix socket, TCP and TLS, framing, retries."""
