"""What the CLI asks of its host, beside permissions: each request gets an answer.

Hooks, MCP servers and dialogs of the host's are asked for only by a CLI that was told of them
in ``initialize``, and we tell it of none. Should it ask all the same, it must neither wait for
ever nor be held up: a hook that is not there has nothing against it, a server that is not there
knows no method, and a person who cannot be shown a form has closed it.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Raw

from flybridge.agents.claude.wire import encode
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import fields, text

_NAME = 256
_KNOWN = (  # to be asked of hosts that declared something
    "hook_callback",
    "mcp_message",
    "elicitation",
    "request_user_dialog",
    "oauth_token_refresh",
    "host_auth_token_refresh",
    "ui_",
)
_UNANSWERED = "request_user_dialog"  # a dialog nobody declared: the CLI asks elsewhere then
_METHOD_NOT_FOUND = -32601


def reply_to(request: w.OtherRequest) -> bytes | None:
    """The line that answers it; None: it is not to be answered."""
    asked = fields(fields(request.line).get("request", Raw(b"{}")))
    match request.subtype:
        case "hook_callback":
            return encode.success(request.request_id, Raw(b"{}"))
        case "mcp_message":
            said = {"mcp_response": _no_method(asked)}
            return encode.success(request.request_id, Raw(msgspec.json.encode(said)))
        case "elicitation":
            return encode.success(request.request_id, Raw(b'{"action":"cancel"}'))
        case subtype if subtype == _UNANSWERED:
            return None
        case subtype:
            return encode.failure(request.request_id, f"not supported: {subtype[:_NAME]}")


def notice_of(request: w.OtherRequest) -> str:
    """What a person should know of it; the empty string: nobody here knows this request."""
    if request.subtype != "elicitation":
        known = request.subtype.startswith(_KNOWN)
        name = request.subtype[:_NAME]
        return f"the agent asked for {name}, which nobody here answers" if known else ""
    asked = fields(fields(request.line).get("request", Raw(b"{}")))
    server = text(asked.get("mcp_server_name", UNSET))[:_NAME] or "an MCP server"
    wanted = text(asked.get("message", UNSET))[:_NAME]
    return f"{server} wanted to know something that cannot be answered from here: {wanted}"


def _no_method(asked: dict[str, Raw]) -> dict[str, object]:
    """A JSON-RPC error; a notification has no id, and what answers it is not read."""
    message = fields(asked.get("message", Raw(b"{}")))
    server = text(asked.get("server_name", UNSET))[:_NAME]
    error = {"code": _METHOD_NOT_FOUND, "message": f"the host has no MCP server {server!r}"}
    name = message.get("id", Raw(b"null"))
    return {"jsonrpc": "2.0", "id": name, "error": error}
