"""A server that wants a log-in, and somebody who goes where that is done."""

from __future__ import annotations

import socket
import sys
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.agents.rig import HERE


def wants_log_in() -> dict[str, object]:
    """The files of a repository with such a server, and with what answers for it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = [str(HERE / "oauth_server.py"), str(port)]
    servers = {
        "door": {"command": sys.executable, "args": ["-I", "-S", *program]},
        "harbour": {"type": "http", "url": f"http://127.0.0.1:{port}/mcp"},
    }
    agreed = {"enableAllProjectMcpServers": True}
    return {".mcp.json": {"mcpServers": servers}, ".claude/settings.local.json": agreed}


def visiting(address: str) -> str:
    """A command that does what a person's browser does after the log-in.

    The address leads to the CLI's own machine, where there is no browser but this one.
    """
    asked = dict(parse_qsl(urlsplit(address).query))
    given = urlencode({"code": "aye", "state": asked["state"]})
    back = f"{asked['redirect_uri']}?{given}"
    return f"{sys.executable} -c \"import urllib.request as u; u.urlopen('{back}').read()\""
