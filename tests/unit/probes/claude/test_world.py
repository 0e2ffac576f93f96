from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flybridge.errors import AgentNotFoundError
from flybridge.probes.claude.world import Life, World
from flybridge.runtime.keeper.process import alive, start_time
from tests.harness import small

PATH = os.environ["PATH"]


def test_nothing_of_the_user_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a real one")
    monkeypatch.setenv("SECRET", "a secret")
    show = "import os, json; print(json.dumps(dict(os.environ)))"
    with World([sys.executable, "-c", show], path=PATH) as world:
        with Life(world, world.argv) as life:
            seen = life.process.communicate(timeout=20)[0].decode()
        assert "a real one" not in seen
        assert "SECRET" not in seen
        assert str(Path.home()) not in seen.replace(str(world.base), "")
        assert f'"HOME": "{world.base}/home"' in seen
    assert not world.base.exists()


def test_the_model_can_be_reached_from_inside() -> None:
    ask = (
        "import os, urllib.request as r;"
        "print(r.urlopen(os.environ['ANTHROPIC_BASE_URL'] + '/v1/models', timeout=10).status)"
    )
    with World([sys.executable, "-c", ask], path=PATH) as world:
        with Life(world, world.argv) as life:
            said = life.process.communicate(timeout=20)
        assert said[0] == b"200\n", said
        assert [one.path for one in world.api.requests] == ["/v1/models"]


@pytest.mark.needs("linux")
def test_where_it_says_that_there_is_no_network_there_is_none() -> None:
    show = "print(open('/proc/net/dev').read())"
    with World([sys.executable, "-c", show], path=PATH) as world:
        with Life(world, world.argv) as life:
            said = life.process.communicate(timeout=20)[0].decode()
        names = [row.partition(":")[0].strip() for row in said.splitlines()[2:] if row]
        assert (names == ["lo"]) == world.offline or names == ["lo"]


@pytest.mark.needs("git")
def test_it_works_in_a_repository_of_its_own() -> None:
    with World(small.program(), path=PATH) as world:
        assert (world.cwd / ".git").is_dir()


def test_without_git_it_works_in_a_plain_folder(tmp_path: Path) -> None:
    with World(small.program(), path=str(tmp_path)) as world:
        assert list(world.cwd.iterdir()) == []


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(AgentNotFoundError, match="mine: program 'nowhere-claude' not found"):
        World(["nowhere-claude"], path=PATH, agent="mine")


def test_the_version_is_what_the_program_says() -> None:
    with World(small.program(), path=PATH) as world:
        assert world.version_output() == b"2.1.325 (Claude Code)\n"


@pytest.mark.needs("linux")
def test_the_end_of_a_life_is_the_end_of_all_it_started() -> None:
    starts = (
        "import subprocess, sys; p = subprocess.Popen(['sleep', '60'], start_new_session=True);"
        "print(p.pid, flush=True); p.wait()"
    )
    with World([sys.executable, "-c", starts], path=PATH) as world:
        life = Life(world, world.argv)
        assert life.process.stdout is not None
        child = int(life.process.stdout.readline())
        start = start_time(child) or ""
        assert alive(child, start)
        life.end()
        assert not alive(child, start)
        assert life.process.returncode is not None


def test_a_long_temporary_folder_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with World(small.program(), path=PATH) as world:
        assert not world.base.is_relative_to(deep)
        assert subprocess.run(["test", "-S", str(world.base / "api.sock")]).returncode == 0
