"""Lines as the CLI writes them, and what a driver makes of them."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from flybridge.agents.claude.driver.driver import ClaudeDriver
from flybridge.model import commands as c
from flybridge.model.content import Text
from flybridge.model.ids import InputKey
from flybridge.session.ports import Out
from flybridge.testing.drivers import NOW_MS, SESSION

T = TypeVar("T")


def line(**fields: Any) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()


def init(**fields: Any) -> bytes:
    told = {"session_id": "s", "model": "m", "permissionMode": "default"} | fields
    return line(type="system", subtype="init", **told)


def event(body: dict[str, Any], parent: str | None = None) -> bytes:
    return line(type="stream_event", event=body, parent_tool_use_id=parent)


def message_start(name: str = "msg_1", parent: str | None = None) -> bytes:
    return event({"type": "message_start", "message": {"id": name}}, parent)


def block_start(block: dict[str, Any], index: int = 0, parent: str | None = None) -> bytes:
    body = {"type": "content_block_start", "index": index, "content_block": block}
    return event(body, parent)


def text_start(index: int = 0) -> bytes:
    return block_start({"type": "text", "text": ""}, index)


def tool_start(tool: str, index: int = 0, name: str = "Bash") -> bytes:
    return block_start({"type": "tool_use", "id": tool, "name": name, "input": {}}, index)


def delta(text: str, index: int = 0, field: str = "text", parent: str | None = None) -> bytes:
    body = {"type": "content_block_delta", "index": index, "delta": {field: text}}
    return event(body, parent)


def block_stop(index: int = 0) -> bytes:
    return event({"type": "content_block_stop", "index": index})


def assistant(
    *blocks: dict[str, Any], name: str = "msg_1", parent: str | None = None, **fields: Any
) -> bytes:
    body = {"id": name, "content": list(blocks)}
    return line(type="assistant", message=body, parent_tool_use_id=parent, **fields)


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def tool_use(tool: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": tool, "name": name, "input": given}


def tool_result(
    tool: str,
    content: Any = "out",
    parent: str | None = None,
    is_error: bool = False,
    **fields: Any,
) -> bytes:
    block = {
        "type": "tool_result",
        "tool_use_id": tool,
        "content": content,
        "is_error": is_error,
    }
    body = {"role": "user", "content": [block]}
    return line(type="user", message=body, parent_tool_use_id=parent, **fields)


def user(content: Any, **fields: Any) -> bytes:
    return line(type="user", message={"role": "user", "content": content}, **fields)


def result(**fields: Any) -> bytes:
    told = {"subtype": "success", "is_error": False} | fields
    return line(type="result", **told)


def can_use_tool(request: str = "r1", tool: str = "t1", name: str = "Bash", **fields: Any) -> bytes:
    asked = {"input": {"command": "rm a"}} | fields
    body = {"subtype": "can_use_tool", "tool_name": name, "tool_use_id": tool, **asked}
    return line(type="control_request", request_id=request, request=body)


def response(request: str, **fields: Any) -> bytes:
    body = {"subtype": "success", "request_id": request} | fields
    return line(type="control_response", response=body)


def hear(driver: ClaudeDriver, *lines: bytes) -> list[Out]:
    """What the driver makes of these lines, read at once."""
    driver.receive(lines, NOW_MS)
    return [what for _, what in driver.take().out]


def tell(driver: ClaudeDriver, command: c.Command, key: str = "test:1") -> list[dict[str, Any]]:
    """What the driver writes for a command."""
    driver.send(SESSION, command, InputKey(key), NOW_MS)
    output = driver.take()
    assert output.out == []
    return [json.loads(one.data) for one in output.lines]


def refused(driver: ClaudeDriver, command: c.Command, key: str = "test:1") -> list[Out]:
    """What the driver says about a command for which it writes nothing."""
    driver.send(SESSION, command, InputKey(key), NOW_MS)
    output = driver.take()
    assert output.lines == []
    return [what for _, what in output.out]


def say(driver: ClaudeDriver, words: str = "hi", key: str = "test:1") -> dict[str, Any]:
    (written,) = tell(driver, c.SendInput(content=(Text(words),)), key)
    return written


def called(
    driver: ClaudeDriver,
    tool: str,
    name: str,
    detail: object,
    given: dict[str, Any] | None = None,
) -> list[Out]:
    """What comes of a call of this tool with this result, beside the call and the result."""
    said = assistant(tool_use(tool, name, **(given or {})))
    facts = hear(driver, said, tool_result(tool, tool_use_result=detail))
    usual = ("TurnBegan", "ItemOpened", "ToolCalled", "ToolReturned")
    return [one for one in facts if type(one).__name__ not in usual]


def kinds(facts: list[Out]) -> list[str]:
    return [type(one).__name__ for one in facts]


def only(facts: list[Out], kind: type[T]) -> T:
    """The one fact of this kind."""
    (found,) = [one for one in facts if isinstance(one, kind)]
    return found


def printed(said: str, **fields: Any) -> bytes:
    """What a local slash command prints from 2.1.80 to 2.1.299, in the model's place."""
    body = {"id": "made-up", "model": "<synthetic>", "content": [text(said)]}
    return line(type="assistant", message=body, parent_tool_use_id=None, **fields)


def lifecycle(uuid: str, state: str) -> bytes:
    return line(type="command_lifecycle", command_uuid=uuid, state=state)


def requesting() -> bytes:
    return line(type="system", subtype="status", status="requesting")
