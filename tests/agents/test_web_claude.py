"""The page in a browser, with the real Claude Code behind it: offline, its model a script."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.agents.harbour import visiting, wants_log_in
from tests.agents.rig import HERE, VERSIONS, Bridge
from tests.agents.talk import bash, scripted
from tests.harness.terminal_home import Terminal
from tests.web.rig import Visit, launched

pytestmark = [pytest.mark.needs(one) for one in ("claude-cli", "linux", "chromium", "page")]


class ServedBridge(Bridge):
    """A gateway that serves the page, and whose agent is a real CLI."""

    def start(self) -> None:
        self.serve()

    def link(self) -> str:
        """A link that logs one browser in, as a person at a terminal gets it."""
        argv, env = self.argv("open", "--print"), {**self.env, "TERM": "xterm"}
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
    visit.log_in().close()
    yield visit
    visit.check()
    visit.context.close()


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


@pytest.mark.conforms("audit: component, permission dialog")
def test_a_denial_has_words_and_a_changed_input_is_marked(
    visit: Visit, bridge: ServedBridge
) -> None:
    page = begin(visit, bridge, "changed")
    say(page, "run", bash("touch one"), bash("touch two"), {"say": "tried both"})
    dock = page.get_by_role("region", name="Waiting for you")
    expect(dock).to_contain_text("touch one")
    dock.get_by_role("button", name="Deny", exact=True).click()
    dock.get_by_role("textbox").fill("make a folder instead")
    dock.get_by_role("form", name="Deny").get_by_role("button", name="Deny", exact=True).click()
    expect(dock).to_contain_text("touch two")
    dock.get_by_role("button", name="Edit", exact=True).click()
    dock.get_by_label("command").fill("touch three")
    dock.get_by_role("button", name="Allow as changed").click()
    expect(page.get_by_text("tried both", exact=True)).to_be_visible()
    cards = page.locator("[data-tool=Bash]")
    expect(cards).to_have_count(2)
    denied, changed = cards.all()
    expect(denied).to_contain_text("Denied by you: make a folder instead")
    expect(changed).to_contain_text("changed by you")
    expect(changed).to_contain_text("touch three")
    changed.get_by_role("button").first.click()
    changed.get_by_role("button", name="What the agent had asked").click()
    expect(changed).to_contain_text("touch two")
    folder = bridge.base / "repositories" / "changed"
    assert sorted(one.name for one in folder.iterdir()) == [".git", "three"]


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
    expect(log(page)).to_contain_text("Permission mode: Plan only")
    model = panel.get_by_label("Model")
    for chosen in ("haiku", "opus"):  # the newer CLI's default is the same model as its opus
        model.select_option(chosen)
        expect(log(page)).to_contain_text(re.compile(f"Model: .*{chosen}"))
        expect(model).to_have_value(chosen)
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_have_count(0)
    say(page, "/cost")
    expect(log(page)).to_contain_text("Total cost")
    page.get_by_role("tab", name="Context").click()
    context = page.get_by_role("tabpanel", name="Context")
    expect(context).to_contain_text("Last turn")
    if bridge.claude.version == "2.1.38":  # it says what fills it only when a person asks
        context.get_by_role("button", name="Ask with /context").click()
    else:
        say(page, "/context")
    expect(log(page).get_by_role("heading", name="Context Usage")).to_be_visible()
    expect(context).to_contain_text("System prompt")
    page.keyboard.press("Control+,")
    expect(panel.get_by_label("Model")).to_have_value("opus")  # also once it was used


@pytest.mark.conforms("audit: component, settings panel")
def test_what_a_model_cannot_be_told_is_not_offered(visit: Visit, bridge: ServedBridge) -> None:
    page = begin(visit, bridge, "told")
    say(page, "hello", {"say": "here I am"})
    expect(log(page)).to_contain_text("Done")
    page.keyboard.press("Control+,")
    panel = page.get_by_role("dialog", name="Settings")
    if bridge.claude.version == "2.1.38":
        expect(panel.get_by_label("Effort")).to_be_visible()
        expect(panel.get_by_label("Fast mode")).to_be_disabled()
        return
    expect(panel.get_by_label("Fast mode")).to_be_enabled()
    panel.get_by_label("Model").select_option("sonnet")
    expect(panel.get_by_label("Fast mode")).to_be_disabled()
    expect(panel.get_by_text("Not with this model")).to_be_visible()


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
    line = card.get_by_role("button").first
    if line.get_attribute("aria-expanded") == "false":
        line.click()
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


@pytest.mark.conforms("audit: component, session management")
def test_the_latest_conversation_of_a_folder_is_shown_and_opened_once(
    visit: Visit, bridge: ServedBridge
) -> None:
    page = begin(visit, bridge, "latest")
    say(page, "hello", {"say": "we spoke before"})
    expect(log(page)).to_contain_text("Done")
    address = page.url

    def go_on(*, fork: bool) -> Page:
        page = visit.open("/new")
        dialog = page.get_by_role("dialog", name="New session")
        dialog.get_by_label("Folder").fill(str(bridge.base / "repositories" / "latest"))
        dialog.get_by_label("Start with").select_option("continue")
        dialog.get_by_label("Fork it").set_checked(fork)
        dialog.get_by_role("button", name="Open session").click()
        page.wait_for_url("**/s/ses_*")
        return page

    assert go_on(fork=False).url == address
    copy = go_on(fork=True)
    assert copy.url != address
    expect(log(copy).get_by_text("we spoke before", exact=True)).to_be_visible()


@pytest.mark.conforms("audit: component, MCP server status")
def test_the_way_to_log_in_to_a_server_is_shown(visit: Visit, bridge: ServedBridge) -> None:
    page = begin(visit, bridge, "log-in", wants_log_in())
    say(page, "hello", {"say": "here I am"})
    expect(log(page)).to_contain_text("Done")
    page.get_by_role("tab", name="MCP").click()
    server = page.get_by_role("tabpanel").get_by_role("listitem").filter(has_text="Harbour")
    expect(server).to_contain_text(re.compile("needs a log-in|failed"))
    if "failed" in server.inner_text():  # it was asked before it listened
        server.get_by_role("button", name="Reconnect").click()
    server.get_by_role("button", name="Log in").click()
    if bridge.claude.version == "2.1.38":
        expect(page.get_by_role("alert").first).to_contain_text("only in its own terminal")
        return
    way = server.get_by_role("link", name="Open the log-in page")
    address = way.get_attribute("href") or ""
    say(page, "log in", bash(visiting(address)), {"say": "There."})
    allow(page)
    expect(server).to_contain_text("connected")  # it looks by itself
    expect(way).to_have_count(0)
