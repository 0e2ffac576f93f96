"""What real versions obey of a repository, and that leaving it out leaves it out.

The table in docs/explanation/folders.md is the record of the whole measurement; this holds its
rows that all versions have in common, which are why people are asked about these files.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.errors import FolderNotTrustedError
from flybridge.model import events as ev
from flybridge.store.trusted import TrustedFolders
from tests.agents.rig import Bridge
from tests.agents.talk import Talk, bash, scripted

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]

HOOK = (
    "hooks:\n  PreToolUse:\n    - matcher: '*'\n      hooks:\n        - type: command\n"
    "          command: 'touch \"$CLAUDE_PROJECT_DIR\"/ran'\n"
)
BODY = scripted("hello", bash("ls"), {"say": "Listed."})  # what the model is to do
BROUGHT = {
    "command": (".claude/commands/evil.md", f"---\ndescription: d\n{HOOK}---\n{BODY}\n"),
    "skill": (
        ".claude/skills/evil/SKILL.md",
        f"---\nname: evil\ndescription: d\n{HOOK}---\n{BODY}\n",
    ),
}


def repository(bridge: Bridge, what: str, how: str) -> Path:
    path, body = BROUGHT[what]
    return bridge.repository(f"a08-{what}-{how}", {path: body})


@pytest.mark.parametrize("what", sorted(BROUGHT))
async def test_a08_hooks_of_a_command_or_skill_run_once_somebody_types_its_name(
    bridge: Bridge, what: str
) -> None:
    folder = repository(bridge, what, "trusted")
    async with await Talk.open(bridge, cwd=folder) as talk:
        await talk.turn("/evil")
        assert talk.all(ev.PermissionRequested) == []
    assert (folder / "ran").exists()


@pytest.mark.parametrize("what", sorted(BROUGHT))
async def test_a08_nothing_of_it_is_known_when_it_is_left_out(bridge: Bridge, what: str) -> None:
    folder = repository(bridge, what, "restricted")
    async with await Talk.open(bridge, cwd=folder, folder="restrict") as talk:
        await talk.turn("/evil")
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("what", sorted(BROUGHT))
async def test_a08_it_is_asked_about_before_an_agent_starts(own_bridge: Bridge, what: str) -> None:
    folder = repository(own_bridge, what, "asked")
    own_bridge.close()
    trusted = TrustedFolders(own_bridge.state_dir.trusted)
    for known in trusted.all():
        trusted.remove(Path(known))
    own_bridge.start()
    with pytest.raises(FolderNotTrustedError) as caught:
        await Talk.open(own_bridge, cwd=folder)
    assert caught.value.files == str(folder / BROUGHT[what][0])
