"""One package per front end: wire format, adapter, service and the routes it publishes."""
