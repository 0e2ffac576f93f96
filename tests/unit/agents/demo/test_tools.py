from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.agents.demo.stream import Json
from flybridge.agents.demo.tools import MAX_OUTPUT_BYTES, Hands, harmless, run_program, seconds_at


def quiet(count: int, seconds: float) -> None:
    pass


async def use(cwd: Path, command: str) -> str:
    return (await Hands(str(cwd), 0.0).use("Bash", {"command": command}, quiet)).text


@pytest.mark.parametrize("command", ["ls", "ls -la", "date", "date -u +%H", "echo a b", "pwd"])
def test_four_programs_are_really_run(command: str) -> None:
    argv = harmless(command)
    assert argv
    assert Path(argv[0]).is_absolute()


@pytest.mark.parametrize(
    "command",
    [
        "rm a",
        "",
        "bash -c ls",
        "/bin/ls",
        "./ls",
        "date -s 2001-01-01",
        "date --set=now",
        "date -f /etc/passwd",
        "echo 'unclosed",
    ],
)
def test_anything_else_is_not(command: str) -> None:
    assert harmless(command) is None


async def test_there_is_no_shell(tmp_path: Path) -> None:
    assert await use(tmp_path, "echo $HOME; touch x && ls > y") == "$HOME; touch x && ls > y"
    assert await use(tmp_path, "ls -A") == "(no output)"


async def test_what_is_not_run_says_so(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.touch()
    assert "simulated" in await use(tmp_path, f"rm {kept}")
    assert kept.exists()


async def test_programs_run_in_the_directory(tmp_path: Path) -> None:
    (tmp_path / "here").touch()
    assert await use(tmp_path, "ls") == "here"
    assert await use(tmp_path, "pwd") == str(tmp_path)


async def test_a_failing_program_is_an_error(tmp_path: Path) -> None:
    outcome = await run_program(["/bin/ls", "nothing-there"], str(tmp_path))
    assert outcome.failed
    assert outcome.text.startswith("Exit code 2")


async def test_a_program_that_cannot_start_is_an_error(tmp_path: Path) -> None:
    outcome = await run_program([str(tmp_path / "none")], str(tmp_path))
    assert outcome.failed


async def test_output_is_bounded(tmp_path: Path) -> None:
    text = await use(tmp_path, "echo " + "x" * (2 * MAX_OUTPUT_BYTES))
    assert len(text) == MAX_OUTPUT_BYTES


async def test_a_slow_tool_tells_its_seconds(tmp_path: Path) -> None:
    told: list[tuple[int, float]] = []
    given: Json = {"command": "sleep 3"}
    outcome = await Hands(str(tmp_path), 0.0).use("Bash", given, lambda *at: told.append(at))
    assert told == [(0, 1), (1, 2), (2, 3)]
    assert not outcome.failed


async def test_files_are_written_read_and_changed(tmp_path: Path) -> None:
    hands = Hands(str(tmp_path), 0.0)
    path = {"file_path": str(tmp_path / "a.txt")}
    assert not (await hands.use("Write", {**path, "content": "one\n"}, quiet)).failed
    edit = {**path, "old_string": "one", "new_string": "two"}
    assert not (await hands.use("Edit", edit, quiet)).failed
    assert (await hands.use("Read", path, quiet)).text == "1\ttwo\n2\t"


def test_the_demos_seconds_follow_its_pace() -> None:
    assert seconds_at(0.025, 3) == pytest.approx(3)
    assert seconds_at(0.0, 3) == 0
