from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.model.audit import Record
from flybridge.runtime.caller import Caller
from flybridge.runtime.desk import Desk
from flybridge.runtime.folders import obeyed_in
from flybridge.store.trusted import TrustedFolders
from flybridge.testing import recorder
from tests.runtime.house import House, ListClient


def write(folder: Path, name: str) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    return str(path)


def test_what_an_agent_would_obey_is_found_up_to_the_root_of_the_repository(tmp_path: Path) -> None:
    outside = write(tmp_path, ".mcp.json")
    repo, inner = tmp_path / "repo", tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    assert obeyed_in(inner) == []  # no repository: the folders above are somebody else's
    (repo / ".git").mkdir()
    assert obeyed_in(inner) == []
    at_root = write(repo, ".claude/settings.json")
    here = write(inner, ".mcp.json")
    assert obeyed_in(inner) == [here, at_root]
    assert outside not in obeyed_in(inner)
    assert obeyed_in(tmp_path) == [outside]
    dangling = inner / ".claude" / "settings.local.json"
    dangling.parent.mkdir()
    dangling.symlink_to("/nowhere")
    assert str(dangling) in obeyed_in(inner)


class Hostile:
    """A house whose folder holds a repository that brings hooks."""

    def __init__(self, folder: Path) -> None:
        self.house = House(folder)
        self.noted: list[Record] = []
        self.repo = folder / "repo"
        write(self.repo, ".claude/settings.json")
        self.trusted = TrustedFolders(folder / "trusted")
        self.house.services.trusted = self.trusted
        parts = self.house.sessions, self.house.services.hub, self.house.journal
        self.house.desk = Desk(*parts, self.house.services.blobs, {}, self.noted.append)

    async def open(self, client: ListClient | None = None, /, **params: Any) -> str:
        asked = {"agent": "recorder", "cwd": str(self.repo), "request": "r", **params}
        return (await self.house.ask("open", client, **asked)).error


@pytest.fixture
async def hostile(short_tmp: Path) -> AsyncIterator[Hostile]:
    one = Hostile(short_tmp)
    yield one
    await one.house.end()


async def test_abuse_41_a_folder_that_brings_settings_is_not_opened_unseen(
    hostile: Hostile,
) -> None:
    assert await hostile.open() == "folder_not_trusted"
    assert hostile.house.sessions.rows() == []


async def test_abuse_41_it_is_opened_with_its_settings_left_out(hostile: Hostile) -> None:
    assert await hostile.open(folder="restrict") == ""
    await hostile.house.say(next(iter(hostile.house.sessions._live.values())), "hi", "r1")
    (started,) = [
        one for one in recorder.read_record(str(hostile.house.record)) if one.kind == "started"
    ]
    words = started.data["started"]
    assert words[words.index("--setting-sources") + 1] == "user"
    assert "--strict-mcp-config" in words
    assert hostile.trusted.all() == []


async def test_a_person_may_trust_it_once_for_all(hostile: Hostile) -> None:
    spawner = ListClient(Caller(principal="you", scopes=frozenset({"view", "spawn"})))
    assert await hostile.open(spawner, folder="trust") == "not_allowed"
    assert await hostile.open(folder="trust") == ""
    assert hostile.trusted.holds(hostile.repo)
    assert await hostile.open(spawner, request="r2") == ""
    assert ("folder.trust", str(hostile.repo)) in [(one.event, one.target) for one in hostile.noted]


async def test_a_folder_that_brings_nothing_needs_no_trust(hostile: Hostile) -> None:
    assert await hostile.open(cwd=str(hostile.house.folder)) == ""


async def test_folders_are_trusted_by_an_admin_only(hostile: Hostile) -> None:
    house = hostile.house
    somebody = ListClient(Caller(principal="you", scopes=frozenset({"view", "spawn"})))
    folder = str(hostile.repo)
    for name in ("trust.add", "trust.remove"):
        assert (await house.ask(name, somebody, folder=folder)).error == "not_allowed"
    assert (await house.ask("trust.add", folder="repo")).error == "invalid_request"
    assert (await house.ask("trust.add", folder="/no/such")).error == "invalid_request"
    assert (await house.ask("trust.add", folder=folder)).error == ""
    listed = await house.ask("trust.list", somebody)
    assert msgspec.json.decode(listed.value) == {"folders": [folder]}  # type: ignore[arg-type]
    gone = await house.ask("trust.remove", folder=folder)
    assert msgspec.json.decode(gone.value) == {"removed": True}  # type: ignore[arg-type]
    assert await hostile.open() == "folder_not_trusted"
