"""A small MCP server over stdio: two tools and a resource.

Stdlib only, run by its path: a CLI starts it. ``add`` adds two numbers, ``die`` ends the
server in the middle of a call.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

NUMBERS = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
TOOLS = [
    {"name": "add", "description": "adds two numbers", "inputSchema": NUMBERS},
    {"name": "die", "description": "ends the server", "inputSchema": {"type": "object"}},
]
CHART = {"uri": "chart://harbour", "name": "harbour", "mimeType": "text/plain"}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": {"name": "sums", "version": "1.0"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call" if params["name"] == "die":
            os._exit(1)
        case "tools/call":
            total = params["arguments"]["a"] + params["arguments"]["b"]
            return {"content": [{"type": "text", "text": f"the sum is {total}"}]}
        case "resources/list":
            return {"resources": [CHART]}
        case "resources/read":
            return {"contents": [{**CHART, "text": "two fathoms at the quay"}]}
        case _:
            return {}


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            told = answer(asked["method"], asked.get("params") or {})
            reply = {"jsonrpc": "2.0", "id": asked["id"], "result": told}
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
