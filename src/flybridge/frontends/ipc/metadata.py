"""What the agent says of itself, as ``system_metadata`` repeats it."""

from __future__ import annotations

from msgspec import UNSET, Raw

from flybridge.frontends.ipc.bodies import Blobs, fields, text, whole_detail
from flybridge.frontends.ipc.wire import messages as w
from flybridge.model import events as ev

_ARRAY, _WORD = Raw(b"[]"), Raw(b'""')


class About:
    """The agent as it last introduced itself.

    It does so when it starts (``offered``: its models and commands) and at the start of a turn
    (``told``: its tools, its mode and the rest). Between turns it may send a part of either, for
    example a new list of commands; that replaces the same part and nothing else.
    """

    def __init__(self, cwd: str = "") -> None:
        self.cwd = cwd
        self.session = ""  # the agent's own name for the conversation
        self.model = ""
        self.mode = ""
        self.version = ""
        self.commands: dict[str, str] = {}
        self.told: dict[str, Raw] = {}
        self.offered: dict[str, Raw] = {}

    def ready(self, event: ev.AgentReady, blobs: Blobs) -> None:
        detail = {
            name: Raw(bytes(raw)) for name, raw in fields(whole_detail(event.detail, blobs)).items()
        }
        if "tools" in detail:
            self.told = detail
        else:
            self.offered = {**self.offered, **detail}
            if "slash_commands" in detail:
                self.told = {**self.told, "slash_commands": detail["slash_commands"]}
        self.session = event.agent_session or self.session
        self.model = event.model or self.model
        self.mode = event.mode or self.mode
        self.version = event.version or self.version
        self.commands = event.commands or self.commands

    def message(self) -> w.SystemMetadata:
        told = self.told
        return w.SystemMetadata(
            session_id=self.session,
            cwd=text(told.get("cwd", UNSET)) or self.cwd,
            tools=told.get("tools", _ARRAY),
            model=self.model,
            permission_mode=self.mode,
            slash_commands=told.get("slash_commands", _ARRAY),
            plugins=told.get("plugins", _ARRAY),
            agents=told.get("agents", _ARRAY),
            skills=told.get("skills", _ARRAY),
            mcp_servers=told.get("mcp_servers", _ARRAY),
            version=self.version,
            output_style=told.get("output_style", _WORD),
            fast_mode_state=told.get("fast_mode_state", _WORD),
            api_key_source=told.get("apiKeySource", _WORD),
        )
