"""Other programs' languages, typed and sans-IO: bytes in, messages out."""
