"""Tools of an agent that is not Claude are shown by their kind, from the agent to the terminal."""

from __future__ import annotations

import msgspec

from flybridge.cli.chat.prompts import PermissionBox, QuestionBox
from flybridge.cli.export.markdown import MarkdownExport
from flybridge.cli.rendering.calls import Calls
from flybridge.client.items import EventItem
from flybridge.client.transcript import Transcript
from flybridge.frontends.companion.prompts import of_permission
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.deliveries import Stage
from tests.harness.other_agent import script
from tests.harness.runtime_harness import House
from tests.harness.screen_model import Sheet

STEPS = (
    {"tool": "shell", "input": {"command": "ls -l", "about": "List"}, "result": "a"},
    {"tool": "hunt", "input": {"about": "keel", "files": ["src"]}, "result": "b"},
    {"tool": "peek", "input": {"files": ["log.txt"]}, "result": "c"},
    {"tool": "get", "input": {"address": "https://a.example"}, "result": "d"},
    {"tool": "helper", "input": {"about": "scout"}, "result": "e"},
    {"tool": "list", "input": {"about": "2 tasks"}, "result": "only the list counts"},
    {"tool": "brew", "input": {"about": "tea", "cups": 2}, "result": "f"},
)
PATCH = {"tool": "patch", "input": {"files": ["a.txt"], "change": "-old\n+new"}, "ask": True}


def items(house: House) -> list[EventItem]:
    events = house.client.events
    return [
        EventItem(seq, seq, event, msgspec.json.encode(event))
        for seq, event in enumerate(events, 1)
    ]


async def test_calls_are_one_line_each_by_their_kind(house: House) -> None:
    live = await house.open("courier")
    assert (await house.say(live, script(*STEPS), "r1")).stage == Stage.DONE
    sheet = Sheet()
    calls, export, transcript = Calls(sheet, lines=5, width=80), MarkdownExport(), Transcript()
    text = ""
    for item in items(house):
        transcript.apply(item)
        text += export.event(item)
        if isinstance(item.event, e.ToolStarted):
            calls.started(item.event)
        elif isinstance(item.event, e.ToolResult):
            calls.returned(item.event)
    sheet.fresh()
    shown = [line.removeprefix("● ") for line in sheet.text.split("\n") if line.startswith("●")]
    assert shown == [
        "shell ls -l",
        "hunt keel in src",
        "peek log.txt",
        "get https://a.example",
        "helper scout",
        "list 2 tasks",
        "brew tea",
    ]
    headings = [line for line in text.split("\n") if line.startswith("#### Tool ")]
    assert headings == [
        "#### Tool shell · `ls -l`",
        "#### Tool hunt · `keel in src`",
        "#### Tool peek · `log.txt`",
        "#### Tool get · `https://a.example`",
        "#### Tool helper · `scout`",
        "#### Tool list · `2 tasks`",
        "#### Tool brew · `tea`",
    ]
    assert "only the list counts" not in sheet.text
    assert text.count("only the list counts") == 1  # in the message that asked for it
    kinds = [block.tool for block in transcript.blocks.values() if block.kind == "tool"]
    assert kinds == ["execute", "search", "read", "fetch", "agent", "task", "other"]


async def test_an_edit_is_asked_about_with_its_difference_and_its_whole_input(
    house: House,
) -> None:
    live = await house.open("courier")
    await house.say(live, script(PATCH), "r1", Stage.WRITTEN)
    asked = await house.saw(e.PermissionRequested)
    box = PermissionBox(asked, width=60, height=40)
    rows = [text for _, text in box.page()]
    assert "permission: patch" in rows
    assert "  - old" in rows
    assert "  + new" in rows
    assert '  files: ["a.txt"]' in rows
    on_a_device = of_permission(asked)
    assert (on_a_device.detail, on_a_device.edits) == ("a.txt", "a.txt")
    answer = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="allow")
    await house.submit(live.session, answer, "a1", Stage.DONE)
    await house.saw(e.TurnEnded)
    export = MarkdownExport()
    text = "".join(map(export.event, items(house)))
    assert "```diff\n-old\n+new\n```" in text


async def test_a_plan_is_one_by_its_kind(house: House) -> None:
    live = await house.open("courier")
    plan = {"tool": "route", "input": {"about": "north", "steps": ["sail"]}, "ask": True}
    shell = {"tool": "shell", "input": {"command": "x", "plan": "no plan"}, "ask": True}
    await house.say(live, script(plan, shell), "r1", Stage.WRITTEN)
    for count, title in enumerate(("plan to review: route", "permission: shell"), 1):
        asked = await house.saw(e.PermissionRequested, count)
        assert PermissionBox(asked, width=60, height=40).title == title
        answer = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="deny")
        await house.submit(live.session, answer, f"a{count}", Stage.DONE)
    await house.saw(e.TurnEnded)


async def test_a_question_of_another_agent_is_answered_under_its_own_id(house: House) -> None:
    live = await house.open("courier")
    question = {"id": "harbour", "question": "Where to?", "options": [{"label": "Home"}]}
    await house.say(live, script({"ask_question": [question]}), "r1", Stage.WRITTEN)
    asked = await house.saw(e.QuestionRequested)
    box = QuestionBox(asked, width=60)
    assert "1. Home" in [text for _, text in box.page()]
    answer = box.enter("1")
    assert isinstance(answer, c.AnswerQuestion)
    assert answer.answers == {"harbour": ("Home",)}
    await house.submit(live.session, answer, "a1", Stage.DONE)
    text = await house.saw(e.TextDone)
    assert text.text == 'answered: {"harbour": ["Home"]}'
    await house.saw(e.TurnEnded)
    export = MarkdownExport()
    assert "- Where to? **Home**" in "".join(map(export.event, items(house)))
