"""Scenes of work: commands and files, always after a permission."""

from __future__ import annotations

from pathlib import Path

from flybridge.agents.demo.blocks import Call, Outcome, Say
from flybridge.agents.demo.files import SCRATCH, inside, read_text
from flybridge.agents.demo.turn import Turn

DEFAULT_FILE = "hello-from-flybridge.md"
SLOW_S = 10
GREETER = f"{SCRATCH}/greet.py"
PLAIN = '    return f"Hello, {name}."'
LOUD = '    cheer = "!" * 3\n    return f"Ahoy, {name}{cheer}"'
PROGRAM = f'''"""A program of two functions, made by the Flybridge demo agent."""


def greet(name: str) -> str:
{PLAIN}


def main() -> None:
    print(greet("world"))


if __name__ == "__main__":
    main()
'''


async def run_command(turn: Turn, command: str) -> None:
    command = command or "ls -la"
    call = Call("Bash", {"command": command, "description": "Asked for by you"}, command[:80])
    (outcome,) = await turn.respond(Say(f"I would like to run `{command}`."), call)
    if outcome.failed:
        await _respect(turn, outcome)
    else:
        await turn.respond(Say(f"Done. It said:\n\n```text\n{outcome.text}\n```"))


async def run_slowly(turn: Turn, _rest: str) -> None:
    await run_command(turn, f"sleep {SLOW_S}")


async def run_two(turn: Turn, _rest: str) -> None:
    calls = [
        Call("Bash", {"command": command, "description": about}, about)
        for command, about in (("date", "What time is it?"), ("pwd", "Where am I?"))
    ]
    outcomes = await turn.respond(Say("Two questions at once; answer in any order."), *calls)
    said = "\n".join(
        f"- `{call.input['command']}`: {one.text}"
        for call, one in zip(calls, outcomes, strict=True)
    )
    await turn.respond(Say(f"Both are settled:\n\n{said}"))


async def write_note(turn: Turn, name: str) -> None:
    name = name or DEFAULT_FILE
    path = inside(turn.session.cwd, name)
    if path is None:
        await turn.respond(Say(f"`{name}` is outside my directory: I **will not** write there."))
        return
    content = "# A note\n\nWritten by the Flybridge demo agent, because you allowed it.\n"
    call = Call("Write", {"file_path": _shown(turn, name), "content": content}, path.name)
    (outcome,) = await turn.respond(Say(f"I will create `{name}`, if I may."), call)
    verdict = "No file was written" if outcome.failed else "There it is"
    await turn.respond(Say(f"**{verdict}**: {outcome.text}"))


async def read_any(turn: Turn, name: str) -> None:
    path = inside(turn.session.cwd, name or GREETER)
    if path is None or read_text(path) is None:
        said = f"`{name}` is no small text file of mine." if name else "There is no file yet."
        await turn.respond(Say(f"{said} Say `edit` first: then there is one to read."))
        return
    call = Call("Read", {"file_path": _shown(turn, name or GREETER)}, name or GREETER)
    (outcome,) = await turn.respond(Say(f"I read `{name or GREETER}`."), call)
    if outcome.failed:
        await _respect(turn, outcome)
    else:
        lines = outcome.text.count("\n") + 1
        await turn.respond(Say(f"{lines} lines. Below `{SCRATCH}/` I may read without asking."))


async def edit_program(turn: Turn, _rest: str) -> None:
    """Make the scratch project if it is not there, then change its one file to and fro."""
    path = inside(turn.session.cwd, GREETER)
    if path is None:
        await turn.respond(Say(f"`{SCRATCH}` leads out of my directory: I **will not** go there."))
        return
    if not path.exists() and not await _create(turn):
        return
    text = read_text(path) or ""
    old, new = (PLAIN, LOUD) if PLAIN in text else (LOUD, PLAIN)
    if old not in text:
        await turn.respond(
            Say(f"You changed `{GREETER}` yourself, so I leave it alone. Well done.")
        )
        return
    given = {"file_path": _shown(turn, GREETER), "old_string": old, "new_string": new}
    edit = Call("Edit", {**given, "replace_all": False}, path.name)
    (outcome,) = await turn.respond(Say("Now an edit: look at the difference."), edit)
    if outcome.failed:
        await _respect(turn, outcome)
    else:
        await turn.respond(Say("Changed, on disk. Say `edit` again and I change it back."))


async def _create(turn: Turn) -> bool:
    given = {"file_path": _shown(turn, GREETER), "content": PROGRAM}
    said = f"I need a project to work on: one file, `{GREETER}`, below my directory."
    (outcome,) = await turn.respond(Say(said), Call("Write", given, "greet.py"))
    if outcome.failed:
        await _respect(turn, outcome)
    return not outcome.failed


async def _respect(turn: Turn, outcome: Outcome) -> None:
    await turn.respond(Say(f"That did not happen, and I respect it:\n\n> {outcome.text}"))


def _shown(turn: Turn, name: str) -> str:
    return str(Path(turn.session.cwd) / name)
