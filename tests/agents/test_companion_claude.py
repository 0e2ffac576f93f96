"""The handheld and the real CLI: a device presses buttons, and Claude Code does what they say."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from flybridge.frontends.companion.devices import RIGHTS, Devices
from flybridge.store.devices import DeviceFile
from tests.agents.rig import VERSIONS, Bridge
from tests.agents.talk import bash, results, scripted
from tests.harness.handheld import Handheld
from tests.harness.waiting import WAIT_S, until_file

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


class Served(Bridge):
    """A server with a port for devices, whose slots hold the real CLI; one device has a token."""

    token = ""
    device_port = 0

    def start(self) -> None:
        file = DeviceFile(self.state_dir.devices)
        self.token = Devices(file, now_ms=lambda: 1).create_token("handheld", RIGHTS)[1]
        self.serve("--companion-host", "127.0.0.1", "--companion-port", "0")
        self.device_port = int(self.printed(r"\nDevices come in at 127\.0\.0\.1:(\d+),"))


@pytest.fixture(scope="module", params=VERSIONS)
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    served = Served(request.param, tmp_path_factory.mktemp("d"))
    served.start()
    yield served
    served.close()


@pytest.fixture
async def held(served: Served) -> AsyncIterator[Handheld]:
    held = await Handheld.connect(served.device_port, token=served.token)
    while not held.slots or held.slots[0]["state"] not in ("idle", "error"):
        await held.hear(WAIT_S)
    yield held
    held.close()


def slowly(text: str) -> dict[str, object]:
    """An answer that takes longer than the half second between two statuses."""
    return {"say": text, "deltas": 3, "pause_s": 0.4}


@pytest.mark.conforms("S3-3", "S3-5")
async def test_a_prompt_is_worked_on_with_its_context_and_comes_back_idle(
    served: Served, held: Handheld
) -> None:
    usage = {"input_tokens": 50_000, "output_tokens": 1}
    held.prompt(scripted("device-hello", {"blocks": [slowly("Ahoy.")], "usage": usage}))
    await held.wait_for("working")
    shown = await held.wait_for("idle")
    assert 25 in [one.get("contextPercent") for one in held.heard]
    # the newer one says at the end that the window is five times as large
    assert shown["contextPercent"] == {"2.1.38": 25, "2.1.325": 5}[served.claude.version]


@pytest.mark.conforms("S3-6")
async def test_yes_runs_the_command_that_was_shown(served: Served, held: Handheld) -> None:
    file = served.claude.cwd / "yes"
    held.prompt(scripted("device-yes", bash(f"touch {file}"), {"say": "Done."}))
    shown = await held.wait_for("waiting", promptToolType="Bash")
    assert shown["promptToolDetail"] == f"touch {file}"
    assert shown["promptDescription"] == "a test"
    assert not file.exists()
    held.press("yes")
    await held.wait_for("idle")
    await until_file(file)


@pytest.mark.conforms("S3-9")
async def test_no_is_heard_by_the_model_in_the_name_of_the_device(
    served: Served, held: Handheld
) -> None:
    file = served.claude.cwd / "no"
    held.prompt(scripted("device-no", bash(f"touch {file}"), {"say": "Pity."}))
    await held.wait_for("waiting", promptToolDetail=f"touch {file}")
    held.press("no")
    await held.wait_for("idle")
    assert not file.exists()
    assert "Denied by user via handheld" in str(results(served, "device-no")[-1]["content"])


@pytest.mark.conforms("S3-10")
async def test_escape_ends_the_turn_and_takes_the_prompt_with_it(
    served: Served, held: Handheld
) -> None:
    file = served.claude.cwd / "escape"
    held.prompt(scripted("device-escape", bash(f"mkdir {file}"), {"say": "Never."}))
    await held.wait_for("waiting", promptToolDetail=f"mkdir {file}")
    held.press("escape")
    shown = await held.wait_for("idle")
    assert "promptToolType" not in shown
    assert not file.exists()


@pytest.mark.conforms("S3-8")
async def test_always_runs_the_same_again_without_asking(served: Served, held: Handheld) -> None:
    """The older one suggests a folder and a mode for this command, which a device does not keep:
    then it is allowed once, and asked again."""
    file = served.claude.cwd / "always"
    again = bash(f"touch {file}")
    held.prompt(scripted("device-always", again, {"say": "Once."}))
    await held.wait_for("waiting", promptToolDetail=f"touch {file}")
    held.press("always")
    await held.wait_for("idle")
    await until_file(file)
    file.unlink()
    held.heard.clear()
    held.prompt(scripted("device-always-2", again, slowly("Twice.")))
    if served.claude.version == "2.1.38":
        await held.answer("no", f"touch {file}")
        await held.wait_for("idle")
        assert not file.exists()
        return
    await held.wait_for("working")
    await held.wait_for("idle")
    await until_file(file)
    assert all(one["state"] != "waiting" for one in held.heard)


async def test_c01_always_for_one_file_or_command_allows_no_other(
    served: Served, held: Handheld
) -> None:
    """Both suggest the mode acceptEdits for a file in the project."""
    inside, outside = served.claude.cwd / "in.txt", served.base / "out.txt"
    hook = served.claude.cwd / ".git" / "hooks" / "pre-commit"
    writes = [
        {"tool": "Write", "input": {"file_path": str(path), "content": "x"}}
        for path in (inside, outside, hook)
    ]
    held.prompt(scripted("device-c01", *writes, {"say": "Written."}))
    await held.answer("always", str(inside))
    for path in (outside, hook):
        await held.answer("no", str(path))
    await held.wait_for("idle")
    await until_file(inside)
    assert not outside.exists()
    assert not hook.exists()
    touched, run = served.claude.cwd / "zz1", served.claude.cwd / "pwned"
    programs = [bash(f"touch {touched}"), bash(f"python3 -c \"open('{run}', 'w')\"")]
    held.prompt(scripted("device-c01-2", *programs, {"say": "Run."}))
    await held.answer("always", f"touch {touched}")
    await held.answer("no", f"python3 -c \"open('{run}', 'w')\"")
    await held.wait_for("idle")
    await until_file(touched)
    assert not run.exists()


@pytest.mark.conforms("S3-7")
async def test_an_edit_inside_the_project_needs_no_button(served: Served, held: Handheld) -> None:
    inside, outside = served.claude.cwd / "edited.txt", served.base / "outside.txt"
    held.say("config", autoEdit=True)
    while not held.slots[0]["autoEdit"]:
        await held.hear()
    held.heard.clear()
    write = [
        {"tool": "Write", "input": {"file_path": str(one), "content": "x"}}
        for one in (inside, outside)
    ]
    held.prompt(scripted("device-edit", *write, {"say": "Written."}))
    await held.wait_for("waiting", promptToolDetail=str(outside))
    await until_file(inside)
    assert [one["promptToolDetail"] for one in held.heard if one["state"] == "waiting"] == [
        str(outside)
    ]
    held.press("no")
    await held.wait_for("idle")
    assert not outside.exists()
    held.say("config", autoEdit=False)
    while held.slots[0]["autoEdit"]:
        await held.hear()


@pytest.mark.conforms("S3-11", "S3-12", "S3-13")
async def test_a_second_slot_lives_and_dies_by_itself(served: Served, held: Handheld) -> None:
    for _life in range(2):
        held.say("spawn_request", slot=1)
        while (heard := await held.hear(WAIT_S))["type"] != "spawn_result":
            pass
        assert heard["success"]
        await held.wait_for("idle", 1, active=True, agent="claude-2")
        client = await served.client()
        async with client:
            rows = await client.list()
        label = "companion.slot"
        row = max(
            (one for one in rows if one["labels"].get(label) == "1"),
            key=lambda one: int(one["created_ms"]),
        )
        served.kill_agent(row["session"])
        await held.wait_for("done", 1, active=False)
    assert held.slots[0]["active"]


@pytest.mark.conforms("S3-14")
async def test_an_error_of_the_api_is_shown_until_the_next_prompt(
    served: Served, held: Handheld
) -> None:
    held.prompt(scripted("device-error", {"status": 401}))
    shown = await held.wait_for("error")
    assert shown["promptToolType"] == "Error"
    assert shown["promptToolDetail"]
    held.prompt(scripted("device-better", {"say": "Better."}))
    await held.wait_for("idle")
