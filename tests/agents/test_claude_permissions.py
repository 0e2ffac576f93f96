"""Nothing runs that nobody allowed, and whoever decides decides once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import Raw

from flybridge.errors import PromptClosedError, PromptDecidedError
from flybridge.model import events as ev
from flybridge.model.capabilities import Options
from flybridge.model.commands import Interrupt, SetMode
from tests.agents.rig import Bridge
from tests.agents.talk import Talk, bash, results

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


@pytest.mark.conforms("stream-json §2f", "stream-json §5a", "PN-1", "rule 8", "rule 15")
async def test_an_allowed_tool_runs(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "allowed"
    async with await Talk.open(bridge) as talk:
        request = await talk.say("tool-allow", bash(f"touch {made}"), {"say": "Made it."})
        asked = await talk.get(ev.PermissionRequested)
        assert (asked.tool, json.loads(bytes(asked.input))["command"]) == ("Bash", f"touch {made}")
        assert not made.exists()
        await talk.decide(asked, "allow")
        assert await talk.outcome(request) == "done"
        started, result = talk.all(ev.ToolStarted)[0], talk.all(ev.ToolResult)[0]
        assert (started.item, asked.item, result.item) == (asked.item,) * 3
        assert result.status == "ok"
        closed = talk.all(ev.PermissionClosed)[0]
        assert (closed.how, closed.edited) == ("allowed", False)
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    assert made.exists()
    assert results(bridge, "tool-allow")[0]["is_error"] is False


@pytest.mark.conforms("stream-json §2f", "PN-1")
async def test_a_denied_tool_does_not_run_and_the_model_hears_why(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "denied"
    async with await Talk.open(bridge) as talk:
        request = await talk.say("tool-deny", bash(f"touch {made}"), {"say": "Pity."})
        asked = await talk.get(ev.PermissionRequested)
        await talk.decide(asked, "deny", message="not on my boat")
        assert await talk.outcome(request) == "done"
        assert talk.all(ev.ToolResult)[0].status == "denied"
        assert talk.all(ev.TurnEnded)[0].reason == "done"
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    assert not made.exists()
    told = results(bridge, "tool-deny")[0]
    assert told["is_error"] is True
    assert "not on my boat" in str(told["content"])


async def test_deny_and_stop_ends_the_turn(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "stopped"
    async with await Talk.open(bridge) as talk:
        await talk.say("tool-stop", bash(f"touch {made}"), {"say": "never said"})
        asked = await talk.get(ev.PermissionRequested)
        await talk.decide(asked, "deny", message="stop that", stop=True)
        ended = await talk.get(ev.TurnEnded)
        assert ended.reason == "interrupted"
        await talk.turn("tool-go-on", {"say": "Going on."})
        assert talk.transcript.text == "Going on."
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    assert not made.exists()


@pytest.mark.conforms("stream-json §2f")
async def test_an_edited_input_is_what_runs(bridge: Bridge) -> None:
    theirs, ours = bridge.claude.cwd / "theirs", bridge.claude.cwd / "ours"
    async with await Talk.open(bridge) as talk:
        request = await talk.say("tool-edit", bash(f"touch {theirs}"), {"say": "Well."})
        asked = await talk.get(ev.PermissionRequested)
        await talk.decide(asked, "allow", updated={"command": f"touch {ours}"})
        assert await talk.outcome(request) == "done"
        closed = talk.all(ev.PermissionClosed)[0]
        assert closed.edited
        assert isinstance(closed.input, Raw)
        assert json.loads(bytes(closed.input)) == {"command": f"touch {ours}"}
        assert talk.unknown() == []
    assert (theirs.exists(), ours.exists()) == (False, True)


@pytest.mark.conforms("stream-json §5a", "stream-json §16", "rule 13", "rule 14")
async def test_several_prompts_are_open_at_once_and_answered_in_any_order(
    bridge: Bridge, tmp_path: Path
) -> None:
    words = {name: f"the words of {name}" for name in ("one", "two", "three")}
    for name, text in words.items():
        (tmp_path / name).write_text(text)
    reads = [{"tool": "Read", "input": {"file_path": str(tmp_path / name)}} for name in words]
    async with await Talk.open(bridge) as talk:
        request = await talk.say("tool-parallel", reads, {"say": "Read."})
        await talk.get(ev.PermissionRequested, 3)
        asked = {
            Path(json.loads(bytes(one.input))["file_path"]).name: one
            for one in talk.all(ev.PermissionRequested)
        }
        assert talk.all(ev.PermissionClosed) == []
        await talk.decide(asked["three"], "allow")
        await talk.decide(asked["one"], "deny", message="not that one")
        await talk.decide(asked["two"], "allow")
        assert await talk.outcome(request) == "done"
        status = {one.item: one.status for one in talk.all(ev.ToolResult)}
        assert {name: status[one.item] for name, one in asked.items()} == {
            "one": "denied",
            "two": "ok",
            "three": "ok",
        }
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    told = {one["tool_use_id"]: str(one["content"]) for one in results(bridge, "tool-parallel")}
    assert {name for name, one in asked.items() if words[name] in told[one.item]} == {
        "two",
        "three",
    }


@pytest.mark.conforms("stream-json §10b", "audit: control_cancel_request")
async def test_an_interrupt_takes_an_open_prompt_back(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "withdrawn"
    async with await Talk.open(bridge) as talk:
        await talk.say("stop-prompt", bash(f"touch {made}"), {"say": "never said"})
        asked = await talk.get(ev.PermissionRequested)
        stop = await talk.submit(Interrupt())
        assert await talk.outcome(stop) == "done"
        closed = await talk.get(ev.PermissionClosed)
        assert (closed.prompt, closed.how) == (asked.prompt, "cancelled")
        assert (await talk.get(ev.TurnEnded)).reason == "interrupted"
        await talk.turn("stop-prompt-after", {"say": "Here again."})
        assert talk.without_outcome() == set()
        assert talk.unknown() == []
    assert not made.exists()


# ---- what is remembered ----------------------------------------------------------------------


def suggested(asked: ev.PermissionRequested, kind: str) -> list[int]:
    """Which of the suggestions are of this kind."""
    told = [json.loads(bytes(one)) for one in asked.suggestions]
    return [at for at, one in enumerate(told) if one["type"] == kind]


def settings_in(folder: Path) -> list[str]:
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("settings*.json"))


@pytest.mark.conforms("stream-json §5a", "stream-json §7b", "PN-7", "PN-18", "rule 16")
async def test_a_suggestion_shows_its_exact_rule_and_holds_for_the_session_only(
    bridge: Bridge,
) -> None:
    folder = bridge.repository("rules")
    call = bash("python3 -c 'print(1)'")
    async with await Talk.open(bridge, cwd=folder) as talk:
        request = await talk.say("rules-first", call, {"say": "Made."})
        asked = await talk.get(ev.PermissionRequested)
        (at,) = suggested(asked, "addRules")
        rule = json.loads(bytes(asked.suggestions[at]))
        assert [one["toolName"] for one in rule["rules"]] == ["Bash"]
        assert "python3 -c" in rule["rules"][0]["ruleContent"]
        assert (rule["behavior"], rule["destination"]) == ("allow", "localSettings")
        await talk.decide(asked, "allow", remember=(at,))
        assert await talk.outcome(request) == "done"
        await talk.turn("rules-second", call, {"say": "Made again."})
        assert len(talk.all(ev.PermissionRequested)) == 1
        assert settings_in(folder) == []  # the CLI would have written it there
        await bridge.saved("Made again.")
        bridge.kill_agent(talk.session)
        await talk.get(ev.AgentExited)
        await talk.say("rules-third", call, {"say": "Made for good."})
        again = await talk.get(ev.PermissionRequested, 2)
        await talk.decide(again, "allow")
        await talk.get(ev.TurnEnded, 3)
        assert talk.without_outcome() == set()
        assert talk.unknown() == []


@pytest.mark.conforms("PN-7", "rule 16")
async def test_a_rule_that_is_to_last_is_written_where_other_sessions_find_it(
    bridge: Bridge,
) -> None:
    """The old one writes it beside the session, the new one at the root of the repository."""
    root = bridge.repository("lasting", {"below/here": ""})
    call = bash("python3 -c 'print(2)'")
    async with await Talk.open(bridge, cwd=root / "below") as talk:
        request = await talk.say("lasting-first", call, {"say": "Said."})
        asked = await talk.get(ev.PermissionRequested)
        chosen = tuple(suggested(asked, "addRules"))
        await talk.decide(asked, "allow", remember=chosen, place="local")
        assert await talk.outcome(request) == "done"
        old = bridge.claude.version != "2.1.325"
        place = "below/.claude" if old else ".claude"
        assert settings_in(root) == [f"{place}/settings.local.json"]
        assert "python3 -c" in (root / place / "settings.local.json").read_text()
    async with await Talk.open(bridge, cwd=root / "below") as talk:
        await talk.turn("lasting-second", call, {"say": "Said again."})
        assert talk.all(ev.PermissionRequested) == []
        assert talk.unknown() == []


@pytest.mark.conforms("PN-7", "rule 16")
async def test_a_mode_is_suggested_and_never_taken_by_itself(bridge: Bridge) -> None:
    folder = bridge.repository("modes")

    def write(name: str) -> dict[str, object]:
        return {"tool": "Write", "input": {"file_path": str(folder / name), "content": "x\n"}}

    async with await Talk.open(bridge, cwd=folder) as talk:
        await talk.say("modes-one", write("one"), write("two"), {"say": "Both."})
        asked = await talk.get(ev.PermissionRequested)
        (at,) = suggested(asked, "setMode")
        wanted = json.loads(bytes(asked.suggestions[at]))
        assert (wanted["mode"], wanted["destination"]) == ("acceptEdits", "session")
        await talk.decide(asked, "allow")
        asked = await talk.get(ev.PermissionRequested, 2)
        assert talk.all(ev.ModeChanged) == []
        await talk.decide(asked, "allow", remember=tuple(suggested(asked, "setMode")))
        await talk.get(ev.TurnEnded)
        await talk.turn("modes-three", write("three"), {"say": "Written."})
        assert [one.mode for one in talk.all(ev.ModeChanged)] == ["acceptEdits"]
        assert len(talk.all(ev.PermissionRequested)) == 2
        assert talk.unknown() == []
    assert sorted(one.name for one in folder.iterdir() if one.is_file()) == ["one", "three", "two"]


@pytest.mark.conforms("stream-json §5a", "PN-7")
async def test_a_prompt_says_why_it_asks_and_where(bridge: Bridge, tmp_path: Path) -> None:
    victim = tmp_path / "outside.txt"
    victim.write_text("x\n")
    async with await Talk.open(bridge) as talk:
        await talk.say("outside", bash(f"rm {victim}"), {"say": "Left it."})
        asked = await talk.get(ev.PermissionRequested)
        detail = json.loads(bytes(asked.detail))  # type: ignore[arg-type]
        assert str(victim) in str(detail.get("blocked_path", "")) + asked.reason
        (at,) = suggested(asked, "addDirectories")
        shown = json.loads(bytes(asked.suggestions[at]))
        assert shown["directories"] == [str(tmp_path)]
        assert shown["destination"] == "session"
        assert suggested(asked, "setMode")
        await talk.decide(asked, "deny")
        await talk.get(ev.TurnEnded)
        assert talk.unknown() == []
    assert victim.exists()


# ---- who decides, and once -------------------------------------------------------------------


@pytest.mark.conforms("rule 14")
async def test_the_first_answer_counts_and_a_second_hears_that_it_was_late(
    bridge: Bridge,
) -> None:
    made = bridge.claude.cwd / "decided-once"
    async with await Talk.open(bridge) as talk:
        await talk.say("twice", bash(f"echo x >>{made}"), {"say": "Made."})
        asked = await talk.get(ev.PermissionRequested)
        await talk.decide(asked, "allow")
        with pytest.raises(PromptDecidedError):
            await talk.decide(asked, "deny")
        await talk.get(ev.TurnEnded)
        with pytest.raises(PromptDecidedError):
            await talk.decide(asked, "deny")
        assert [one.how for one in talk.all(ev.PermissionClosed)] == ["allowed"]
        assert talk.unknown() == []
    assert made.read_text() == "x\n"


@pytest.mark.conforms("audit: control_cancel_request", "rule 14")
async def test_an_answer_to_a_prompt_that_was_taken_back_is_refused(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "too-late"
    async with await Talk.open(bridge) as talk:
        await talk.say("late", bash(f"touch {made}"), {"say": "never said"})
        asked = await talk.get(ev.PermissionRequested)
        assert await talk.settle(Interrupt()) == "done"
        await talk.get(ev.PermissionClosed)
        with pytest.raises(PromptClosedError):
            await talk.decide(asked, "allow")
        await talk.turn("late-after", {"say": "Here again."})
        assert talk.unknown() == []
    assert not made.exists()


@pytest.mark.conforms("rule 14")
async def test_a_change_of_mode_answers_no_open_prompt(bridge: Bridge) -> None:
    made = bridge.claude.cwd / "still-open.txt"
    write = {"tool": "Write", "input": {"file_path": str(made), "content": "x\n"}}
    async with await Talk.open(bridge) as talk:
        request = await talk.say("mode-open", write, {"say": "Fine."})
        asked = await talk.get(ev.PermissionRequested)
        assert await talk.settle(SetMode(mode="acceptEdits")) == "done"
        assert talk.all(ev.PermissionClosed) == []
        assert not made.exists()
        await talk.decide(asked, "deny")
        assert await talk.outcome(request) == "done"
        assert talk.unknown() == []
    assert not made.exists()


# ---- modes ---------------------------------------------------------------------------------------


@pytest.mark.conforms("stream-json §3d", "audit: permission modes", "PN-14")
async def test_a_session_that_asks_nobody_denies_what_no_rule_allows(bridge: Bridge) -> None:
    folder = bridge.repository("dont-ask")
    allowed = bash("""python3 -c 'open("yes", "a").write("x")'""")
    async with await Talk.open(bridge, cwd=folder) as talk:
        await talk.say("dont-ask-rule", allowed, {"say": "Made."})
        asked = await talk.get(ev.PermissionRequested)
        await talk.decide(asked, "allow", remember=tuple(suggested(asked, "addRules")))
        await talk.get(ev.TurnEnded)
        assert await talk.settle(SetMode(mode="dontAsk")) == "done"
        await talk.turn("dont-ask", bash("touch no"), allowed, {"say": "Well."})
        assert len(talk.all(ev.PermissionRequested)) == 1
        told = [one.status for one in talk.all(ev.ToolResult)]
        # the old one says only at the end of the turn what it denied
        assert told == ["ok", "error" if bridge.claude.version == "2.1.38" else "denied", "ok"]
        (denied,) = talk.all(ev.PermissionAuto)
        assert (denied.tool, denied.decision) == ("Bash", "deny")
        assert talk.unknown() == []
    assert (folder / "yes").read_text() == "xx"
    assert not (folder / "no").exists()


@pytest.mark.conforms("audit: permission modes")
async def test_edits_are_not_asked_about_where_they_are_accepted(bridge: Bridge) -> None:
    folder = bridge.repository("accepting")
    write = {"tool": "Write", "input": {"file_path": str(folder / "made"), "content": "x\n"}}
    async with await Talk.open(bridge, cwd=folder) as talk:
        assert await talk.settle(SetMode(mode="acceptEdits")) == "done"
        await talk.say("accepting", write, bash("touch asked; python3 -V"), {"say": "Done."})
        asked = await talk.get(ev.PermissionRequested)
        assert (asked.tool, (folder / "made").exists()) == ("Bash", True)
        await talk.decide(asked, "deny")
        await talk.get(ev.TurnEnded)
    assert not (folder / "asked").exists()


@pytest.mark.conforms("stream-json §2c", "PN-14", "rule 2")
async def test_a_mode_that_a_version_does_not_have_is_refused(bridge: Bridge) -> None:
    old = bridge.claude.version == "2.1.38"
    async with await Talk.open(bridge) as talk:
        assert await talk.settle(SetMode(mode="bogus")) == "refused"
        assert await talk.settle(SetMode(mode="delegate")) == ("done" if old else "refused")
        await talk.turn("mode-none", {"say": "Here."})
        assert talk.all(ev.Unrecognised) == []


async def test_what_a_rule_denies_is_told(bridge: Bridge) -> None:
    denying = Options(disallowed_tools=("Bash(touch:*)",))
    async with await Talk.open(bridge, options=denying) as talk:
        await talk.turn("rule-denies", bash("touch denied"), {"say": "Pity."})
        (denied,) = talk.all(ev.PermissionAuto)
        assert (denied.tool, denied.decision) == ("Bash", "deny")
        assert talk.all(ev.PermissionRequested) == []
        assert talk.unknown() == []
    assert not (bridge.claude.cwd / "denied").exists()
