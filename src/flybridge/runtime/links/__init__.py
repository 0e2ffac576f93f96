"""Links: numbered lines to and from an agent, over a keeper or a socket."""
