from __future__ import annotations

from pathlib import Path

from flybridge.agents.demo.scenes.work import GREETER, LOUD, PLAIN, PROGRAM
from tests.harness.agent_host import DEMO, Host, allow, asked, deny, results, shapes, spoken

FREELY = (DEMO, "--permission-mode", "bypassPermissions")


def test_the_tool_scene_lists_the_directory(tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    with Host(*FREELY, cwd=tmp_path) as host:
        assert "a-file" in spoken(host.turn("tool"))


def test_a_command_that_is_not_run_says_so(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    with Host(*FREELY, cwd=tmp_path) as host:
        assert "simulated" in spoken(host.turn("run rm kept"))
    assert (tmp_path / "kept").exists()


def test_writing_elsewhere_is_refused_without_asking(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with Host(*FREELY, cwd=home) as host:
        messages = host.turn("write ../out")
    assert "will not" in spoken(messages)
    assert "user/tool_result" not in shapes(messages)


def test_the_slow_tool_shows_progress() -> None:
    with Host(*FREELY) as host:
        messages = host.turn("slow tool")
    seconds = [m["elapsed_time_seconds"] for m in messages if m["type"] == "tool_progress"]
    assert seconds == list(range(1, 11))


def test_an_edit_makes_a_project_and_changes_it_to_and_fro(tmp_path: Path) -> None:
    file = tmp_path / GREETER
    with Host(cwd=tmp_path) as host:
        first = host.play("edit", allow)
        assert [one["tool_name"] for one in asked(first)] == ["Write", "Edit"]
        assert file.read_text() == PROGRAM.replace(PLAIN, LOUD)
        again = host.play("edit", allow)
        assert [one["tool_name"] for one in asked(again)] == ["Edit"]
        assert file.read_text() == PROGRAM
    created, changed = (message["tool_use_result"] for message in results(first))
    assert (created["type"], created["content"]) == ("create", PROGRAM)
    assert changed["originalFile"] == PROGRAM
    (hunk,) = changed["structuredPatch"]
    assert f"-{PLAIN}" in hunk["lines"]
    compile(file.read_text(), "greet.py", "exec")


def test_a_denied_edit_changes_nothing(tmp_path: Path) -> None:
    with Host(cwd=tmp_path) as host:
        assert "I respect it" in spoken(host.play("edit", deny))
        assert list(tmp_path.iterdir()) == []
        host.play("edit", allow)
        before = (tmp_path / GREETER).read_text()
        assert "I respect it" in spoken(host.play("edit", deny))
    assert (tmp_path / GREETER).read_text() == before


def test_a_file_somebody_changed_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / GREETER
    file.parent.mkdir()
    file.write_text("mine\n")
    with Host(*FREELY, cwd=tmp_path) as host:
        assert "leave it alone" in spoken(host.turn("edit"))
    assert file.read_text() == "mine\n"


def test_a_project_that_leads_elsewhere_is_not_touched(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir()
    other.mkdir()
    (home / "flybridge-demo").symlink_to(other)
    with Host(*FREELY, cwd=home) as host:
        assert "will not" in spoken(host.turn("edit"))
        host.turn("write flybridge-demo/x")
    assert list(other.iterdir()) == []


def test_reading_asks_only_outside_of_the_own_project(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("one\ntwo")
    with Host(cwd=tmp_path) as host:
        assert "Say `edit` first" in spoken(host.turn("read"))
        host.play("edit", allow)
        assert asked(host.play("read", allow)) == []
        other = host.play("read notes", allow)
        assert "Say `edit` first" in spoken(host.turn("read ../x"))
        refused = host.play("read notes", deny)
    assert [one["tool_name"] for one in asked(other)] == ["Read"]
    assert results(other)[0]["tool_use_result"]["file"]["content"] == "one\ntwo"
    assert "I respect it" in spoken(refused)
