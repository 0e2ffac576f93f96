from __future__ import annotations

import base64

import pytest

from flybridge.agents.demo.pictures import dimensions
from flybridge.agents.demo.scenes.large import CREW, FILE_BYTES, LINES, OUTPUT_BYTES, PIXELS, TOOLS
from tests.harness.agent_host import Host, allow, results, shape
from tests.harness.line_process import Json


def played(what: str) -> list[Json]:
    with Host() as host:
        return host.play(f"large {what}", allow)


def calls(messages: list[Json]) -> list[Json]:
    return [m["message"]["content"][0] for m in messages if shape(m) == "assistant/tool_use"]


@pytest.mark.parametrize("what", ["output", "line", "colours"])
def test_output_is_longer_than_anything_that_is_shown_at_once(what: str) -> None:
    (result,) = results(played(what))
    text = result["message"]["content"][0]["content"]
    assert OUTPUT_BYTES * 0.9 < len(text) < OUTPUT_BYTES * 1.1
    assert ("\n" in text) is (what != "line")
    assert ("\x1b[" in text) is (what == "colours")


def test_a_change_has_a_patch_of_all_its_lines() -> None:
    messages = played("diff")
    (hunk,) = results(messages)[0]["tool_use_result"]["structuredPatch"]
    assert (hunk["oldLines"], hunk["newLines"]) == (LINES, LINES)
    assert len([line for line in hunk["lines"] if line[0] != " "]) == LINES


def test_a_file_is_as_large_as_it_says_and_is_not_written() -> None:
    (call,) = calls(played("file"))
    assert len(call["input"]["content"]) >= FILE_BYTES


def test_a_picture_is_one() -> None:
    (result,) = results(played("picture"))
    (block,) = result["message"]["content"][0]["content"]
    data = base64.b64decode(block["source"]["data"])
    assert dimensions(data) == (PIXELS, PIXELS)
    assert result["tool_use_result"]["file"]["base64"] == block["source"]["data"]


def test_many_tools_are_called_in_one_turn() -> None:
    assert len(calls(played("tools"))) == TOOLS


def test_helpers_send_out_helpers() -> None:
    messages = played("agents")
    started = {one["id"] for one in calls(messages) if one["name"] == "Agent"}
    first, second, third = CREW
    assert len(started) == first + first * second + first * second * third == 50
    parents = {m["parent_tool_use_id"] for m in messages if shape(m) == "assistant/tool_use"}
    assert parents == started | {None}
