from __future__ import annotations

from typing import Any

from flybridge.model import events as e
from flybridge.runtime.live_session import LiveSession
from flybridge.testing import recorder
from tests.harness.agent_programs import steps
from tests.harness.http_harness import Web
from tests.harness.waiting import until

ASK = steps({"tool": "Bash", "input": {"command": "rm -rf build"}, "ask": True})


async def asking(web: Web, request: str = "open") -> tuple[LiveSession, dict[str, Any]]:
    """A session that waits for a permission, and its place in the inbox."""
    live = await web.open(request)
    assert (await web.say(live, ASK, "k1", "written")).status == 200
    await until(lambda: live.memory.state.prompts)
    found = (await web.call("GET", "/prompts")).json
    mine = [one for one in found["prompts"] if one["session"] == live.session]
    assert len(mine) == 1
    return live, mine[0]


def allow(prompt: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = {
        "type": "answer_permission",
        "prompt": prompt["prompt"],
        "digest": prompt["digest"],
        "decision": "allow",
        **more,
    }
    return {"session": prompt["session"], "answer": answer}


async def test_a_prompt_is_in_the_inbox_with_all_that_it_asks(web: Web) -> None:
    live, prompt = await asking(web)
    assert prompt["tool"] == "Bash"
    assert prompt["input"] == {"command": "rm -rf build"}
    assert (prompt["kind"], prompt["agent"]) == ("permission", "recorder")
    view = await web.call("GET", f"/sessions/{live.session}/views/prompts")
    assert view.json["prompts"] == [prompt]
    listed = (await web.call("GET", "/sessions")).json["sessions"]
    assert (listed[0]["why"], listed[0]["prompts"]) == ("permission", 1)


async def test_several_prompts_are_answered_at_once_each_with_its_own_outcome(web: Web) -> None:
    _, first = await asking(web, "one")
    _, second = await asking(web, "two")
    nobody = {**second, "session": "ses_nobody"}
    stale = allow(second)
    stale["answer"]["digest"] = "0" * 64
    body = {"answers": [allow(first), stale, allow(nobody)]}
    got = await web.call("POST", "/prompts/answers", body, key="a1")
    assert got.status == 200
    assert [one.get("error", "") for one in got.json["answers"]] == [
        "",
        "stale_prompt",
        "session_not_found",
    ]
    await until(lambda: len(recorder.ran(web.house.record)) == 1)
    left = (await web.call("GET", "/prompts")).json
    assert [one["prompt"] for one in left["prompts"]] == [second["prompt"]]
    await web.call("POST", "/prompts/answers", {"answers": [allow(second)]}, key="a2")


async def test_who_comes_second_learns_what_was_decided(web: Web) -> None:
    _, prompt = await asking(web)
    deny = allow(prompt)
    deny["answer"]["decision"] = "deny"
    first = await web.call("POST", "/prompts/answers", {"answers": [deny]}, key="a1")
    assert "error" not in first.json["answers"][0]
    late = await web.call("POST", "/prompts/answers", {"answers": [allow(prompt)]}, key="a2")
    told = late.json["answers"][0]
    assert (told["error"], told["data"]["choice"]) == ("already_decided", "deny")
    assert recorder.ran(web.house.record) == []


async def test_no_answers_and_too_many_are_refused(web: Web) -> None:
    assert (await web.call("POST", "/prompts/answers", {"answers": []}, key="a")).status == 400
    one = {"prompt": "p", "digest": "d", "session": "s"}
    many = {"answers": [allow(one)] * 101}
    assert (await web.call("POST", "/prompts/answers", many, key="a")).status == 400


async def test_what_was_answered_is_audited(web: Web) -> None:
    _, prompt = await asking(web)
    await web.call("POST", "/prompts/answers", {"answers": [allow(prompt)]}, key="a1")
    told = [one for one in web.records if one.event == "answer_permission"]
    assert [(one.outcome, one.detail, one.target) for one in told] == [
        ("done", "allow", prompt["prompt"])
    ]
    await web.house.saw(e.TurnEnded)
