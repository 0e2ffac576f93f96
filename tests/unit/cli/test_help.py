from __future__ import annotations

import subprocess
import sys

import pytest

from tools import cli_help, pages


def test_the_reference_page_says_what_the_commands_say() -> None:
    assert pages.stale(cli_help.FILES) == {}


def test_the_page_has_every_command() -> None:
    page = cli_help.page()
    for command in ("chat", "sessions list", "sessions show", "sessions kill", "gateway stop"):
        assert f"## flybridge {command}\n" in page


def test_the_tool_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert pages.main(["--check"], cli_help.FILES, cli_help.__doc__) == 0
    assert pages.main(["--what"], cli_help.FILES, cli_help.__doc__) == 2
    assert "--check" in capsys.readouterr().err


def test_help_imports_nothing_that_it_does_not_need() -> None:
    code = (
        "import sys; from flybridge.cli.main import main; main(['--help'], standalone_mode=False);"
        "print([m for m in ('asyncio', 'msgspec', 'rich', 'sqlite3') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert done.stdout.endswith("[]\n"), done.stdout + done.stderr
