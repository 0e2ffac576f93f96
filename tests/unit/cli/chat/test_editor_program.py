from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flybridge.cli.chat.editor_program import MAX_TEXT_BYTES, edit, editor_argv
from flybridge.errors import InvalidRequestError

SHOUT = """\
import pathlib, stat, sys
path = pathlib.Path(sys.argv[1])
assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
path.write_text(path.read_text().upper() + "\\n")
pathlib.Path(sys.argv[0] + ".saw").write_text(str(path))
"""


def editor(tmp_path: Path, source: str) -> dict[str, str]:
    program = tmp_path / "an editor.py"
    program.write_text(source)
    return {"EDITOR": f"{sys.executable} '{program}'"}


def test_the_editor_is_the_one_that_is_set() -> None:
    assert editor_argv({"EDITOR": "nano", "VISUAL": "code --wait"}) == ["code", "--wait"]
    assert editor_argv({"EDITOR": "nano"}) == ["nano"]
    assert editor_argv({}) == editor_argv({"EDITOR": " "}) == ["vi"]
    with pytest.raises(InvalidRequestError):
        editor_argv({"EDITOR": "it's"})


async def test_the_text_comes_back_as_it_was_left(tmp_path: Path) -> None:
    environ = editor(tmp_path, SHOUT)
    assert await edit("two\nlines", environ) == "TWO\nLINES"
    used = Path((tmp_path / "an editor.py.saw").read_text())
    assert used.name == "message.md"
    assert not used.parent.exists()


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("raise SystemExit(3)", "ended with status 3; nothing was changed"),
        ("import sys, pathlib; pathlib.Path(sys.argv[1]).unlink()", "left no text"),
        (
            "import sys, pathlib;"
            f"pathlib.Path(sys.argv[1]).write_bytes(bytes({MAX_TEXT_BYTES + 1}))",
            "is longer than",
        ),
    ],
)
async def test_an_editor_that_fails_changes_nothing(tmp_path: Path, source: str, why: str) -> None:
    with pytest.raises(InvalidRequestError, match=why):
        await edit("x", editor(tmp_path, source))


async def test_an_editor_that_is_not_there_is_said_so() -> None:
    with pytest.raises(InvalidRequestError, match="cannot run /no/editor"):
        await edit("x", {"EDITOR": "/no/editor"})
