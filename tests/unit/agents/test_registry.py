from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.agents.kinds import AgentKind, AgentSettings, Records
from flybridge.agents.registry import BUILT_IN, GROUP, REGISTRY, Published, Registry
from flybridge.cli.doctor.agents import check_kinds
from flybridge.errors import AgentKindError
from tests.harness.other_agent import PROGRAM, CourierAgent

COURIER = AgentKind(name="courier", program=PROGRAM, build=lambda settings: CourierAgent())
OTHER_NAME = AgentKind(name="kayak", build=lambda settings: CourierAgent())
NO_KIND = object()
HERE = "tests.unit.agents.test_registry"


def registry(*published: tuple[str, str]) -> Registry:
    """Return a registry with these entry points: name and object."""
    found: Sequence[Published] = [
        EntryPoint(name=name, value=value, group=GROUP) for name, value in published
    ]
    return Registry(find=lambda: found)


def test_the_built_in_kinds_need_no_entry_point() -> None:
    def find() -> Iterable[Published]:
        raise AssertionError("nobody asked for more")

    kinds = Registry(find=find)
    assert kinds.get("claude").program == ("claude",)
    assert kinds.get("demo").program[0] == sys.executable
    agent = kinds.get("demo").build(AgentSettings(name="mine", program=("x",), scratch="/s"))
    assert (agent.name, agent.kind) == ("mine", "demo")


def test_a_kind_of_another_package_is_loaded_when_it_is_asked_for() -> None:
    kinds = registry(("courier", f"{HERE}:COURIER"), ("broken", "no.such.module:KIND"))
    assert kinds.names() == ["broken", "claude", "courier", "demo"]
    assert kinds.get("courier") is COURIER
    assert kinds.find("courier") is COURIER


@pytest.mark.parametrize(
    ("published", "reason"),
    [
        ([("x", "no.such.module:KIND")], "no.such.module cannot be imported: ModuleNotFoundError"),
        ([("x", f"{HERE}:MISSING")], f"{HERE} cannot be imported: AttributeError"),
        ([("x", f"{HERE}:NO_KIND")], "no AgentKind"),
        ([("x", f"{HERE}:OTHER_NAME")], "under another name: 'kayak'"),
        ([("x", f"{HERE}:COURIER"), ("x", "other.package:KIND")], f"other.package and {HERE} both"),
        ([], "there is none; there are claude, demo"),
    ],
)
def test_a_kind_that_cannot_be_used_is_an_error_and_a_line_in_the_log(
    published: list[tuple[str, str]], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    kinds = registry(*published)
    for _ in range(2):
        with pytest.raises(AgentKindError) as error:
            kinds.get("x")
        assert reason in str(error.value)
    assert kinds.find("x") is None
    logged = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(logged) == 1  # not again and again
    assert kinds.get("claude").name == "claude"


def test_what_cannot_be_used_is_shown_by_doctor() -> None:
    kinds = registry(("x", "no.such.module:KIND"), ("claude", f"{HERE}:COURIER"))
    checks = {check.area: check for check in check_kinds(kinds)}
    assert checks["agent kind x"].status == "problem"
    assert "cannot be imported" in checks["agent kind x"].text
    assert "built in, which is ignored" in checks["agent kind claude"].text
    assert kinds.get("claude").program == ("claude",)


class NoOptions:
    name, kind = "a", "x"


def fail(*_: object) -> Any:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda settings: ClaudeAgent(name=settings.name), "built as one of the kind 'claude'"),
        (lambda settings: 1 / 0, "agent 'a' cannot be built: ZeroDivisionError: division by zero"),
        (fail, "agent 'a' cannot be built: SystemExit: 3"),
        (lambda settings: None, "agent 'a' cannot be built: AttributeError"),
        (lambda settings: NoOptions(), "agent 'a' cannot be built: AttributeError"),
    ],
)
def test_an_agent_that_cannot_be_built_as_its_kind_is_an_error(
    build: Callable[[AgentSettings], Any], reason: str
) -> None:
    kinds = Registry(built_in=[AgentKind(name="x", build=build)])
    with pytest.raises(AgentKindError) as error:
        kinds.build("x", AgentSettings(name="a", program=("p",)))
    assert error.value.kind == "x"
    assert reason in error.value.reason


def test_records_that_cannot_be_read_are_left_out_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = AgentKind(name="x", build=fail, conversations=fail, history=fail)
    kinds = Registry(built_in=[*BUILT_IN, broken], find=lambda: [])
    records = Records(agents={"a": {}}, keepers=tmp_path, locks=tmp_path)
    assert (kinds.conversations("x", records), kinds.history("x", {})) == (None, None)
    assert caplog.text.count("its records cannot be read: SystemExit: 3") == 2
    assert (kinds.conversations("gone", records), kinds.history("gone", {})) == (None, None)
    assert (kinds.conversations("demo", records), kinds.history("demo", {})) == (None, None)
    assert kinds.conversations("claude", records) is not None
    assert kinds.history("claude", {"HOME": str(tmp_path)}) is not None


def test_one_package_found_twice_is_one_package() -> None:
    kinds = registry(("courier", f"{HERE}:COURIER"), ("courier", f"{HERE}:COURIER"))
    assert kinds.get("courier") is COURIER


def test_the_entry_points_of_an_installed_package_are_found(tmp_path: Path) -> None:
    (tmp_path / "boat.py").write_text(
        "from flybridge.agents.kinds import AgentKind\n"
        "BOAT = AgentKind(name='boat', program=('boat',), build=lambda settings: None)\n"
    )
    info = tmp_path / "boat-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: boat\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nboat = boat:BOAT\nleak = leak:X\n")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from flybridge.agents.registry import REGISTRY\n"
        "print(REGISTRY.get('boat').program, [p.text for p in REGISTRY.problems()])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert "('boat',)" in done.stdout
    assert "boat cannot be imported: ModuleNotFoundError" in done.stdout


def test_reading_the_kinds_imports_no_driver() -> None:
    program = (
        "import sys, flybridge.agents.registry\n"
        "print([name for name in sys.modules if name.startswith('flybridge')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert "drivers" not in done.stdout


def test_this_installation_has_no_broken_kind() -> None:
    assert REGISTRY.problems() == []
