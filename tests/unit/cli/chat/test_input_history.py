from __future__ import annotations

import stat
from pathlib import Path

from flybridge.cli.chat.input_history import KEPT, History


def test_lines_come_back_in_order_and_whole(tmp_path: Path) -> None:
    history = History(tmp_path / "below" / "chat_history")
    for line in ("one", "two\nlines", "drei \u2028 ü"):
        history.add(line)
    assert history.load() == ["one", "two\nlines", "drei \u2028 ü"]


def test_the_file_is_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "chat_history"
    History(path).add("secret")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_empty_lines_and_those_with_a_space_before_them_are_not_kept(tmp_path: Path) -> None:
    history = History(tmp_path / "chat_history")
    for line in ("", "  ", " hidden", "x" * 20_000, "\ud800"):
        history.add(line)
    assert history.load() == []


def test_a_file_that_grew_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "chat_history"
    path.write_text("".join(f'"{n}"\n' for n in range(2 * KEPT + 1)))
    assert len(History(path).load()) == KEPT
    assert len(path.read_text().splitlines()) == KEPT


def test_nonsense_and_links_are_no_error(tmp_path: Path) -> None:
    path = tmp_path / "chat_history"
    path.write_bytes(b'{"no": 1}\n\xff\n"good"\n')
    assert History(path).load() == ["good"]
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    History(link).add("x")
    assert not (tmp_path / "elsewhere").exists()
    assert History(tmp_path / "none").load() == []


def test_it_is_in_the_users_state_folder(tmp_path: Path) -> None:
    history = History.of_user({"XDG_STATE_HOME": str(tmp_path)})
    history.add("x")
    assert (tmp_path / "flybridge" / "chat_history").exists()
