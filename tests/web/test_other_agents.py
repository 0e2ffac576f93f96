"""The page with an agent that is not Claude: it shows what that agent publishes."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.harness.agent_programs import agent
from tests.harness.kept_by_courier import CONFIG_ENV
from tests.harness.other_agent import KIND, PROGRAM
from tests.repo.tree import ROOT
from tests.web.conftest import Visitor
from tests.web.past import write_down
from tests.web.rig import Served, served_in

MODULE = """
from flybridge.agents.kinds import AgentKind
from tests.harness.kept_by_courier import CourierHistory
from tests.harness.other_agent import PROGRAM, CourierAgent

COURIER = AgentKind(
    name="courier",
    program=PROGRAM,
    build=lambda settings: CourierAgent(name=settings.name),
    history=CourierHistory,
)
"""


class ServedWithCourier(Served):
    """A gateway on a machine where a package with the kind ``courier`` is installed."""

    def __init__(self, base: Path, *args: str) -> None:
        super().__init__(base, *args)
        packages = base / "packages"
        info = packages / "courier_kind-1.0.dist-info"
        info.mkdir(parents=True)
        (packages / "courier_kind.py").write_text(MODULE)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: courier-kind\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[flybridge.agents]\ncourier = courier_kind:COURIER")
        self.env["PYTHONPATH"] = os.pathsep.join((str(packages), str(ROOT)))
        self.env[CONFIG_ENV] = str(base)
        parcel = {"id": "par-1", "text": "a heavy box", "cwd": str(self.work)}
        (base / "parcels").write_text(json.dumps(parcel) + "\n")
        write_down(self)

    def agents(self) -> str:
        return super().agents() + agent("van", PROGRAM, kind=KIND)


@pytest.fixture(scope="module")
def gateway(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    base = Path(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp().parent))
    with served_in(browser, base, make=ServedWithCourier) as gateway:
        yield gateway


def test_modes_are_shown_in_the_words_of_their_agent(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session("modes", agent="van", model="bike")
    gateway.say(session, "hello", "modes-1")
    page = visitor().open(f"/s/{session}")
    choice = page.get_by_label("Permission mode")
    expect(choice.get_by_role("option")).to_have_text(
        ["Bypass the city", "Ask at the door", "free"]
    )
    choice.select_option(label="Bypass the city")
    expect(page.get_by_role("log")).to_contain_text("Permission mode: Bypass the city")
    page.goto(f"{gateway.address}/new")
    form = page.get_by_role("dialog", name="New session")
    form.get_by_label("Agent").select_option("van")
    offered = form.get_by_label("Permissions").get_by_role("option")
    expect(offered.filter(has_text="Bypass the city: It only looks")).to_have_count(1)


def test_past_conversations_of_every_agent_are_listed_by_their_agents(
    gateway: Served, visitor: Visitor
) -> None:
    page = visitor().open("/history")
    listed = page.get_by_role("region", name="Conversations").get_by_role("listitem")
    expect(listed.filter(has_text="Where is the lighthouse?")).to_contain_text("claude · ")
    expect(listed.filter(has_text="parcel 1")).to_contain_text("van · ")
    search = page.get_by_role("searchbox", name="Search everything that was said")
    search.fill("heavy")
    search.press("Enter")
    found = page.get_by_role("region", name="Found").get_by_role("listitem")
    expect(found).to_contain_text("a heavy box")
    expect(found.get_by_text("van", exact=True)).to_be_visible()
    search.fill("")
    page.get_by_role("button", name="Resume parcel 1").click()
    form = page.get_by_role("dialog", name="New session")
    expect(form.get_by_role("combobox", name="Conversation")).to_have_value("par-1")
    expect(form.get_by_label("Agent")).to_have_value("van")
    offered = form.locator("datalist option[value=par-1]")
    expect(offered).to_have_text("parcel 1")  # and no conversation of Claude's
    expect(form.locator("datalist option", has_text="lighthouse")).to_have_count(0)
    form.get_by_label("Start with").select_option("continue")
    form.get_by_role("button", name="Open session").click()
    page.wait_for_url("**/s/*")
    (session,) = [
        one
        for one in gateway.call("GET", "/sessions")["sessions"]
        if one["conversation"] == "par-1"
    ]
    assert (session["agent"], session["kind"]) == ("van", KIND)
