"""The demo agent: speaks Claude's stream-json, needs no key, says that it is a demo."""
