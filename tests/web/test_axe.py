"""What axe finds, of any impact: nothing, in any view or state, theme or size."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Visitor
from tests.web.rig import Served, Size, Theme

Axe = Callable[..., list[str]]
PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# what is said in each session, how often it is allowed, and what is there at the end
SAID = {
    "markdown": (["think about boats", "markdown"], 0, "Markdown"),
    "edit": (["edit"], 2, "Done"),
    "permission": (["run echo ahoy"], 0, "Allow once"),
    "question": (["questions"], 0, "Send answers"),
    "plan": (["plan"], 0, "Approve the plan"),
    "subagents": (["agents"], 0, "Allow once"),
    "tasks": (["tasks"], 0, "Done"),
    "trouble": (["unknown", "limit", "compact", "error 529", "crash"], 0, "The agent ended"),
    "tools": (["parallel"], 2, "Done"),
}
_names = itertools.count()
sizes = pytest.mark.parametrize("size", ["desk", "phone"])


@pytest.fixture(scope="module")
def scenes(gateway: Served) -> dict[str, str]:
    """A session for everything that one can show, by name."""
    made = {"empty": gateway.new_session(f"axe-{next(_names)}")}
    for name, (said, allowed, _) in SAID.items():
        made[name] = gateway.new_session(f"axe-{next(_names)}", title=f"All about {name}")
        for text in said[:-1]:
            gateway.say(made[name], text, f"say-{next(_names)}")
        gateway.say(made[name], said[-1], f"say-{next(_names)}", until="written")
        for _ in range(allowed):
            gateway.answer(made[name])
    made["queue"] = gateway.new_session(f"axe-{next(_names)}", model="")  # at a talking pace
    gateway.say(made["queue"], "count", f"say-{next(_names)}", until="written")
    command = {"type": "send_input", "content": [{"type": "text", "text": "then this"}]}
    later = {"command": command | {"mode": "queue"}, "request": f"say-{next(_names)}"}
    gateway.call("POST", f"/sessions/{made['queue']}/commands", later | {"until": "accepted"})
    return made


def looked_at(page: Page, axe: Axe, what: str) -> list[str]:
    """What axe finds in the dark and, where colours are concerned, in the light; and whether the
    page fits its window."""
    found: list[str] = []
    rules: dict[Theme, list[str]] = {"dark": [], "light": ["color-contrast"]}
    for theme, only in rules.items():
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # nothing half faded in
        page.evaluate(PAINTED)
        found += [f"{what}, {theme}: {one}" for one in axe(page, rules=only)]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append(f"{what}: wider than the screen")
    return found


@sizes
def test_an_empty_board(gateway: Served, visitor: Visitor, axe: Axe, size: Size) -> None:
    page = visitor(size=size).open()
    expect(page.get_by_role("button", name="Start a session")).to_be_visible()
    assert looked_at(page, axe, "empty board") == []


@sizes
def test_every_state_of_a_session(
    scenes: dict[str, str],
    gateway: Served,
    visitor: Visitor,
    axe: Axe,
    size: Size,
) -> None:
    page = visitor(size=size).page()
    found: list[str] = []
    for name, session in scenes.items():
        page.goto(f"{gateway.address}/s/{session}")
        shown = SAID[name][2] if name in SAID else {"queue": "then this"}.get(name, "")
        expect(page.get_by_text(shown).last).to_be_visible()
        page.keyboard.press("Alt+o")  # every tool is open
        found += looked_at(page, axe, name)
    assert not found, "\n".join(found)


@sizes
def test_what_stands_beside_a_session(
    scenes: dict[str, str],
    gateway: Served,
    visitor: Visitor,
    axe: Axe,
    size: Size,
) -> None:
    page = visitor(size=size).open(f"/s/{scenes['tasks']}")
    found: list[str] = []
    if size == "phone":
        page.get_by_role("navigation", name="Places").get_by_role(
            "button", name="Inspector"
        ).click()
    for tab in ("Tasks", "Changes", "Context", "MCP"):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tabpanel", name=tab)).to_be_visible()
        found += looked_at(page, axe, tab)
    assert not found, "\n".join(found)


@sizes
def test_every_other_view(
    scenes: dict[str, str],
    gateway: Served,
    visitor: Visitor,
    axe: Axe,
    size: Size,
) -> None:
    page = visitor(size=size).page()
    found: list[str] = []
    for path, shown in (
        ("/", "Needs you"),
        ("/history", "History"),
        ("/access", "Tokens for programs"),
        ("/devices", "Devices"),
        ("/s/nowhere", "This session is not here"),
    ):
        page.goto(f"{gateway.address}{path}")
        expect(page.get_by_role("heading", name=shown).first).to_be_visible()
        found += looked_at(page, axe, path)
    assert not found, "\n".join(found)


@sizes
def test_what_opens_over_the_page(
    scenes: dict[str, str],
    gateway: Served,
    visitor: Visitor,
    axe: Axe,
    size: Size,
) -> None:
    page = visitor(size=size).open(f"/s/{scenes['markdown']}")
    expect(page.get_by_role("heading", name="Markdown", exact=True)).to_be_attached()
    found: list[str] = []
    for word in ("New session", "Help", "Keys", "Settings", "Rename this session"):
        page.keyboard.press("Control+/")
        box = page.get_by_role("combobox", name="Command or session")
        box.fill(word)
        if word == "Help":
            found += looked_at(page, axe, "palette")
        page.get_by_role("option", name=word).first.click()
        dialog = page.get_by_role("dialog").filter(has_not=box)
        expect(dialog).to_be_visible()
        found += looked_at(page, axe, word)
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    assert not found, "\n".join(found)


def test_high_contrast(scenes: dict[str, str], gateway: Served, visitor: Visitor, axe: Axe) -> None:
    visit = visitor()
    kept = json.dumps({"contrast": "more"})
    visit.context.add_init_script(f"localStorage.setItem('flybridge.settings', {kept!r})")
    page = visit.page()
    found: list[str] = []
    for name in ("markdown", "edit", "permission"):
        page.goto(f"{gateway.address}/s/{scenes[name]}")
        expect(page.locator("html")).to_have_attribute("data-contrast", "more")
        expect(page.get_by_text(SAID[name][2]).last).to_be_visible()
        found += looked_at(page, axe, name)
    assert not found, "\n".join(found)


@sizes
def test_the_login(gateway: Served, visitor: Visitor, axe: Axe, size: Size) -> None:
    visit = visitor(size=size, logged_in=False)
    visit.expect(r"api/v1/me")  # it asks whether somebody is logged in
    page = visit.open("/login")
    expect(page.get_by_role("heading").first).to_be_visible()
    assert looked_at(page, axe, "login") == []
