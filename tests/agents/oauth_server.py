"""An MCP server over HTTP that wants a log-in, with the server that gives it.

    python oauth_server.py PORT

It serves 127.0.0.1:PORT for as long as its stdin is open. A CLI without a network starts it as
one of its MCP servers over stdio, where it has nothing to offer, and reaches it as another one
over HTTP. Stdlib only, run by its path.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "Bearer pilot"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def _send(self, status: int, body: object, wants: str = "") -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        if wants:
            self.send_header("WWW-Authenticate", f'Bearer resource_metadata="{wants}"')
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _answer(self) -> None:
        base = f"http://127.0.0.1:{sys.argv[1]}"
        given = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        if path.startswith("/.well-known/oauth-protected-resource"):
            self._send(200, {"resource": f"{base}/mcp", "authorization_servers": [base]})
        elif path.startswith("/.well-known/"):
            self._send(200, metadata(base))
        elif path == "/register":
            self._send(201, {**json.loads(given), "client_id": "cli"})
        elif path == "/token":
            self._send(200, {"access_token": "pilot", "token_type": "Bearer"})
        elif path != "/mcp":
            self._send(404, {})
        elif self.headers.get("Authorization") != TOKEN:
            self._send(401, {}, f"{base}/.well-known/oauth-protected-resource/mcp")
        elif self.command != "POST":
            self._send(405, {})
        else:
            message = json.loads(given)
            self._send(200 if "id" in message else 202, answer(message))

    do_GET = do_POST = do_DELETE = _answer  # noqa: N815 (the base class calls them so)


def answer(message: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"tools": []}
    if message["method"] == "initialize":
        told = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "harbour", "version": "1"},
        }
    return {"jsonrpc": "2.0", "id": message.get("id"), "result": told}


def metadata(base: str) -> dict[str, Any]:
    return {
        "issuer": base,
        "authorization_endpoint": f"{base}/authorize",
        "token_endpoint": f"{base}/token",
        "registration_endpoint": f"{base}/register",
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
    }


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            sys.stdout.write(json.dumps(answer(message)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
