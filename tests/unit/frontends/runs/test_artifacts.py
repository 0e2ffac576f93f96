"""Files and plans."""

from __future__ import annotations

import json

from msgspec import Raw

from flybridge.frontends.runs.artifacts import of_diff, of_plan
from flybridge.model.diffs import DiffHunk
from flybridge.model.events import Diff, Plan
from flybridge.model.ids import ItemId


def diff(patch: object, path: str = "/w/a.txt") -> Diff:
    return Diff(item=ItemId("itm_1"), path=path, patch=Raw(json.dumps(patch).encode()))


def hunk(old: int, new: int, *lines: str) -> dict[str, object]:
    return {
        "oldStart": old,
        "oldLines": len([one for one in lines if one[0] != "+"]),
        "newStart": new,
        "newLines": len([one for one in lines if one[0] != "-"]),
        "lines": lines,
    }


def test_a_new_file_comes_whole() -> None:
    made = of_diff(diff([hunk(0, 1, "+one", "+two")]), "/w")
    assert (made.name, made.kind, made.path) == ("a.txt", "file", "/w/a.txt")
    assert made.content == "one\ntwo\n"


def test_a_change_is_a_unified_diff() -> None:
    made = of_diff(diff([hunk(3, 3, " a", "-b", "+c")], "/elsewhere/a.txt"), "/w")
    assert made.kind == "diff"
    assert made.name == "/elsewhere/a.txt"
    assert made.content.endswith("@@ -3,2 +3,2 @@\n a\n-b\n+c\n")


def test_a_patch_nobody_can_read_is_shown_as_it_is() -> None:
    assert of_diff(diff({"what": 1}), "/w").content == '{"what": 1}'


def test_plans_are_counted() -> None:
    assert of_plan(Plan(text="1. look"), 2).name == "plan-3"


def test_typed_hunks_are_read_before_what_the_agent_wrote_itself() -> None:
    hunk = DiffHunk(old_start=1, old_lines=1, new_start=1, new_lines=1, lines=("-a", "+b"))
    event = Diff(item=ItemId("i"), path="/p/a", patch=Raw(b'"its own form"'), hunks=(hunk,))
    assert of_diff(event, "/p").content == "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-a\n+b\n"
