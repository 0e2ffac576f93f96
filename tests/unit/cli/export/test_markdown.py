from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Raw

from flybridge.cli.export.markdown import MarkdownExport
from flybridge.client.items import EventItem
from flybridge.model import events as ev
from flybridge.model.content import Text
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId, TurnId

TURN = TurnId("trn_1")
KEY = InputKey("token:ada:1")
ROW = {
    "session": "ses_0123456789abcdef",
    "agent": "demo",
    "cwd": "/a|b",
    "title": "My *title*",
    "created_ms": 0,
    "status": "idle",
}


def exported(events: Sequence[ev.Event], *, lines: int = 200) -> str:
    document = MarkdownExport(lines=lines)
    parts = [document.head(ROW)]
    for seq, event in enumerate(events, 1):
        parts.append(document.event(EventItem(seq, seq * 1000, event, msgspec.json.encode(event))))
    return "".join([*parts, document.tail()])


def body(events: Sequence[ev.Event], *, lines: int = 200) -> str:
    """What stands between the head and the cost."""
    text = exported(events, lines=lines)
    return text[text.index("| status |") :].split("\n", 1)[1].split("\n## Cost")[0].strip("\n")


def accepted(text: str, mode: str = "auto") -> ev.InputAccepted:
    content = (Text(text),)
    return ev.InputAccepted(
        key=KEY, kind="message", by="token:ada", fingerprint="", content=content, mode=mode
    )


def called(name: str, given: object, item: str = "i", parent: str = "") -> ev.ToolStarted:
    raw = Raw(msgspec.json.encode(given))
    return ev.ToolStarted(item=ItemId(item), name=name, input=raw, parent=ItemId(parent))


def test_a_session_reads_like_a_document() -> None:
    text = exported(
        [
            accepted("hello"),
            ev.TurnStarted(turn=TURN),
            ev.ThinkingDone(item=ItemId("t"), text="hm"),
            ev.TextDone(item=ItemId("a"), text="# Hi\nthere"),
            ev.TurnEnded(turn=TURN, cost_usd=0.5),
        ]
    )
    assert text == (
        "# My \\*title\\*\n\n| | |\n|---|---|\n| session | `ses_0123456789abcdef` |\n"
        "| agent | demo |\n| directory | `/a\\|b` |\n| opened | 1970-01-01 00:00:00 UTC |\n"
        "| status | idle |\n"
        "\n## Turn 1 · 1970-01-01 00:00:01 UTC\n"
        "\n### token:ada · 00:00:01\n\nhello\n"
        "\n### demo · 00:00:03\n"
        "\n<details>\n<summary>Thinking</summary>\n\nhm\n\n</details>\n"
        "\n##### Hi\nthere\n"
        "\n*done · 3.0 s · $0.5000*\n"
        "\n## Cost\n\n| turn | ended | time | cost |\n|---|---|---|---|\n"
        "| 1 | done | 3.0 s | $0.5000 |\n| all | | 3.0 s | $0.5000 |\n"
    )


def test_a_call_shows_what_was_asked_and_what_came_of_it() -> None:
    text = body(
        [
            ev.TurnStarted(turn=TURN),
            called("Bash", {"command": "ls", "description": "look"}),
            ev.ToolResult(item=ItemId("i"), text="a\n```\nb"),
        ]
    )
    assert "#### Tool Bash · `ls`\n\n```text\ncommand: ls\ndescription: look\n```\n" in text
    assert text.endswith("#### Result of Bash\n\n````text\na\n```\nb\n````")


def test_a_long_result_is_cut_with_a_note() -> None:
    rows = "\n".join(str(n) for n in range(100))
    text = body(
        [called("Bash", {"command": "x"}), ev.ToolResult(item=ItemId("i"), text=rows)], lines=3
    )
    assert "```text\n0\n1\n2\n```\n\n… 97 more lines" in text
    cut = ev.ToolResult(item=ItemId("i"), text="head", blob="d")
    assert body([cut]).endswith("… the rest is too long to be here")


def test_an_edit_is_a_difference_and_is_shown_once() -> None:
    given = {"file_path": "/x.py", "old_string": "a", "new_string": "b"}
    patch = Raw(b'[{"newStart":1,"lines":["-a","+b"]}]')
    detail = Raw(b'{"structuredPatch":[{"newStart":1,"lines":["-a","+b"]}]}')
    events: list[ev.Event] = [
        called("Edit", given),
        ev.ToolResult(item=ItemId("i"), text="done", detail=detail),
        ev.Diff(item=ItemId("i"), path="/x.py", patch=patch),
    ]
    assert body(events).count("```diff\n-a\n+b\n```") == 1
    assert "+b" not in body(events[1:2]).split("```diff")[0]
    assert body(events[2:]) == "#### Changed `/x.py`\n\n```diff\n@@ line 1: @@\n-a\n+b\n```"


def test_permissions_say_who_decided() -> None:
    asked = ev.PermissionRequested(prompt=PromptId("p"), tool="Bash", input=Raw(b"{}"), digest="d")
    closed = ev.PermissionClosed(prompt=PromptId("p"), how="denied", by="token:ada", message="no")
    assert body([asked, closed]) == "#### Permission for Bash: denied by token:ada: no"
    auto = ev.PermissionAuto(tool="Bash", decision="allow", rule="Bash(ls)")
    assert body([auto]) == "#### Permission for Bash: allow, nobody was asked (Bash(ls))"
    assert "> Nobody has answered yet: the permission for Bash" in body([asked])


def test_a_change_by_a_person_is_shown_whole() -> None:
    asked = ev.PermissionRequested(prompt=PromptId("p"), tool="Bash", input=Raw(b"{}"), digest="d")
    heading = "#### Permission for Bash: allowed by token:ada, with changes"
    closed = ev.PermissionClosed(prompt=PromptId("p"), how="allowed", by="token:ada", edited=True)
    assert body([asked, closed]) == heading
    command = msgspec.structs.replace(closed, input=Raw(b'{"command":"ls `a`","n":1}'))
    assert body([asked, command]) == f"{heading}\n\n```text\ncommand: ls `a`\nn: 1\n```"
    edit = Raw(b'{"file_path":"/x","old_string":"a","new_string":"b"}')
    text = body([asked, msgspec.structs.replace(closed, input=edit)])
    assert text == f"{heading}\n\n```text\nfile_path: /x\n```\n\n```diff\n-a\n+b\n```"
    gone = msgspec.structs.replace(closed, blob="d")
    assert body([asked, gone]).endswith("(too long to be shown)")


def test_questions_have_their_answers() -> None:
    questions = Raw(b'[{"question":"Which?","options":[]},{"question":"Why?"}]')
    asked = ev.QuestionRequested(prompt=PromptId("p"), questions=questions, digest="d")
    closed = ev.QuestionClosed(
        prompt=PromptId("p"), how="answered", by="token:ada", answers={"Which?": ("a", "b")}
    )
    assert body([asked, closed]) == (
        "#### Question: answered by token:ada\n\n- Which? **a, b**\n- Why? **no answer**"
    )
    assert body([closed]).endswith("- Which? **a, b**")
    assert "yet: a question" in body([asked])


def test_a_subagent_cannot_pass_for_somebody_else() -> None:
    start = called("Task", {"subagent_type": "Explore", "description": "token:ada"}, item="t")
    said = ev.TextDone(item=ItemId("x"), text="hello", parent=ItemId("t"))
    text = body([ev.TurnStarted(turn=TURN), start, said, called("Bash", {}, parent="t")])
    assert "### subagent token:ada · " in text
    assert "#### Tool Bash · subagent token:ada" in text


def test_text_after_a_call_says_again_whose_it_is() -> None:
    events: list[ev.Event] = [
        ev.TurnStarted(turn=TURN),
        ev.TextDone(item=ItemId("a"), text="first"),
        ev.TextDone(item=ItemId("b"), text="second"),
        called("Bash", {"command": "ls"}),
        ev.TextDone(item=ItemId("c"), text="third"),
    ]
    assert body(events).count("### demo") == 2


def test_a_plan_is_shown_once() -> None:
    plan = "# Do it"
    text = body([called("ExitPlanMode", {"plan": plan}), ev.Plan(text=plan)])
    assert text.count("Do it") == 2  # in the heading of the call, and the plan itself
    assert "#### Plan\n\n##### Do it" in body([ev.Plan(text=plan)])


def test_lists_of_tasks_and_questions_are_told_by_their_events() -> None:
    text = body(
        [
            called("TodoWrite", {"todos": [{"content": "a", "status": "pending"}]}),
            ev.Tasks(tasks=Raw(b'[{"content":"a","status":"completed"}]')),
            ev.ToolResult(item=ItemId("i"), text="The list was changed."),
        ]
    )
    assert "changed" not in text
    assert text.endswith("#### Tasks\n\n- [x] a · 1 of 1 done")


def test_what_went_wrong_is_there() -> None:
    exit_ = ev.AgentExited(
        incarnation=IncarnationId("inc_1"), why="exit", status=3, stderr_tail="boom"
    )
    text = body(
        [
            accepted("x"),
            ev.Error(code="overloaded", text="busy"),
            ev.Gap(reason="died"),
            ev.AlarmRaised(code="mode_changed", text="It changed.", advice="Set it *back*."),
            ev.Unrecognised(source="claude", text="{}"),
            exit_,
            ev.ConversationLost(reason="gone"),
            ev.InputOutcome(key=KEY, outcome="lost"),
            ev.Notice(text="# note"),
            ev.TurnEnded(turn=TURN, reason="error", message="busy"),
        ]
    )
    for said in (
        "> **Error** (overloaded): busy",
        "> **Some output of the agent is lost here:** died",
        "> **Alarm** (mode\\_changed): It changed. Set it \\*back\\*.",
        "> Not understood, from claude:\n>\n> ```\n> {}\n> ```",
        "> **The agent ended by itself** (status 3)\n>\n> ```\n> boom\n> ```",
        "> **The agent lost the conversation:** gone",
        "> **A message did not arrive:** the agent ended before it read it; send it again",
        "> ##### note",
        "*error · 0.0 s*",
    ):
        assert said in text


def test_what_is_cut_short_or_hidden_is_said_so() -> None:
    half = ev.TextDone(item=ItemId("a"), text="half", status="partial")
    assert body([half]).endswith("half\n\n(incomplete)")
    hidden = ev.ThinkingDone(item=ItemId("a"), redacted=True)
    assert "(hidden)" in body([hidden])
    assert "the rest is too long" in body([ev.TextDone(item=ItemId("a"), text="x", blob="d")])
    assert body([ev.TextDone(item=ItemId("a"), text="")]).count("\n") == 0


def test_a_conversation_from_elsewhere_is_marked() -> None:
    text = body([ev.History(phase="started"), ev.History(phase="done", left_out=3)])
    assert (
        text == "> Said before this session:\n\n> From here on in it. (3 older turns are not told)"
    )


def test_an_event_of_a_newer_version_is_kept() -> None:
    document = MarkdownExport()
    item = EventItem(1, 1000, None, b'{"type":"new"}')
    assert document.event(item) == '\n#### From a newer version\n\n```\n{"type":"new"}\n```\n'


def test_a_message_that_waited_says_so() -> None:
    assert "held until it was over" in body([accepted("later", mode="queue")])
