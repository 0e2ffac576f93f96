from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from flybridge.cli.opening.agent_option import (
    MAX_PAIRS,
    agent_option_values,
    given_pairs,
    published,
)
from flybridge.model.options import Option

OPTIONS = (
    Option(name="loud", type="flag", label="Loud"),
    Option(name="speed", type="number", label="Speed", integer=True),
    Option(name="weight", type="number", label="Weight"),
    Option(name="tone", type="choice", label="Tone", choices=("low", "high")),
    Option(name="words", type="list", label="Words"),
    Option(name="only", type="list", commas=True, label="Only"),
    Option(name="folders", type="list", path="folder", label="Folders"),
    Option(name="speech", type="text", long=True, label="Speech"),
    Option(name="rules", type="path", path="file_or_json", label="Rules"),
)


class Gateway:
    """Answers what a gateway says about its agents."""

    def __init__(self, **agent: Any) -> None:
        self.agent = {"name": "robot", "installed": True, **agent}

    async def ask(self, name: str) -> dict[str, Any]:
        assert name == "agents"
        return {"agents": [{"name": "other", "options": [{}]}, self.agent]}


GATEWAY: Any = Gateway(options=[{**vars(option), "of_tomorrow": 1} for option in OPTIONS])


def test_pairs_are_read_by_name() -> None:
    pairs = given_pairs(["a=1", "b", "c-d=x=y", "a=2", "e="])
    assert pairs == {"a": ["1", "2"], "b": ["true"], "c_d": ["x=y"], "e": [""]}


@pytest.mark.parametrize("pairs", [["=x"], [""], [" =1"], ["a=1"] * (MAX_PAIRS + 1)])
def test_a_pair_without_a_name_is_refused(pairs: list[str]) -> None:
    with pytest.raises(click.UsageError, match="-o: "):
        given_pairs(pairs)


@pytest.mark.parametrize(
    ("pairs", "values"),
    [
        (["loud"], {"loud": True}),
        (["loud=no"], {"loud": False}),
        (["loud=perhaps"], {"loud": "perhaps"}),
        (["speed=3"], {"speed": 3}),
        (["weight=2.5"], {"weight": 2.5}),
        (["speed=fast"], {"speed": "fast"}),
        (["tone=low", "tone=high"], {"tone": "high"}),
        (["words=a", "words=b,c"], {"words": ["a", "b,c"]}),
        (["words="], {"words": []}),
        (["only=a, b", "only=c"], {"only": ["a", "b", "c"]}),
        (["speech=@@home"], {"speech": "@home"}),
        (["rules={}"], {"rules": "{}"}),
        (["nothing-such=1"], {"nothing_such": "1"}),
    ],
)
async def test_values_are_typed_by_the_schema(pairs: list[str], values: dict[str, Any]) -> None:
    assert await agent_option_values(GATEWAY, "robot", given_pairs(pairs)) == values


async def test_folders_and_files_are_named_from_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "speech").write_text("hello\n")
    pairs = given_pairs(["folders=a", "speech=@speech"])
    values = await agent_option_values(GATEWAY, "robot", pairs)
    assert values == {"folders": [str(tmp_path / "a")], "speech": "hello"}
    with pytest.raises(click.UsageError, match="cannot read"):
        await agent_option_values(GATEWAY, "robot", given_pairs(["speech=@none"]))


async def test_nothing_is_asked_where_nothing_is_given() -> None:
    nobody: Any = None
    assert await agent_option_values(nobody, "robot", {}) == {}


async def test_a_gateway_of_0_1_publishes_nothing() -> None:
    old: Any = Gateway()
    assert await published(old, "robot") == {}
    assert await agent_option_values(old, "robot", {"speed": ["3"]}) == {"speed": "3"}
