"""Scenes of organised work: lists of tasks, subagents, and what goes on in the background."""

from __future__ import annotations

import uuid
from itertools import pairwise

from flybridge.agents.demo.background import Job
from flybridge.agents.demo.blocks import Call, Outcome, Say, Work, failed, new_call_id
from flybridge.agents.demo.stream import Helper, Json
from flybridge.agents.demo.turn import Turn

STEPS = (
    ("Look at the old helm", "Looking at the old helm"),
    ("Build the new helm", "Building the new helm"),
    ("Try both at once", "Trying both at once"),
)
WATCH_S = 5
MAX_TASKS = 100


# ---- tasks -------------------------------------------------------------------------------------


async def tasks(turn: Turn, _rest: str) -> None:
    """Three tasks, each blocked by the one before it, done one after the other."""
    del turn.session.tasks[:-MAX_TASKS]
    said = "Three tasks, each of which waits for the one before it. Watch the list change."
    made = await turn.respond(Say(said), *(_create(turn, *step) for step in STEPS))
    ids = [_task_id(outcome) for outcome in made]
    pairs = pairwise(ids)
    await turn.respond(*(_update(turn, later, addBlockedBy=[first]) for first, later in pairs))
    for one in ids:
        await turn.respond(_update(turn, one, status="in_progress"))
        await turn.pause(1.5)
        await turn.respond(_update(turn, one, status="completed"))
    await turn.respond(Say("All three are done. (Nothing was built: this is a demo.)"))


def _create(turn: Turn, subject: str, active: str) -> Call:
    async def create(given: Json) -> Outcome:
        tasks = turn.session.tasks
        number = int(tasks[-1]["id"]) + 1 if tasks else 1
        task = {"id": str(number), "subject": str(given.get("subject", subject))}
        tasks.append({**task, "status": "pending"})
        text = f"Task #{task['id']} was created: {task['subject']}"
        return Outcome(text=text, detail={"task": task})

    given = {"subject": subject, "description": f"{subject}, carefully", "activeForm": active}
    return Call("TaskCreate", given, work=create)


def _update(turn: Turn, task_id: str, **fields: object) -> Call:
    async def update(given: Json) -> Outcome:
        task = next((one for one in turn.session.tasks if one["id"] == given.get("taskId")), None)
        if task is None:
            return failed("there is no such task")
        changed = {key: value for key, value in given.items() if key != "taskId"}
        detail: Json = {"success": True, "taskId": task["id"], "updatedFields": list(changed)}
        if "status" in changed:
            detail["statusChange"] = {"from": task["status"], "to": changed["status"]}
        task.update(changed)
        return Outcome(text=f"Task #{task['id']} was updated", detail=detail)

    return Call("TaskUpdate", {"taskId": task_id, **fields}, work=update)


def _task_id(outcome: Outcome) -> str:
    return str(outcome.detail["task"]["id"]) if isinstance(outcome.detail, dict) else ""


async def todos(turn: Turn, _rest: str) -> None:
    """The same as one list that is written anew each time, as older versions do it."""
    said = "The older way: one list, written anew with every change."
    await turn.respond(Say(said), _todo(0, []))
    for done in range(1, len(STEPS) + 1):
        await turn.pause(1)
        await turn.respond(_todo(done, _todo_list(done - 1)))
    await turn.respond(Say("Done with all of it."))


def _todo(done: int, before: list[Json]) -> Call:
    async def write(given: Json) -> Outcome:
        detail: Json = {"oldTodos": before, "newTodos": given.get("todos", [])}
        return Outcome(text="The list was changed.", detail=detail)

    return Call("TodoWrite", {"todos": _todo_list(done)}, work=write)


def _todo_list(done: int) -> list[Json]:
    states = ["completed"] * done + ["in_progress"] + ["pending"] * len(STEPS)
    return [
        {"content": subject, "status": state, "activeForm": active}
        for (subject, active), state in zip(STEPS, states, strict=False)
    ]


# ---- subagents ---------------------------------------------------------------------------------


async def agents(turn: Turn, _rest: str) -> None:
    """Two subagents at once; what they do is nested under the call that started them."""
    calls = [
        _delegate(turn, "Explore", "Look around", "ls", "There is something here: {}"),
        _delegate(turn, "general-purpose", "Check the clock", "date", "It is {}."),
    ]
    said = "I send out two helpers at once. Each asks you for its own permission."
    outcomes = await turn.respond(Say(said), *calls)
    rows = "\n".join(
        f"- {call.input['description']}: {one.text}"
        for call, one in zip(calls, outcomes, strict=True)
    )
    await turn.respond(Say(f"Both are back:\n\n{rows}"))


def _delegate(turn: Turn, kind: str, task: str, command: str, answer: str) -> Call:
    helper = Helper(new_call_id(), f"a{uuid.uuid4().hex[:16]}", kind, task)

    async def work(given: Json) -> Outcome:
        bash = Call("Bash", {"command": command, "description": task}, task, by=helper)
        (outcome,) = await turn.assist(helper, Say(f"I will use `{command}`."), bash)
        found = " ".join(outcome.text.split())[:60]
        said = "I was not allowed to." if outcome.failed else answer.format(found)
        await turn.assist(helper, Say(said))
        return handed_back(helper, str(given.get("prompt", "")), said)

    prompt = f"{task}, then tell me in one sentence."
    given = {"description": task, "prompt": prompt, "subagent_type": kind}
    return Call("Agent", {**given, "run_in_background": False}, task, work, id=helper.call_id)


def handed_back(helper: Helper, prompt: str, said: str) -> Outcome:
    """What a subagent's call came to."""
    counts = {"totalDurationMs": 1000, "totalTokens": len(said.split()), "totalToolUseCount": 1}
    detail: Json = {
        "status": "completed",
        "prompt": prompt,
        "agentId": helper.id,
        "agentType": helper.kind,
        "content": [{"type": "text", "text": said}],
        **counts,
    }
    return Outcome(text=said, detail=detail)


# ---- the background ----------------------------------------------------------------------------


async def background(turn: Turn, _rest: str) -> None:
    """A command that outlives the turn and wakes the agent, whom nobody asked then."""
    command = f"sleep {WATCH_S}"
    given = {"command": command, "description": "An egg timer", "run_in_background": True}
    call_id = new_call_id()
    call = Call("Bash", given, "An egg timer", work=_launch(turn, call_id), id=call_id)
    (outcome,) = await turn.respond(Say("I start something that goes on without me."), call)
    if outcome.failed:
        await turn.respond(Say(f"It was not started:\n\n> {outcome.text}"))
        return
    said = f"It runs, and my turn ends here. In {WATCH_S} seconds I **speak up by myself**; "
    await turn.respond(Say(said + "until then, talk to me if you like."))


def _launch(turn: Turn, call_id: str) -> Work:
    async def launch(given: Json) -> Outcome:
        about = str(given.get("description") or "An egg timer")[:80]
        report = "**Ding!** The timer in the background is done, so I speak without being asked."
        job = Job(call_id, about, report)
        if not turn.jobs.start(job, turn.seconds(WATCH_S)):
            return failed("too much runs in the background already")
        detail: Json = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False}
        more: Json = {"noOutputExpected": False, "backgroundTaskId": job.id}
        return Outcome(text=f"It runs in the background as {job.id}.", detail={**detail, **more})

    return launch
