"""Starting a gateway: real processes, races, and programs that do not start."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flybridge.client.transport.launch import gateway_argv, refuse_inside_agent, start_and_reach
from flybridge.config.state_dir import StateDir
from flybridge.errors import GatewayError, GatewayUnreachableError
from tests.harness.waiting import until


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


async def nobody() -> None:
    raise GatewayUnreachableError("nobody")


class Reached:
    """Answers as soon as a file is there."""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def __call__(self) -> str:
        if not self.path.exists() or not (text := self.path.read_text()):
            raise GatewayUnreachableError("not yet")
        return text


def test_the_program_is_ours_with_this_state_directory() -> None:
    argv = gateway_argv(StateDir("/s"))
    assert argv[0] == sys.executable
    assert argv[1:] == ["-m", "flybridge", "gateway", "run", "--state", "/s", "--auto"]


def test_inside_an_agent_none_is_started() -> None:
    refuse_inside_agent({})
    with pytest.raises(GatewayUnreachableError, match=r"inside an agent \(session ses_7\)"):
        refuse_inside_agent({"FLYBRIDGE_SESSION": "ses_7"})


async def test_it_is_detached_and_says_what_it_says_into_the_log(short_tmp: Path) -> None:
    state = StateDir(short_tmp / "s")
    state.prepare()
    state.log.write_text("before\n")
    out = short_tmp / "out"
    code = (
        "import os,sys; print('hello from', os.getcwd(), flush=True);"
        "print(repr(sys.stdin.read()), file=sys.stderr, flush=True);"
        f"f=open({str(out)!r},'w'); f.write(str(os.getsid(0)==os.getpid())); f.close()"
    )
    assert await start_and_reach(state, python(code), Reached(out)) == "True"
    assert state.log.read_text() == "before\nhello from /\n''\n"


async def test_what_does_not_start_is_told_with_the_end_of_its_log(short_tmp: Path) -> None:
    state = StateDir(short_tmp / "s")
    argv = python("import sys; print('x'*5000, flush=True); sys.exit('config.yaml: no such key')")
    with pytest.raises(GatewayUnreachableError, match="did not start") as caught:
        await start_and_reach(state, argv, nobody, again_s=0.02)
    assert str(caught.value).endswith("config.yaml: no such key")
    assert len(str(caught.value)) < 1200


async def test_a_program_that_is_not_there_is_told(short_tmp: Path) -> None:
    with pytest.raises(GatewayError, match="cannot start a gateway"):
        await start_and_reach(StateDir(short_tmp / "s"), ["/nonexistent"], nobody)


async def test_a_log_that_is_a_link_is_not_written(short_tmp: Path) -> None:
    state = StateDir(short_tmp / "s")
    state.prepare()
    (short_tmp / "victim").write_text("")
    state.log.symlink_to(short_tmp / "victim")
    with pytest.raises(GatewayError, match=r"cannot write .*gateway\.log"):
        await start_and_reach(state, python("print('x')"), nobody)
    assert (short_tmp / "victim").read_text() == ""


async def test_one_that_found_the_lock_taken_is_started_again(short_tmp: Path) -> None:
    state = StateDir(short_tmp / "s")
    state.prepare()
    taken, out = short_tmp / "taken", short_tmp / "out"
    taken.touch()
    code = (
        "import os,sys\n"
        f"if os.path.exists({str(taken)!r}): os.unlink({str(taken)!r}); sys.exit(1)\n"
        f"open({str(out)!r},'w').write('up')"
    )
    assert await start_and_reach(state, python(code), Reached(out), again_s=0.05) == "up"


async def test_one_that_never_answers_is_given_up(short_tmp: Path) -> None:
    state = StateDir(short_tmp / "s")
    pid = short_tmp / "pid"
    code = (
        "import os, time\n"
        f"open({str(pid)!r}, 'w').write(str(os.getpid()))\n"
        f"while os.path.exists({str(pid)!r}): time.sleep(0.01)"
    )
    with pytest.raises(GatewayUnreachableError, match=r"did not start$"):
        await start_and_reach(state, python(code), nobody, start_s=0.5)
    await until(pid.exists)
    pid.unlink()  # and with it the process
