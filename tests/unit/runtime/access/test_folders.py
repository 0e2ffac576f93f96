from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.errors import AgentStartError
from flybridge.model import events as e
from flybridge.model.audit import Record
from flybridge.model.capabilities import OpenSpec
from flybridge.model.deliveries import Stage
from flybridge.model.options import AgentOptions
from flybridge.runtime.access import folders
from flybridge.runtime.access.folders import check_start, settings_in
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.lifecycle.agents import AgentShelf
from flybridge.session.authorisation import Caller
from flybridge.store.trusted import TrustedFolders
from flybridge.testing import recorder
from tests.harness.other_agent import PROGRAM, WITHOUT_FOLDER, CourierAgent
from tests.harness.runtime_harness import House, ListClient
from tests.harness.waiting import until

CLAUDE = ClaudeAgent()


def obeyed_in(cwd: Path, home: Path | None = None) -> list[str]:
    return settings_in(cwd, CLAUDE.trust_files, home)


def instructions_in(cwd: Path) -> list[str]:
    return folders.instructions_in(cwd, CLAUDE.trust_files)


def restricted(options: AgentOptions) -> AgentOptions:
    return CLAUDE.restricted(options)


def write(folder: Path, name: str) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    return str(path)


def test_what_an_agent_would_obey_is_found_up_to_the_root_of_the_repository(tmp_path: Path) -> None:
    repo, inner = tmp_path / "repo", tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    (repo / ".git").mkdir()
    assert obeyed_in(inner) == []
    outside = write(tmp_path, ".claude/settings.json")  # no version looks there
    at_root = write(repo, ".claude/settings.json")
    here = write(inner, ".mcp.json")
    assert obeyed_in(inner) == [here, at_root]
    assert obeyed_in(tmp_path) == [outside, at_root]
    dangling = inner / ".claude" / "settings.local.json"
    dangling.parent.mkdir()
    dangling.symlink_to("/nowhere")
    assert str(dangling) in obeyed_in(inner)


@pytest.mark.parametrize(
    "name",
    [
        ".claude/agents/helper.md",
        ".claude/skills/x/SKILL.md",
        ".claude/commands/x.md",
        ".claude/commands/deep/er/x.md",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/output-styles/x.md",
        ".claude/a-file-of-a-newer-version",
        ".claude/agents/CLAUDE.md",
        ".mcp.json",
    ],
)
def test_a08_everything_a_folder_brings_is_asked_about(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, name)
    assert obeyed_in(tmp_path) == [path]


def test_a08_instructions_are_listed_and_never_asked_about(tmp_path: Path) -> None:
    names = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md")
    paths = [write(tmp_path, name) for name in names]
    write(tmp_path, ".claude/README.md")
    write(tmp_path, ".claude/.gitignore")
    (tmp_path / ".claude" / "agents").mkdir()
    assert obeyed_in(tmp_path) == []
    assert instructions_in(tmp_path) == paths
    (tmp_path / ".claude" / "CLAUDE.md").unlink()
    hidden = write(tmp_path, ".claude/CLAUDE.md/settings.json")  # a folder of that name is not text
    assert obeyed_in(tmp_path) == [hidden]


def test_a08_servers_count_in_every_folder_above_and_the_rest_without_a_repository(
    tmp_path: Path,
) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    servers = write(tmp_path, ".mcp.json")
    agent = write(tmp_path, ".claude/agents/x.md")
    assert obeyed_in(inner) == [agent, servers]
    (inner / ".git").mkdir()
    assert obeyed_in(inner) == [servers]
    assert obeyed_in(inner, home=tmp_path) == []  # the user's own files
    assert obeyed_in(tmp_path, home=tmp_path) == [servers]


def test_a08_what_is_below_counts_too(tmp_path: Path) -> None:
    deep = write(tmp_path, "packages/one/.claude/skills/x/SKILL.md")
    write(tmp_path, "node_modules/x/.claude/skills/x/SKILL.md")
    (tmp_path / "away").symlink_to("/")
    assert obeyed_in(tmp_path) == [deep]
    assert obeyed_in(tmp_path, home=tmp_path) == []
    assert obeyed_in(tmp_path, home=tmp_path / "packages") == []


def test_a08_links_and_unreadable_folders_are_named_and_nothing_is_endless(tmp_path: Path) -> None:
    settings = tmp_path / ".claude"
    settings.symlink_to(tmp_path / "elsewhere")
    assert obeyed_in(tmp_path) == [str(settings)]  # it may lead somewhere by and by
    agent = write(tmp_path / "elsewhere", "agents/x.md")
    assert obeyed_in(tmp_path) == [str(settings / "agents/x.md")], agent
    (tmp_path / "elsewhere" / "loop").symlink_to(tmp_path / "elsewhere")
    assert str(settings / "loop") in obeyed_in(tmp_path)
    for number in range(300):
        write(tmp_path, f"elsewhere/commands/{number}.md")
    assert len(obeyed_in(tmp_path)) == 100


SPAWNER = Caller(principal="you", scopes=frozenset({"view", "spawn", "input"}))


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


async def test_a08_a_session_without_its_folders_settings_goes_on_without_a_question(
    hostile: Hostile,
) -> None:
    options = msgspec.to_builtins(restricted({}))
    assert await hostile.open(options=options) == ""
    assert hostile.trusted.all() == []


async def test_a_person_may_trust_it_once_for_all(hostile: Hostile) -> None:
    spawner = ListClient(Caller(principal="you", scopes=frozenset({"view", "spawn"})))
    assert await hostile.open(spawner, folder="trust") == "not_allowed"
    assert await hostile.open(folder="trust") == ""
    assert hostile.trusted.holds(hostile.repo)
    assert await hostile.open(spawner, request="r2") == ""
    assert ("folder.trust", str(hostile.repo)) in [(one.event, one.target) for one in hostile.noted]


async def test_a_folder_that_brings_nothing_needs_no_trust(hostile: Hostile) -> None:
    (hostile.house.folder / "plain").mkdir()
    assert await hostile.open(cwd=str(hostile.house.folder / "plain")) == ""


@pytest.mark.parametrize(
    "name", [".claude/agents/x.md", ".claude/skills/x/SKILL.md", ".claude/commands/x.md"]
)
async def test_a08_the_refusal_names_the_files_and_the_instructions(
    hostile: Hostile, name: str
) -> None:
    folder = hostile.house.folder / "other"
    path, text = write(folder, name), write(folder, "CLAUDE.md")
    reply = await hostile.house.ask("open", agent="recorder", cwd=str(folder), request="o")
    assert reply.error == "folder_not_trusted"
    assert path in reply.message
    said = msgspec.json.decode(reply.value)  # type: ignore[arg-type]
    assert (said["folder"], said["files"], said["instructions"]) == (str(folder), path, text)
    assert await hostile.open(cwd=str(folder), request="o", folder="restrict") == ""


@pytest.mark.parametrize("policy", ["trust", "restrict"])
async def test_a08_the_owner_may_answer_for_every_folder_in_the_configuration(
    hostile: Hostile, policy: Any
) -> None:
    hostile.house.services.folder_settings = policy
    spawner = ListClient(SPAWNER)
    assert await hostile.open(spawner) == ""
    await hostile.house.say(next(iter(hostile.house.sessions._live.values())), "hi", "r1")
    (started,) = [
        one for one in recorder.read_record(str(hostile.house.record)) if one.kind == "started"
    ]
    assert ("--setting-sources" in started.data["started"]) == (policy == "restrict")
    assert await hostile.open(spawner, request="r3", folder="trust") == "not_allowed"
    assert hostile.trusted.all() == []


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
    answer = msgspec.json.decode(listed.value)  # type: ignore[arg-type]
    assert answer == {"folders": [folder], "kinds": {"claude": [folder]}}
    gone = await house.ask("trust.remove", folder=folder)
    assert msgspec.json.decode(gone.value) == {"removed": True}  # type: ignore[arg-type]
    assert await hostile.open() == "folder_not_trusted"


# ---- trust is a matter of where a path leads, not of how it is written -----------------------


async def test_a07_no_spelling_of_an_untrusted_folder_opens_it(hostile: Hostile) -> None:
    folder, house = hostile.house.folder, hostile.house
    good, deep = folder / "good", folder / "evilrepo" / "sub"
    write(good, ".claude/settings.json")
    write(folder / "evilrepo", ".mcp.json")
    (folder / "evilrepo" / ".git").mkdir()
    deep.mkdir()
    (good / "inner").symlink_to(hostile.repo)
    (folder / "link").symlink_to(deep)
    (folder / "chain").symlink_to(folder / "link")
    assert (await house.ask("trust.add", folder=str(good))).error == ""
    spellings = [
        f"{good}/../repo",
        f"{good}/inner",
        f"{good}/inner/../repo",
        f"{good}/./inner/.",
        f"{folder}/link",
        f"{folder}/chain",
        f"/{good}/../repo",
    ]
    spawner = ListClient(SPAWNER)
    errors = [
        await hostile.open(spawner, cwd=spelling, request=f"r{number}")
        for number, spelling in enumerate(spellings)
    ]
    assert errors == ["folder_not_trusted"] * len(spellings)
    assert house.sessions.rows() == []
    assert await hostile.open(spawner, cwd=str(good), request="good") == ""


async def test_a07_every_spelling_of_a_trusted_folder_opens_it_where_it_leads(
    hostile: Hostile,
) -> None:
    house, folder = hostile.house, hostile.house.folder
    (folder / "link").symlink_to(hostile.repo)
    assert (await house.ask("trust.add", folder=f"{folder}/link")).error == ""
    assert hostile.trusted.all() == [str(hostile.repo)]
    spawner = ListClient(SPAWNER)
    assert await hostile.open(spawner, cwd=f"{folder}/link/../repo", request="a") == ""
    assert await hostile.open(spawner, cwd=f"{folder}/link", request="b") == ""
    assert await hostile.open(spawner, cwd=f"{folder}/link", request="b") == ""  # the same again
    assert await hostile.open(spawner, cwd=str(hostile.repo), request="b") == ""
    assert await hostile.open(spawner, cwd=str(folder), request="b") == "request_id_reused"
    assert {row.cwd for row in house.sessions.rows()} == {str(hostile.repo)}


@pytest.mark.parametrize("path", ["repo", "/no/such", "/etc/passwd", "/tmp/\0", "loop"])
async def test_a07_what_is_no_folder_is_refused(hostile: Hostile, path: str) -> None:
    loop = hostile.house.folder / "loop"
    loop.symlink_to(loop)
    given = str(loop) if path == "loop" else path
    assert await hostile.open(cwd=given) == "invalid_request"
    assert (await hostile.house.ask("trust.add", folder=given)).error == "invalid_request"


async def test_a07_a_folder_that_is_replaced_by_a_link_is_checked_before_the_next_start(
    hostile: Hostile,
) -> None:
    house, folder = hostile.house, hostile.house.folder
    plain = folder / "plain"
    plain.mkdir()
    live = await house.open(cwd=str(plain), request="plain")
    await house.say(live, "hi", "r1")
    await house.sessions.stop_agent(live.session)
    plain.rename(folder / "aside")
    plain.symlink_to(hostile.repo)
    await house.say(live, "again", "r2", Stage.ACCEPTED)
    await until(lambda: len(house.client.of(e.AgentExited)) == 2)
    exited = house.client.of(e.AgentExited)[-1]
    assert exited.why == "not_started"
    assert "now leads elsewhere" in exited.stderr_tail
    assert str(hostile.repo / ".claude/settings.json") in exited.stderr_tail
    starts = [one for one in recorder.read_record(str(house.record)) if one.kind == "started"]
    assert len(starts) == 1


def test_a07_an_old_path_is_resolved_for_the_start(tmp_path: Path) -> None:
    repo, link = tmp_path / "repo", tmp_path / "link"
    write(repo, ".mcp.json")
    link.symlink_to(repo)
    trusted = TrustedFolders(tmp_path / "trusted")
    spec = OpenSpec(agent="claude", cwd=str(link))
    with pytest.raises(AgentStartError, match="now leads elsewhere"):
        check_start(trusted, CLAUDE, spec)
    without = OpenSpec(agent="claude", cwd=str(link), agent_options=restricted({}))
    assert check_start(trusted, CLAUDE, without).cwd == str(repo)
    trusted.add(repo)
    assert check_start(trusted, CLAUDE, spec).cwd == str(repo)
    missing = OpenSpec(agent="claude", cwd=str(tmp_path / "missing"))
    assert check_start(trusted, CLAUDE, missing) == missing


async def test_settings_that_a_folder_gains_are_asked_about_before_the_next_start(
    hostile: Hostile,
) -> None:
    house, plain = hostile.house, hostile.house.folder / "plain"
    plain.mkdir()
    live = await house.open(cwd=str(plain), request="plain")
    await house.say(live, "hi", "r1")
    await house.sessions.stop_agent(live.session)
    write(plain, ".claude/settings.json")
    await house.say(live, "again", "r2", Stage.ACCEPTED)
    await until(lambda: len(house.client.of(e.AgentExited)) == 2)
    exited = house.client.of(e.AgentExited)[-1]
    assert exited.why == "not_started"
    assert f"{plain} has settings now" in exited.stderr_tail
    assert "flybridge trust add --agent recorder" in exited.stderr_tail
    hostile.trusted.add(plain)
    await house.say(live, "once more", "r3")
    starts = [line for line in recorder.read_record(str(house.record)) if line.kind == "started"]
    assert len(starts) == 2


def test_a_session_that_nobody_was_asked_about_goes_on(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    write(repo, ".mcp.json")
    trusted = TrustedFolders(tmp_path / "trusted")
    spec = OpenSpec(agent="claude", cwd=str(repo))
    with pytest.raises(AgentStartError, match="has settings now"):
        check_start(trusted, CLAUDE, spec)
    assert check_start(trusted, CLAUDE, spec, "trust") == spec
    assert check_start(trusted, CLAUDE, spec, asked=False) == spec
    without = check_start(trusted, CLAUDE, spec, "restrict")
    assert without.agent_options == restricted({})


# ---- an agent that is not Claude Code --------------------------------------------------------


@pytest.fixture
async def other(hostile: Hostile) -> Hostile:
    """The house of ``hostile``, with two agents that are not Claude Code besides."""
    program = [*PROGRAM, "--record", str(hostile.house.record)]
    recorder_agent = hostile.house.services.shelf.agent("recorder")
    environment = {"PATH": "/usr/bin:/bin"}
    agents = {
        "recorder": (recorder_agent, environment),
        "courier": (CourierAgent(program=program), environment),
        "bound": (CourierAgent(name="bound", program=program, can_restrict=False), environment),
    }
    hostile.house.services.shelf = AgentShelf(agents)
    return hostile


def test_each_agent_has_its_own_settings_and_instructions(tmp_path: Path) -> None:
    files = CourierAgent.trust_files
    repo, inner = tmp_path / "repo", tmp_path / "repo" / "inner"
    write(tmp_path, ".courier/config.toml")  # above the repository: not read
    at_root, below = write(repo, ".courier/config.toml"), write(inner, "deep/er/courier.json")
    write(repo, ".courier/notes.md")  # beside a file of settings, not in a folder of settings
    write(repo, "courier.json")  # not read above
    write(inner, ".claude/settings.json")
    write(inner, ".mcp.json")
    (repo / ".git").mkdir()
    text = write(repo, "COURIER.md")
    assert settings_in(inner, files) == [at_root, below]
    assert folders.instructions_in(inner, files) == [text]
    assert settings_in(repo, files, home=repo) == [str(repo / "courier.json")]
    assert settings_in(inner, files, home=repo) == [below]
    (inner / ".courier").symlink_to("/nowhere")  # it may lead somewhere by and by
    assert str(inner / ".courier") in settings_in(inner, files)


async def test_settings_are_asked_about_for_the_agent_that_obeys_them(other: Hostile) -> None:
    assert await other.open(agent="courier") == ""  # .claude is nothing to it
    folder = other.house.folder / "mixed"
    path, text = write(folder, ".courier/config.toml"), write(folder, "COURIER.md")
    assert await other.open(cwd=str(folder), request="r2") == ""  # and .courier nothing to Claude
    reply = await other.house.ask("open", agent="courier", cwd=str(folder), request="r3")
    assert reply.error == "folder_not_trusted"
    for words in (
        path,
        "--folder restrict",
        "--folder trust",
        "folder_settings",
        "--agent courier",
    ):
        assert words in reply.message
    details = msgspec.json.decode(reply.value)  # type: ignore[arg-type]
    assert (details["files"], details["instructions"]) == (path, text)
    assert (details["agent"], details["restrict"]) == ("courier", "supported")


async def test_trust_for_one_kind_of_agent_says_nothing_about_another(other: Hostile) -> None:
    write(other.repo, "courier.json")
    assert await other.open(agent="courier", folder="trust") == ""
    assert other.trusted.by_kind() == {"courier": [str(other.repo)]}
    assert await other.open(agent="courier", request="r2") == ""
    assert await other.open(agent="bound", request="r3") == ""  # of the same kind
    assert await other.open(agent="recorder", request="r4") == "folder_not_trusted"
    noted = [(note.event, note.target, note.detail) for note in other.noted]
    assert ("folder.trust", str(other.repo), "courier") in noted
    listed = await other.house.ask("trust.list")
    answer = msgspec.json.decode(listed.value)  # type: ignore[arg-type]
    assert answer == {"folders": [], "kinds": {"courier": [str(other.repo)]}}


async def test_trust_from_before_kinds_were_recorded_is_for_claude(other: Hostile) -> None:
    write(other.repo, "courier.json")
    other.trusted.add(other.repo)
    assert await other.open(agent="recorder") == ""
    assert await other.open(agent="courier", request="r2") == "folder_not_trusted"


async def test_folders_are_trusted_by_the_name_of_an_agent(other: Hostile) -> None:
    house, folder = other.house, str(other.repo)
    assert (await house.ask("trust.add", folder=folder, agent="nobody")).error == "agent_not_found"
    for agent in ("courier", "recorder"):
        assert (await house.ask("trust.add", folder=folder, agent=agent)).error == ""
    assert other.trusted.by_kind() == {"claude": [folder], "courier": [folder]}
    assert (await house.ask("trust.remove", folder=folder, agent="bound")).error == ""
    assert other.trusted.by_kind() == {"claude": [folder]}
    assert (await house.ask("trust.add", folder=folder, agent="courier")).error == ""
    assert (await house.ask("trust.remove", folder=folder)).error == ""
    assert other.trusted.by_kind() == {}


@pytest.mark.parametrize("by", ["flag", "configuration"])
async def test_each_agent_is_restricted_in_its_own_way(other: Hostile, by: str) -> None:
    write(other.repo, "courier.json")
    how = {"folder": "restrict"} if by == "flag" else {}
    other.house.services.folder_settings = "restrict" if by == "configuration" else "ask"
    assert await other.open(agent="courier", **how) == ""
    await until(lambda: other.house.record.exists() and other.house.record.read_text())
    assert WITHOUT_FOLDER in other.house.record.read_text()
    reply = await other.house.ask("open", agent="bound", cwd=str(other.repo), request="r2", **how)
    assert reply.error == "not_supported"
    for words in ("bound cannot leave out", "--folder trust", "folder_settings to trust"):
        assert words in reply.message
    assert [row.agent for row in other.house.sessions.rows()] == ["courier"]


async def test_a_question_does_not_offer_what_the_agent_cannot_do(other: Hostile) -> None:
    write(other.repo, "courier.json")
    reply = await other.house.ask("open", agent="bound", cwd=str(other.repo), request="r2")
    assert reply.error == "folder_not_trusted"
    assert "restrict" not in reply.message
    assert msgspec.json.decode(reply.value)["restrict"] == "unsupported"  # type: ignore[arg-type]


def test_an_agent_that_cannot_be_restricted_does_not_start_where_a_link_leads(
    tmp_path: Path,
) -> None:
    repo, link = tmp_path / "repo", tmp_path / "link"
    write(repo, "courier.json")
    link.symlink_to(repo)
    trusted = TrustedFolders(tmp_path / "trusted")
    spec = OpenSpec(agent="bound", cwd=str(link))
    bound = CourierAgent(name="bound", can_restrict=False)
    for policy in ("ask", "restrict"):
        with pytest.raises(AgentStartError, match="now leads elsewhere"):
            check_start(trusted, bound, spec, policy)
    trusted.add(repo)  # for Claude
    with pytest.raises(AgentStartError, match="now leads elsewhere"):
        check_start(trusted, bound, spec)
    trusted.add(repo, "courier")
    assert check_start(trusted, bound, spec).cwd == str(repo)
