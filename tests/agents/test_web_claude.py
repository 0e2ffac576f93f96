"""The page in a browser, with the real Claude Code behind it: offline, its model a script."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests import leftovers
from tests.agents.rig import HERE, START_S, VERSIONS, Bridge
from tests.agents.talk import bash, scripted
from tests.cli.at_terminal import Terminal
from tests.web.rig import Visit, launched, port_of

pytestmark = [pytest.mark.needs(one) for one in ("claude-cli", "linux", "chromium", "page")]
SLOW_MS = 25_000  # a CLI takes seconds to start where others run beside it


class ServedBridge(Bridge):
    """A gateway that serves the page, and whose agent is a real CLI."""

    address = ""

    def start(self) -> None:
        env = self.claude.env | {"XDG_CONFIG_HOME": str(self.base / "cfg")}
        with self.log.open("ab") as log:
            self._gateway = subprocess.Popen(
                self._argv("serve", "--port", "0"),
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + START_S
        while not (found := re.search(r"Flybridge is at (\S+)", self.log.read_text())):
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)
        self.address = found[1]

    @property
    def port(self) -> int:
        return port_of(self.address)

    def _argv(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "flybridge", *args, "--state", str(self.state.path)]

    def _left(self) -> list[int]:
        """Without what this process started itself: the browser is none of it."""
        found = leftovers.find_processes("none", self.base)
        return [one.pid for one in found if not one.why.startswith("started by")]

    def link(self) -> str:
        """A link that logs one browser in, as a person at a terminal gets it."""
        env = self.claude.env | {"XDG_CONFIG_HOME": str(self.base / "cfg"), "TERM": "xterm"}
        argv = self._argv("open", "--print")
        terminal = Terminal(argv, env=env, cwd=self.claude.cwd, columns=200, lines=40)
        try:
            assert terminal.wait_end() == 0, terminal.seen
            return "".join(terminal.seen.split())
        finally:
            terminal.close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with launched(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture(scope="module", params=VERSIONS)
def bridge(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServedBridge]:
    bridge = ServedBridge(request.param, tmp_path_factory.mktemp("c"))
    try:
        bridge.start()
        yield bridge
    finally:
        bridge.close()


@pytest.fixture(scope="module")
def visit(browser: Browser, bridge: ServedBridge) -> Iterator[Visit]:
    """Somebody who is logged in; at the end, nothing may have gone wrong in any page."""
    visit = Visit(browser, bridge, theme="dark", size="desk", login=None)
    visit.context.set_default_timeout(SLOW_MS)
    visit.log_in().close()
    yield visit
    visit.check()
    visit.context.close()


@pytest.fixture(autouse=True)
def patient() -> Iterator[None]:
    expect.set_options(timeout=SLOW_MS)
    yield
    expect.set_options(timeout=5_000)


def begin(visit: Visit, bridge: ServedBridge, name: str, files: Mapping[str, object] = {}) -> Page:
    """A new session, opened in the page, in a repository with these files."""
    folder = bridge.repository(name, files)
    page = visit.open("/new")
    dialog = page.get_by_role("dialog", name="New session")
    dialog.get_by_label("Folder").fill(str(folder))
    dialog.get_by_role("button", name="Open session").click()
    expect(composer(page)).to_be_visible()
    return page


def composer(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message").first


def say(page: Page, text: str, *answers: object) -> None:
    composer(page).fill(scripted(text, *answers))
    composer(page).press("Enter")


def allow(page: Page) -> None:
    page.get_by_role("region", name="Waiting for you").get_by_role(
        "button", name="Allow once"
    ).click()


def log(page: Page) -> Locator:
    return page.get_by_role("log")


@pytest.mark.conforms("stream-json §18 page")
def test_words_are_shown_as_they_come(visit: Visit, bridge: ServedBridge) -> None:
    go = bridge.base / "go-words"
    page = begin(visit, bridge, "words")
    words = {"say": "aye ", "repeat": 4, "deltas": 4, "hold": str(go), "hold_after": 2}
    say(page, "hello", words)
    expect(log(page)).to_contain_text("aye aye")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    assert "aye aye aye" not in log(page).inner_text()
    go.touch()
    expect(log(page)).to_contain_text("aye aye aye aye")
    expect(log(page)).to_contain_text("Done")
    expect(page.get_by_role("meter", name="Context used").first).to_be_visible()


@pytest.mark.conforms("audit: component, permission dialog")
def test_a_command_is_allowed_and_its_output_has_colours(
    visit: Visit, bridge: ServedBridge
) -> None:
    page = begin(visit, bridge, "colours")
    command = "printf 'plain \\033[31mport\\033[0m'; touch allowed"
    say(page, "run", bash(command), {"say": "ran"})
    dock = page.get_by_role("region", name="Waiting for you")
    expect(dock).to_contain_text("touch allowed")
    allow(page)
    card = page.locator("[data-tool=Bash]")
    expect(card).to_have_attribute("data-status", "ok")
    card.get_by_role("button").first.click()
    output = card.get_by_role("group", name="Output")
    expect(output).to_have_text("plain port")
    colours = "(box) => [box, box.querySelector('span')].map((one) => getComputedStyle(one).color)"
    plain, port = output.evaluate(colours)
    assert plain != port


@pytest.mark.conforms("stream-json §19f", "audit: component, diff viewer")
def test_a_change_is_a_difference_before_and_after(visit: Visit, bridge: ServedBridge) -> None:
    page = begin(visit, bridge, "change", {"boat.txt": "name: old\n"})
    file = bridge.base / "repositories" / "change" / "boat.txt"
    path = {"file_path": str(file)}
    edit = {**path, "old_string": "old", "new_string": "new"}
    read = {"tool": "Read", "input": path}
    say(page, "change", read, {"tool": "Edit", "input": edit}, {"say": "changed"})
    dock = page.get_by_role("region", name="Waiting for you")
    expect(dock.get_by_role("group", name="Changes in")).to_contain_text("new")
    allow(page)
    card = page.locator("[data-tool=Edit]")
    expect(card).to_have_attribute("data-status", "ok")
    expect(card.get_by_role("group", name="Changes in")).to_contain_text(
        "removed line 1: name: old"
    )
    expect(card).to_contain_text("Allowed by you")
    assert file.read_text() == "name: new\n"


@pytest.mark.conforms("audit: component, question form")
def test_a_question_is_answered(visit: Visit, bridge: ServedBridge) -> None:
    page = begin(visit, bridge, "question")
    asked = {
        "question": "Which colour?",
        "header": "Colour",
        "multiSelect": False,
        "options": [{"label": one, "description": one} for one in ("Red", "Blue")],
    }
    ask = {"tool": "AskUserQuestion", "input": {"questions": [asked]}}
    say(page, "ask", ask, {"say": "painted"})
    form = page.get_by_role("form", name="Questions")
    form.get_by_role("radio", name="Blue").check()
    form.get_by_role("button", name="Send answer").click()
    expect(log(page)).to_contain_text("painted")
    expect(page.locator("[data-tool=AskUserQuestion]")).to_have_attribute("data-status", "ok")


@pytest.mark.conforms(
    "stream-json §19a", "stream-json §19d", "stream-json §19e", "audit: component, settings panel"
)
def test_settings_and_what_it_used(visit: Visit, bridge: ServedBridge) -> None:
    page = begin(visit, bridge, "settings")
    say(page, "hello", {"say": "here I am"})
    expect(log(page)).to_contain_text("Done")
    page.keyboard.press("Control+,")
    panel = page.get_by_role("dialog", name="Settings")
    panel.get_by_label("Permission mode").select_option("plan")
    expect(log(page)).to_contain_text("Permission mode: plan")
    model = panel.get_by_label("Model")
    before = model.input_value()
    others = [one.get_attribute("value") or "" for one in model.locator("option").all()]
    model.select_option(next(one for one in others if "haiku" in one))
    expect(model).not_to_have_value(before)
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_have_count(0)
    say(page, "/context")
    expect(log(page).get_by_role("heading", name="Context Usage")).to_be_visible()
    say(page, "/cost")
    expect(log(page)).to_contain_text("Total cost")
    page.get_by_role("tab", name="Context").click()
    expect(page.get_by_role("tabpanel", name="Context")).to_contain_text("tokens")
    expect(page.get_by_role("tabpanel", name="Context")).to_contain_text("This session")


@pytest.mark.conforms("audit: component, escape key handler")
def test_escape_interrupts_it(visit: Visit, bridge: ServedBridge) -> None:
    page = begin(visit, bridge, "escape")
    never = {"say": "on ", "repeat": 4, "hold": str(bridge.base / "never")}
    say(page, "talk", never)
    expect(log(page)).to_contain_text("on on on")
    page.keyboard.press("Escape")
    expect(log(page)).to_contain_text("Interrupted")
    say(page, "still there?", {"say": "yes, I am"})
    expect(log(page)).to_contain_text("yes, I am")


@pytest.mark.conforms("audit: component, notebook cell viewer")
def test_a_cell_of_a_notebook_is_shown_as_code(visit: Visit, bridge: ServedBridge) -> None:
    cell: dict[str, object] = {
        "cell_type": "code",
        "id": "c1",
        "source": "print(1)",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    language = {"language_info": {"name": "python"}}
    notebook = {"cells": [cell], "metadata": language, "nbformat": 4, "nbformat_minor": 5}
    page = begin(visit, bridge, "notebook", {"n.ipynb": notebook})
    path = str(bridge.base / "repositories" / "notebook" / "n.ipynb")
    read = {"tool": "Read", "input": {"file_path": path}}
    given = {"notebook_path": path, "cell_id": "c1", "new_source": "print(2)"}
    say(page, "change", read, {"tool": "NotebookEdit", "input": given}, {"say": "changed"})
    allow(page)
    card = page.locator("[data-tool=NotebookEdit]")
    expect(card).to_have_attribute("data-status", "ok")
    if card.locator("[data-cell=code]").count() == 0:
        card.get_by_role("button").first.click()
    expect(card.locator("[data-cell=code]")).to_contain_text("print(2)")


@pytest.mark.conforms("audit: component, MCP server status")
def test_servers_are_listed_with_their_state(visit: Visit, bridge: ServedBridge) -> None:
    sums = {"command": sys.executable, "args": ["-I", "-S", str(HERE / "mcp_server.py")]}
    servers = {"sums": sums, "broken": {"command": "/nowhere/at/all"}}
    files = {
        ".mcp.json": {"mcpServers": servers},
        ".claude/settings.local.json": {"enableAllProjectMcpServers": True},
    }
    page = begin(visit, bridge, "servers", files)
    say(page, "hello", {"say": "here I am"})
    expect(log(page)).to_contain_text("Done")
    page.get_by_role("tab", name="MCP").click()
    panel = page.get_by_role("tabpanel", name="MCP")
    expect(panel.get_by_role("listitem").filter(has_text="sums")).to_contain_text("connected")
    expect(panel.get_by_role("listitem").filter(has_text="broken")).to_contain_text("failed")
