from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from flybridge.agents.kinds import AgentKind
from flybridge.agents.registry import BUILT_IN, Registry
from flybridge.errors import AgentKindError, InvalidRequestError
from flybridge.probes.kinds import AgentProbe, probe_of
from flybridge.probes.report import Finding, Report
from tests.harness.other_agent import KIND, CourierAgent

HERE = "tests.unit.probes.test_kinds"
NO_PROBE = object()


def run_courier(
    program: Sequence[str],
    *,
    path: str,
    agent: str,
    begun: Callable[[Report], None],
    told: Callable[[Finding], None],
) -> Report:
    return Report(agent=agent, program=tuple(program), version="1", against="1", offline=True)


PROBE = AgentProbe(run=run_courier, subjects=("a parcel",))


def registry(reference: str) -> Registry:
    courier = AgentKind(name=KIND, build=lambda settings: CourierAgent(), probe=reference)
    return Registry(built_in=(*BUILT_IN, courier), find=lambda: ())


def test_every_kind_can_bring_a_probe() -> None:
    assert probe_of(KIND, "mine", registry(f"{HERE}:PROBE")) is PROBE
    claude = probe_of("claude", "claude", registry(""))
    assert "a text" in claude.subjects


def test_a_kind_without_a_probe_says_which_kinds_have_one() -> None:
    with pytest.raises(InvalidRequestError) as refused:
        probe_of(KIND, "mine", registry(""))
    assert str(refused.value) == (
        "agents of the kind 'courier' have no probe, so mine cannot be tried; "
        "kinds that have one: claude"
    )


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("no.such.module:PROBE", "cannot be imported: ModuleNotFoundError"),
        (f"{HERE}:MISSING", "cannot be imported: AttributeError"),
        (f"{HERE}:NO_PROBE", "is no AgentProbe"),
    ],
)
def test_a_probe_that_cannot_be_loaded_is_an_error_of_its_kind(reference: str, reason: str) -> None:
    with pytest.raises(AgentKindError, match=reason):
        probe_of(KIND, "mine", registry(reference))
