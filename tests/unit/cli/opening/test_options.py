from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from click.testing import CliRunner

from flybridge.agents.claude.options import SCHEMA
from flybridge.cli.opening.options import (
    COMMON,
    FLAGS,
    MAX_FILE_BYTES,
    GroupedCommand,
    flag_of,
    flags_of,
    given,
    opening_options,
    options_of,
    session_options,
)
from flybridge.model.capabilities import OpenSpec, Options, StartOptions
from flybridge.model.legacy_options import to_legacy
from flybridge.model.options import Option


@click.command(cls=GroupedCommand)
@opening_options
@click.argument("words", nargs=-1)
def command(words: tuple[str, ...], **flags: Any) -> None:
    click.echo(msgspec.json.encode(to_legacy(options_of(given(flags)))).decode())


def run(*args: str) -> Options:
    done = CliRunner().invoke(command, list(args))
    assert done.exit_code == 0, done.output
    return msgspec.json.decode(done.output, type=Options)


def refused(*args: str) -> str:
    done = CliRunner().invoke(command, list(args))
    assert done.exit_code == 2, done.output
    return done.output


def test_every_option_has_exactly_one_flag() -> None:
    names = [option.name for option in SCHEMA]
    assert sorted(row.field for row in FLAGS) == sorted([*names, *(row.field for row in COMMON)])
    assert len({row.flag for row in FLAGS}) == len(FLAGS)


def test_the_flags_of_0_1_are_all_there() -> None:
    golden = Path(__file__).parents[3] / "golden" / "cli" / "session_flags.txt"
    assert set(golden.read_text().split()) <= {row.flag for row in FLAGS}


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"type": "flag"}, "switch"),
        ({"type": "number", "integer": True}, "count"),
        ({"type": "number"}, "money"),
        ({"type": "text"}, "word"),
        ({"type": "text", "long": True}, "text"),
        ({"type": "json"}, "text"),
        ({"type": "choice", "choices": ("a",)}, "choice"),
        ({"type": "path", "path": "file"}, "file"),
        ({"type": "path", "path": "folder"}, "directory"),
        ({"type": "list"}, "words"),
        ({"type": "list", "commas": True}, "list"),
        ({"type": "list", "path": "folder"}, "directories"),
        ({"type": "list", "path": "file_or_json"}, "files"),
    ],
)
def test_the_kind_of_a_flag_follows_from_the_option(more: dict[str, Any], kind: str) -> None:
    assert flag_of(Option(name="an_option", label="x", **more))[:3] == (
        "an_option",
        "--an-option",
        kind,
    )


def test_what_is_said_of_a_new_session_is_what_can_be() -> None:
    names = {param.name for param in command.params} - {row.field for row in FLAGS}
    known = {field.name for field in msgspec.structs.fields(OpenSpec)}
    more = {"resume", "continue_latest", "folder", "team", "agent_option"}
    assert names - {"words"} <= known | more
    assert {"agent", "cwd", "title", "model", "mode", "fork", "from_pr", "resume"} <= names


def test_nothing_given_is_nothing_set() -> None:
    assert run() == Options()


def test_flags_become_options(tmp_path: Path) -> None:
    args = ["--effort", "high", "--fast", "--max-turns", "3", "--max-budget-usd", "0.5"]
    args += ["--allowed-tools", "Bash(ls)", "--allowed-tools", "Read", "--skip-permissions"]
    args += ["--add-dir", str(tmp_path), "--setting-sources", "user, project", "--betas", "b"]
    assert run(*args) == Options(
        effort="high",
        fast=True,
        max_turns=3,
        max_budget_usd=0.5,
        allowed_tools=("Bash(ls)", "Read"),
        skip_permissions=True,
        add_dirs=(str(tmp_path),),
        setting_sources=("user", "project"),
        betas=("b",),
    )


@pytest.mark.parametrize(
    ("value", "tools"), [("", ()), ("Bash", ("Bash",)), ("Bash, Read", ("Bash", "Read"))]
)
def test_no_tools_are_something_else_than_the_agents_choice(
    value: str, tools: tuple[str, ...]
) -> None:
    assert run("--tools", value).tools == tools
    assert run().tools is None


def test_text_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"type":"object"}\n')
    options = run("--json-schema", f"@{file}", "--system-prompt", "@@ home", "--agents", "{}")
    assert options.json_schema == '{"type":"object"}'
    assert options.system_prompt == "@ home"
    assert options.agents == "{}"


def test_files_are_told_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mcp.json").write_text('{"mcpServers":{}}')
    monkeypatch.chdir(tmp_path)
    options = run("--mcp-config", "mcp.json", "--mcp-config", "@mcp.json", "--settings", '{"a":1}')
    assert options.mcp_config == (str(tmp_path / "mcp.json"), '{"mcpServers":{}}')
    assert options.settings == '{"a":1}'
    (tmp_path / "sub").mkdir()
    assert run("--add-dir", "sub").add_dirs == (str(tmp_path / "sub"),)


def test_a_file_that_cannot_be_read_is_said_so(tmp_path: Path) -> None:
    assert "no such file" in refused("--settings", str(tmp_path / "none"))
    assert "cannot read" in refused("--agents", f"@{tmp_path / 'none'}")
    (tmp_path / "bytes").write_bytes(b"\xff")
    assert "is no text" in refused("--agents", f"@{tmp_path / 'bytes'}")
    (tmp_path / "long").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    assert "is longer than" in refused("--agents", f"@{tmp_path / 'long'}")


def test_options_of_another_session_are_kept_but_for_what_is_given() -> None:
    base = StartOptions(effort="low", agent_options={"betas": ("a",)})
    assert options_of({"effort": "high", "fast": True}, base) == StartOptions(
        effort="high", agent_options={"betas": ("a",), "fast": True}
    )


def test_flags_are_called_what_they_are_called() -> None:
    assert flags_of({"effort": "x", "add_dirs": ()}) == "--effort, --add-dir"


def test_the_help_has_a_heading_for_each_group_and_no_arguments() -> None:
    text = CliRunner().invoke(command, ["--help"]).output
    for heading in ("Options:", "Model:", "Limits:", "What it may do:"):
        assert f"\n{heading}\n" in text
    assert "[WORDS]...\n\n" in text
    assert text.count("WORDS") == 1


def test_a_command_may_have_the_options_alone() -> None:
    @click.command(cls=GroupedCommand)
    @session_options
    def bare(**flags: Any) -> None:
        click.echo(str(given(flags)))

    assert CliRunner().invoke(bare, ["--fast"]).output == "{'fast': True}\n"
