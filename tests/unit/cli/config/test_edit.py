"""One key of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.cli.config.edit import changed, check, key_of, may_project, write
from flybridge.config.document import parse_document
from flybridge.errors import ConfigError


def made(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_keys_have_short_names() -> None:
    assert key_of("output") == "output.adhoc_output"
    assert key_of("agents.mine.program") == "agents.mine.program"
    with pytest.raises(ConfigError, match="the keys are"):
        key_of("nonsense")


def test_options_of_an_agent_are_keys() -> None:
    assert key_of("agents.claude.options.max_turns") == "agents.claude.options.max_turns"
    with pytest.raises(ConfigError, match="unknown key"):
        key_of("agents.claude.env.max_turns")


def test_a_kind_of_agent_that_nothing_provides_is_not_set(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    with pytest.raises(ConfigError, match=r"agents\.a\.kind: must be one of claude, demo"):
        changed(file, "agents.a.kind", "cluade", foreign=False)
    assert "kind: demo" in changed(file, "agents.a.kind", "demo", foreign=False)


def test_only_the_key_changes(tmp_path: Path) -> None:
    file = made(tmp_path / "c.yaml", "# a\ntitle: 'x'  # b\n\nlog_level: info\n")
    text = changed(file, "title", "new words", foreign=False)
    assert parse_document("c", text) == {"title": "new words", "log_level": "info"}
    assert text.startswith("# a\ntitle: ")
    assert text.endswith(" # b\n\nlog_level: info\n")


def test_a_file_of_comments_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    file = made(tmp_path / "c.yaml", "# only this\n")
    assert changed(file, "title", "x", foreign=False) == "# only this\ntitle: x\n"
    assert changed(tmp_path / "none", "serve.port", "1", foreign=False) == "serve:\n  port: 1\n"


def test_what_could_not_be_loaded_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    with pytest.raises(ConfigError, match=str(file)):
        check(file, "log_level: loud\n", {}, project=False)
    with pytest.raises(ConfigError, match="may not set"):
        check(file, "log_level: info\n", {}, project=True)
    check(file, "log_level: info\n", {}, project=False)
    check(file, "title: fine\n", {}, project=True)
    with pytest.raises(ConfigError):
        may_project("limits.sessions")


def test_a_file_is_replaced_whole_and_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "new" / "c.yaml"
    write(file, "a: 1\n")
    write(file, "a: 2\n")
    assert file.read_text() == "a: 2\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_is_no_mapping_is_left_alone(tmp_path: Path) -> None:
    file = made(tmp_path / "c.yaml", "- a\n")
    with pytest.raises(ConfigError, match="keys and values"):
        changed(file, "title", "x", foreign=False)
