from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from flybridge.agents.claude.driver.convert.query_results import (
    TYPED,
    to_context,
    to_models,
    to_rewind,
    to_servers,
)
from flybridge.model.deliveries import Answer
from flybridge.model.queries import (
    RESULTS,
    ContextPart,
    ContextUsage,
    McpServer,
    ModelInfo,
    RewindPreview,
)
from flybridge.testing.drivers import NOW_MS, SESSION
from tests.harness.claude_cli import hear, response
from tests.harness.claude_recordings import attached

GOLDEN = Path(__file__).parents[5] / "golden" / "claude"


def raw(value: object) -> Raw:
    return Raw(json.dumps(value).encode())


def recorded(name: str, key: str) -> Raw:
    """Return the first recorded answer that has this key."""
    for line in (GOLDEN / name).read_text().splitlines():
        record: dict[str, Any] = json.loads(line)
        if record.get("dir") == "out" and "control_response" in record["line"]:
            answer = json.loads(record["line"])["response"].get("response")
            if isinstance(answer, dict) and answer.get(key):
                return raw(answer)
    raise AssertionError(f"no {key} in {name}")


def test_the_context_of_a_real_cli_is_read() -> None:
    usage = to_context(recorded("2.1.325/context_usage.jsonl", "categories"))
    assert (usage.used, usage.window) == (10159, 1_000_000)
    assert usage.parts[0] == ContextPart(name="System prompt", tokens=1648)
    assert "System tools (deferred)" not in [part.name for part in usage.parts]


def test_the_servers_of_a_real_cli_are_read() -> None:
    demo, broken = to_servers(recorded("2.1.325/mcp.jsonl", "mcpServers")).servers
    assert demo == McpServer(
        name="demo", status="connected", version="1.0", scope="dynamic", tools=("add",)
    )
    assert (broken.status, broken.error[:6]) == ("failed", "ENOENT")


def test_models_and_rewinding_are_read() -> None:
    model = {"value": "opus", "displayName": "Opus", "description": "the big one"}
    assert to_models(raw({"models": [model, {"displayName": "no id"}]})).models == (
        ModelInfo(id="opus", name="Opus", about="the big one"),
    )
    files = {"canRewind": True, "filesChanged": ["/a"], "insertions": 2, "deletions": 1}
    assert to_rewind(raw(files)) == RewindPreview(
        possible=True, files=("/a",), insertions=2, deletions=1
    )
    refused = to_rewind(raw({"canRewind": False, "error": "not enabled"}))
    assert (refused.possible, refused.reason) == (False, "not enabled")


def test_what_a_model_can_do_is_told_for_each_where_the_cli_tells_it() -> None:
    able = {"supportsEffort": True, "supportedEffortLevels": ["low", 7, "high"]}
    new = [
        {"value": "default", "resolvedModel": "claude-x", "supportsFastMode": True, **able},
        {"value": "vague", "supportsEffort": True},
        {"value": "haiku"},
    ]
    found = to_models(raw({"models": new})).models
    assert [(one.id, one.resolved, one.efforts, one.fast) for one in found] == [
        ("default", "claude-x", ("low", "high"), True),
        ("vague", "", None, False),
        ("haiku", "", (), False),
    ]
    (old,) = to_models(raw({"models": [{"value": "opus"}]})).models
    assert (old.efforts, old.fast) == (None, None)


@pytest.mark.parametrize("answer", [b"[]", b"7", b'{"models":7}', b'{"categories":[1,null,{}]}'])
@pytest.mark.parametrize("name", TYPED)
def test_whatever_the_cli_says_is_no_error(name: str, answer: bytes) -> None:
    result = TYPED[name][1](Raw(answer))
    kind = {key: value for key, value in RESULTS.items() if key == name}.popitem()[1]
    assert msgspec.json.decode(msgspec.json.encode(result), type=kind) == result


def test_a_typed_query_is_put_in_the_clis_words_and_answered_in_ours() -> None:
    driver = attached()
    driver.query(SESSION, "ref", "context", Raw(b"{}"), NOW_MS)
    (line,) = driver.take().lines
    assert json.loads(line.data)["request"]["subtype"] == "get_context_usage"
    (answer,) = hear(driver, response("fb-kit-1", response={"totalTokens": 5, "maxTokens": 9}))
    assert isinstance(answer, Answer)
    assert msgspec.json.decode(answer.value, type=ContextUsage) == ContextUsage(used=5, window=9)  # type: ignore[arg-type]
    driver.query(SESSION, "ref", "weather", Raw(b"{}"), NOW_MS)
    assert [what for _, what in driver.take().out] == [Answer("ref", error="not_supported")]
