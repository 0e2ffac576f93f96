"""Find out who a peer is: credentials, tickets, the process behind a socket."""
