from __future__ import annotations

import signal
import subprocess
import sys

from tests.harness.agent_host import DEMO, Host, kind, shapes
from tests.harness.waiting import WAIT_S


def run(*argv: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*DEMO, *argv], capture_output=True, timeout=WAIT_S, input=b"", check=False
    )


def test_the_version_is_the_clis_and_names_the_demo() -> None:
    done = run("--version")
    assert done.stdout == b"2.1.325 (Flybridge demo agent)\n"
    assert done.returncode == 0


def test_a_bad_command_line_is_said_on_stderr_only() -> None:
    done = run("--session-id", "nonsense")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"UUID" in done.stderr


def test_nothing_is_said_before_the_first_message() -> None:
    done = run()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_end_of_stdin_finishes_the_turn_and_what_waits() -> None:
    with Host() as host:
        host.prompt("long", "u1")
        host.prompt("think", "u2")
        host.close_input()
        assert shapes(host.rest()).count("result") == 2
        assert host.exit_code() == 0


def test_the_end_of_stdin_refuses_open_prompts() -> None:
    with Host() as host:
        host.prompt("tool")
        host.until(kind("control_request"))
        host.close_input()
        assert len(host.rest()[-1]["permission_denials"]) == 1
        assert host.exit_code() == 0


def test_the_status_tells_of_a_failed_last_turn() -> None:
    with Host() as host:
        host.turn("error")
        host.close_input()
        assert host.exit_code() == 1


def test_sigterm_ends_it_even_while_nobody_reads() -> None:
    # A pipe that is full and not read blocks the agent in the middle of a write.
    flags = ["--include-partial-messages", "--replay-user-messages"]
    process = subprocess.Popen([*DEMO, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    with process.stdin, process.stdout:
        blocks = b'{"type":"user","message":{"role":"user","content":"%s"}}\n' % (b"x" * 300_000)
        process.stdin.write(blocks)
        process.stdin.flush()
        assert process.stdout.read(1) == b"{"
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_S) == 143


def test_sigterm_in_a_turn_and_at_rest() -> None:
    for prompt in ("tool", ""):
        with Host() as host:
            host.prompt(prompt)
            host.until(kind("control_request" if prompt else "result"))
            host.process.send_signal(signal.SIGTERM)
            assert host.exit_code() == 143


def test_sigint_interrupts_and_leaves_with_success() -> None:
    with Host() as host:
        host.prompt("tool")
        host.until(kind("message_stop"))
        host.process.send_signal(signal.SIGINT)
        assert shapes(host.rest())[-2:] == ["user/text", "result"]
        assert host.exit_code() == 0


def test_it_imports_nothing_of_ours_but_wire() -> None:
    code = (
        "import sys, flybridge.agents.demo.__main__; "
        "print([n for n in sys.modules if n.startswith('flybridge.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    allowed = ("flybridge.agents.demo", "flybridge.wire", "flybridge.errors")
    assert [n for n in eval(done.stdout) if not n.startswith(allowed)] == ["flybridge.agents"]
