from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from click.testing import CliRunner

from flybridge.cli.opening.options import (
    FLAGS,
    MAX_FILE_BYTES,
    GroupedCommand,
    flags_of,
    given,
    opening_options,
    options_of,
    session_options,
)
from flybridge.model.capabilities import OpenSpec, Options, Transport


@click.command(cls=GroupedCommand)
@opening_options
@click.argument("words", nargs=-1)
def command(words: tuple[str, ...], **flags: Any) -> None:
    click.echo(msgspec.json.encode(options_of(given(flags))).decode())


def run(*args: str) -> Options:
    done = CliRunner().invoke(command, list(args))
    assert done.exit_code == 0, done.output
    return msgspec.json.decode(done.output, type=Options)


def refused(*args: str) -> str:
    done = CliRunner().invoke(command, list(args))
    assert done.exit_code == 2, done.output
    return done.output


def test_every_option_of_a_session_has_exactly_one_flag() -> None:
    fields = [field.name for field in msgspec.structs.fields(Options)]
    assert sorted(row.field for row in FLAGS) == sorted(fields)
    assert len({row.flag for row in FLAGS}) == len(FLAGS)


def test_every_kind_of_flag_is_the_kind_of_its_field() -> None:
    kinds = {
        "word": str,
        "text": str,
        "file": str,
        "switch": bool,
        "count": int,
        "money": float,
        "words": tuple[str, ...],
        "directories": tuple[str, ...],
        "files": tuple[str, ...],
        "way": Transport,
    }
    types = {field.name: field.type for field in msgspec.structs.fields(Options)}
    for row in FLAGS:
        if row.kind == "list":
            assert types[row.field] in (tuple[str, ...], tuple[str, ...] | None)
        else:
            assert types[row.field] == kinds[row.kind], row.field


def test_what_is_said_of_a_new_session_is_what_can_be() -> None:
    names = {param.name for param in command.params} - {row.field for row in FLAGS}
    known = {field.name for field in msgspec.structs.fields(OpenSpec)}
    assert names - {"words"} <= known | {"resume", "continue_latest", "folder", "team"}
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
    base = Options(effort="low", betas=("a",))
    assert options_of({"effort": "high"}, base) == Options(effort="high", betas=("a",))


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
