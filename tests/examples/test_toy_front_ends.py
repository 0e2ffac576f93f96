"""Every front end drives the toy agent, which the product knows nothing about."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.harness.line_process import LineProcess
from tests.harness.run_handheld import handheld
from tests.unit.cli.companion.test_command import DEVICES
from tests.unit.cli.companion.test_devices import listed, person
from tests.web.rig import Served, Visit, launched, served_in

pytestmark = [
    pytest.mark.slow,
    *(pytest.mark.needs(name) for name in ("linux", "chromium", "page")),
]
TOY = Path(__file__).parents[2] / "examples" / "toy_agent"


class ToyGateway(Served):
    """A gateway that serves the page and small devices, and whose default agent is the toy."""

    def agents(self) -> str:
        packages = self.base / "packages"
        pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "-q"]
        subprocess.run([*pip, "--target", str(packages), str(TOY)], check=True, timeout=120)
        self.env["PYTHONPATH"] = str(packages)
        return f"default_agent: toy\n{super().agents()}  toy: {{kind: toy}}\n"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with launched(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def toy(browser: Browser, short_tmp: Path) -> Iterator[ToyGateway]:
    with served_in(browser, short_tmp, *DEVICES, make=ToyGateway) as gateway:
        assert isinstance(gateway, ToyGateway)
        yield gateway


def test_a_chat_and_an_export_show_its_calls_by_kind_and_its_offer(toy: ToyGateway) -> None:
    chat = toy.chat()
    chat.wait_for_prompt()
    chat.say("run ls -l")
    chat.wait_for("● shell ls -l", "rule 1: Always allow", "y allow once")
    chat.type("y")
    chat.wait_for("pretended to run ls -l")
    chat.wait_for_prompt()
    exports = [toy.run("sessions", "export", row["session"]).stdout for row in toy.sessions()]
    assert any("#### Tool shell · `ls -l`" in export for export in exports), exports


def test_the_page_renders_its_calls_by_kind(browser: Browser, toy: ToyGateway) -> None:
    visit = Visit(browser, toy, theme="light", size="desk", login=toy.login)
    page = visit.open("/new")
    dialog = page.get_by_role("dialog", name="New session")
    dialog.get_by_label("Folder").fill(str(toy.work))
    dialog.get_by_text("More options").click()
    dialog.get_by_label("Shout").check()
    dialog.get_by_role("button", name="Open session").click()
    say(page, "run make boats")
    dock = page.get_by_role("region", name="Waiting for you")
    expect(dock).to_contain_text("Wants to run a command")
    expect(dock).to_contain_text("make boats")
    dock.get_by_role("button", name=re.compile("Always allow")).click()
    card = page.locator("[data-tool=shell]")
    expect(card).to_have_attribute("data-status", "ok")
    expect(card).to_contain_text("Run")
    say(page, "run more boats")  # remembered: nobody is asked
    expect(page.locator("[data-tool=shell]")).to_have_count(2)
    say(page, "ahoy")
    expect(page.get_by_role("log")).to_contain_text("You said: AHOY")
    visit.check()
    visit.context.close()


def test_a_run_and_an_ipc_front_end_get_its_answers(toy: ToyGateway) -> None:
    done = toy.run("adhoc", "-o", "shout=true", "ahoy")
    assert (done.returncode, done.stdout) == (0, "You said: AHOY\n"), done
    asked = toy.run("adhoc", "run ls")
    assert (asked.returncode, "Permission required to run `ls`" in asked.stderr) == (1, True)
    argv = toy.argv("ipc", "--agent", "toy")
    with LineProcess(argv, env=toy.env, cwd=toy.work, start_new_session=True) as front:
        front.send({"type": "protocol_init", "version": 1})
        front.send({"type": "user_message", "text": "run ls", "attachments": []})
        request = front.until_type("control_request_forward")
        assert (request["tool_name"], request["input"]) == ("shell", {"command": "ls"})
        answer = {"request_id": request["request_id"], "decision": "allow"}
        front.send({"type": "tool_approval", **answer})
        assert front.until_type("tool_result")["output"] == "pretended to run ls"
        assert front.until_type("turn_complete")["result"] == "success"
        front.close_input()
        assert front.exit_code() == 0


def test_a_team_lead_and_a_device_steer_it(toy: ToyGateway) -> None:
    session = toy.new_session("r", agent="toy", model="")
    for words in (("team", "add", "default", "me"), ("team", "allow", "default", "me")):
        assert toy.at_terminal(*words).wait_end() == 0
    sent = toy.run("control", "send", session, "ahoy", "--sender", "me")
    assert (sent.returncode, sent.stdout) == (0, "ok: started a turn\n"), sent
    flags = ("--may", "input", "--may", "approve", "--may", "spawn")
    token = person(toy, "devices", "pair", "--token", "--name", "box", *flags)
    with handheld(toy, token, "--address", listed(toy)["listening"]) as device:
        device.state("idle")
        device.say("say run ls")
        assert "ls" in json.dumps(device.state("waiting"))
        device.say("yes")
        device.state("idle")


def composer(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message").first


def say(page: Page, text: str) -> None:
    composer(page).fill(text)
    composer(page).press("Enter")
