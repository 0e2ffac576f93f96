"""Who may do what without asking, what is asked, and what an answer allows."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from flybridge.agents.demo.blocks import Call
from flybridge.agents.demo.files import SCRATCH, inside
from flybridge.agents.demo.options import Options
from flybridge.agents.demo.stream import Json, Session

Standing: TypeAlias = Literal["allow", "deny", "ask"]

FREE = ("Agent", "TaskCreate", "TaskUpdate", "TodoWrite")  # they touch nothing
TO_PEOPLE = ("AskUserQuestion", "ExitPlanMode")  # no mode can answer these
EDITS = ("Edit", "Write")


class Prompt(msgspec.Struct, frozen=True, eq=False):
    """A permission asked for and not answered yet."""

    id: str
    request: Json
    call: Call
    answer: asyncio.Future[Json]

    def wire(self) -> Json:
        return {"type": "control_request", "request_id": self.id, "request": self.request}


class Permissions:
    """The open prompts of one turn and what was refused in it."""

    def __init__(self, session: Session, options: Options) -> None:
        self.prompts: dict[str, Prompt] = {}
        self.denials: list[Json] = []
        self.hung_up = False  # stdin is closed: nobody can answer any more
        self._session = session
        self._options = options

    def standing(self, call: Call) -> Standing:
        """What mode and rules say about a call before anybody is asked."""
        mode = self._session.mode
        if call.free or call.name in FREE or self._reads_scratch(call):
            return "allow"
        if call.name not in TO_PEOPLE and self._is_waved_through(call, mode):
            return "allow"
        if mode == "dontAsk" or self.hung_up or not self._options.asks:
            return "deny"
        return "ask"

    def _is_waved_through(self, call: Call, mode: str) -> bool:
        if mode == "bypassPermissions" or (mode == "acceptEdits" and call.name in EDITS):
            return True
        rule = (call.name, str(call.input.get("command", "")))
        return call.name == "Bash" and rule in self._session.rules

    def _reads_scratch(self, call: Call) -> bool:
        if call.name != "Read":
            return False
        scratch = str(Path(self._session.cwd) / SCRATCH)
        return inside(self._session.cwd, SCRATCH) is not None and (
            inside(scratch, str(call.input.get("file_path"))) is not None
        )

    def ask(self, call: Call) -> Prompt | Standing:
        """A new open prompt, or what needs none."""
        standing = self.standing(call)
        if standing != "ask":
            return standing
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        prompt = Prompt(str(uuid.uuid4()), request_of(call), call, future)
        self.prompts[prompt.id] = prompt
        return prompt

    def answered(self, request_id: str, answer: Json) -> bool:
        """Take the first answer to an open prompt; False if there is none such."""
        prompt = self.prompts.pop(request_id, None)
        if prompt is None:
            return False
        prompt.answer.set_result(answer)
        return True

    def refused(self, request_id: str) -> bool:
        """Close an open prompt whose turn ends with it; False if there is none such."""
        prompt = self.prompts.pop(request_id, None)
        if prompt is None:
            return False
        self.deny(prompt.call)
        return True

    def hang_up(self) -> None:
        """Nobody is left to answer: what is asked is refused."""
        self.hung_up = True
        for request_id in list(self.prompts):
            self.answered(request_id, {"behavior": "deny", "message": "stdin was closed"})

    def deny(self, call: Call) -> None:
        about = {"tool_name": call.name, "tool_use_id": call.id, "tool_input": call.input}
        self.denials.append(about)

    def remember(self, updates: object) -> bool:
        """Keep "always allow" for this process: exact commands and a mode, nothing else.

        True if the mode is another one now.
        """
        before = self._session.mode
        for update in _objects(updates):
            if update.get("type") == "addRules" and update.get("behavior") == "allow":
                self._session.rules.update(
                    (str(rule.get("toolName")), str(rule.get("ruleContent")))
                    for rule in _objects(update.get("rules"))
                )
            if update.get("type") == "setMode" and update.get("mode") == "acceptEdits":
                self._session.mode = "acceptEdits"
        return self._session.mode != before


def request_of(call: Call) -> Json:
    request: Json = {
        "subtype": "can_use_tool",
        "tool_name": call.name,
        "display_name": call.name,
        "input": call.input,
        "tool_use_id": call.id,
    }
    if call.by:
        request["agent_id"] = call.by.id
    if call.name in TO_PEOPLE:
        return {**request, "requires_user_interaction": True}
    more = {"description": call.description, "permission_suggestions": suggestions(call)}
    return {**request, **more}


def suggestions(call: Call) -> list[Json]:
    """What "always" could mean for a call."""
    if call.name == "Bash":
        rule = {"toolName": "Bash", "ruleContent": call.input["command"]}
        add: Json = {"type": "addRules", "rules": [rule], "behavior": "allow"}
        return [{**add, "destination": "session"}]
    if call.name in EDITS:
        return [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
    return []


def allowed_input(answer: Json, asked: Json) -> Json | None:
    """The input an answer allows, or None if it allows nothing."""
    if answer.get("behavior") != "allow":
        return None
    given = answer.get("updatedInput", {})
    if not isinstance(given, dict):
        return None
    return given or asked


def _objects(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
