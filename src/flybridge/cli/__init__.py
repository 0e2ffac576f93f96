"""The command line: one package per group of commands, each a client of the gateway."""
