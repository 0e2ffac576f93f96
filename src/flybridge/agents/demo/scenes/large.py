"""Scenes of what is too much for one look: long output, wide changes, many tools, many helpers.

Nothing here is real. No program runs and no file is touched; only the amounts are.
"""

from __future__ import annotations

import base64
import random
import uuid
import zlib
from collections.abc import Awaitable, Callable

from flybridge.agents.demo.blocks import Call, Outcome, Say, Work, new_call_id
from flybridge.agents.demo.scenes.team import handed_back
from flybridge.agents.demo.stream import Helper, Json
from flybridge.agents.demo.tools import shown
from flybridge.agents.demo.turn import Turn

OUTPUT_BYTES = 1_200_000
LINES = 10_000  # of a change
FILE_BYTES = 500_000
PIXELS = 480  # each side of the picture
TOOLS = 200
CREW = (5, 3, 2)  # helpers of the agent, of each of them, and of each of those: 50 in all


async def show_large(turn: Turn, what: str) -> None:
    await _SCENES.get(what, _output)(turn)


# ---- output ------------------------------------------------------------------------------------


async def _output(turn: Turn) -> None:
    line = "{:07} of a log that is longer than anybody reads, and still has an end"
    lines = (line.format(n) for n in range(1, OUTPUT_BYTES // len(line) + 1))
    await _printed(turn, "make all", "\n".join(lines))


async def _one_line(turn: Turn) -> None:
    await _printed(turn, "cat bundle.min.js", "x=f(1,2);" * (OUTPUT_BYTES // 9))


async def _colours(turn: Turn) -> None:
    bar = "".join(f"\rcompiling {percent} %" for percent in range(101))
    line = (
        "\x1b[32mok\x1b[0m   src/part_{:05}.py \x1b[2m(0.01 s)\x1b[0m \x1b[38;5;208mcached\x1b[0m"
    )
    lines = (line.format(n) for n in range(1, OUTPUT_BYTES // len(line) + 1))
    await _printed(turn, "make test", "\n".join([bar, *lines, "\x1b[1;31m1 failed\x1b[0m"]))


async def _printed(turn: Turn, command: str, text: str) -> None:
    call = Call("Bash", {"command": command, "description": "Say a lot"}, work=gives(shown(text)))
    await turn.respond(Say(f"`{command}` would print {len(text):,} bytes, and I pretend it."), call)
    await turn.respond(Say("That was much. Nothing was run."))


def gives(outcome: Outcome) -> Work:
    """Work that always comes to the same."""

    async def work(_given: Json) -> Outcome:
        return outcome

    return work


# ---- changes -----------------------------------------------------------------------------------


async def _diff(turn: Turn) -> None:
    """Every second line of a file is another one afterwards."""
    old = [f"value_{n} = {n}" for n in range(LINES)]
    new = [f"value_{n} = {n + n % 2}" for n in range(LINES)]
    before, after = "\n".join(old), "\n".join(new)
    path = f"{turn.session.cwd}/values.py"
    given = {"file_path": path, "old_string": before, "new_string": after, "replace_all": False}
    told: Json = {"filePath": path, "oldString": before, "newString": after, "replaceAll": False}
    patch: Json = {"structuredPatch": [_hunk(old, new)], "userModified": False}
    done = Outcome(text=f"changed {path}, or so I say", detail={**told, **patch})
    await turn.respond(Say("A change all over a file."), Call("Edit", given, work=gives(done)))
    await turn.respond(Say(f"{LINES // 2:,} lines are others now. No file was touched."))


def _hunk(old: list[str], new: list[str]) -> Json:
    pairs = zip(old, new, strict=True)
    lines = [one for a, b in pairs for one in ((f" {a}",) if a == b else (f"-{a}", f"+{b}"))]
    numbers = {"oldStart": 1, "oldLines": len(old), "newStart": 1, "newLines": len(new)}
    return {**numbers, "lines": lines}


async def _file(turn: Turn) -> None:
    row = "row {:06}: what a table of many rows has in each of them\n"
    content = "".join(row.format(n) for n in range(FILE_BYTES // len(row) + 1))
    path = f"{turn.session.cwd}/table.txt"
    told: Json = {"type": "create", "filePath": path, "content": content}
    done = Outcome(
        text=f"created {path}, or so I say",
        detail={**told, "structuredPatch": [], "originalFile": None, "userModified": False},
    )
    call = Call("Write", {"file_path": path, "content": content}, work=gives(done))
    await turn.respond(Say(f"A file of {len(content):,} bytes, if I may."), call)
    await turn.respond(Say("No file was written: this is a demo."))


# ---- pictures ----------------------------------------------------------------------------------


async def _picture(turn: Turn) -> None:
    path = f"{turn.session.cwd}/sea.png"
    data = base64.b64encode(picture(PIXELS)).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    file: Json = {"base64": data, "type": "image/png", "originalSize": len(data) * 3 // 4}
    seen = Outcome(
        text="",
        content=[{"type": "image", "source": source}],
        detail={"type": "image", "file": file},
    )
    call = Call("Read", {"file_path": path}, work=gives(seen), free=True)
    await turn.respond(Say("I look at a picture that I have just painted."), call)
    await turn.respond(Say("The sea, with waves on it."))


def picture(side: int) -> bytes:
    """A square PNG that does not get much smaller when it is packed."""
    rng = random.Random(7)
    size = 3 * side
    waves = int.from_bytes(b"\x1f" * size)  # what is left of the noise
    sea = (bytes((10, 50 + y * 90 // side, 130 + y * 90 // side)) * side for y in range(side))
    rows = b"".join(
        b"\0" + (int.from_bytes(row) ^ int.from_bytes(rng.randbytes(size)) & waves).to_bytes(size)
        for row in sea
    )
    head = side.to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0"
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*one) for one in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")


# ---- many --------------------------------------------------------------------------------------


async def _tools(turn: Turn) -> None:
    await turn.respond(Say(f"{TOOLS} tools in one turn, most of which only look."))
    for first in range(0, TOOLS, 10):
        await turn.respond(*(_look(n) for n in range(first, first + 10)))
    await turn.respond(Say("All of them are back, and none of them did anything."))


def _look(n: int) -> Call:
    if n % 20 == 19:
        given: Json = {"command": f"make part-{n}", "description": f"Make part {n}"}
        return Call("Bash", given, work=gives(shown("made")), free=True)
    if n % 5 == 4:
        found: Json = {
            "mode": "files_with_matches",
            "filenames": [f"src/part_{n}.py"],
            "numFiles": 1,
        }
        hit = Outcome(text=f"Found 1 file\nsrc/part_{n}.py", detail=found)
        return Call("Grep", {"pattern": f"part_{n}"}, work=gives(hit), free=True)
    file: Json = {"filePath": f"src/part_{n}.py", "content": f"part = {n}\n", "numLines": 1}
    read = Outcome(text=f"1\tpart = {n}", detail={"type": "text", "file": {**file, "startLine": 1}})
    return Call("Read", {"file_path": f"src/part_{n}.py"}, work=gives(read), free=True)


async def _agents(turn: Turn) -> None:
    calls = [_helper(turn, None, f"Deck {n + 1}", CREW[1:]) for n in range(CREW[0])]
    await turn.respond(Say("Many helpers, each of whom sends out others."), *calls)
    await turn.respond(Say("They are all back aboard."))


def _helper(turn: Turn, by: Helper | None, task: str, crew: tuple[int, ...]) -> Call:
    helper = Helper(new_call_id(), f"a{uuid.uuid4().hex[:16]}", "general-purpose", task)

    async def work(given: Json) -> Outcome:
        done = gives(shown("all well"))
        look = Call("Bash", {"command": "ls"}, task, done, helper, free=True)
        count = crew[0] if crew else 0
        under = [_helper(turn, helper, f"{task}.{n + 1}", crew[1:]) for n in range(count)]
        await turn.assist(helper, Say(f"{task}: I look around."), look, *under)
        said = f"{task} is in order."
        await turn.assist(helper, Say(said))
        return handed_back(helper, str(given.get("prompt", "")), said)

    given = {"description": task, "prompt": f"See to {task}.", "subagent_type": helper.kind}
    return Call("Agent", given, task, work, by, id=helper.call_id)


_SCENES: dict[str, Callable[[Turn], Awaitable[None]]] = {
    "output": _output,
    "line": _one_line,
    "colours": _colours,
    "diff": _diff,
    "file": _file,
    "picture": _picture,
    "tools": _tools,
    "agents": _agents,
}
NAMES = "|".join(_SCENES)
