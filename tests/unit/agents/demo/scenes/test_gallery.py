from __future__ import annotations

from tests.harness.agent_host import Host, results, shape


def test_every_kind_of_tool_is_called_and_none_is_asked_about() -> None:
    with Host() as host:
        messages = host.turn("tools")
    calls = [m["message"]["content"][0] for m in messages if shape(m) == "assistant/tool_use"]
    names = {call["name"] for call in calls}
    assert {"Glob", "Grep", "Read", "WebFetch", "WebSearch", "NotebookEdit", "Bash"} <= names
    assert any(name.startswith("mcp__") for name in names)
    assert not [m for m in messages if m["type"] == "control_request"]
    failed = [m for m in results(messages) if m["message"]["content"][0].get("is_error")]
    assert len(failed) == 2
