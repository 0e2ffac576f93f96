from __future__ import annotations

from flybridge.agents.demo.blocks import Call, failed


def test_every_call_has_an_id_of_its_own() -> None:
    ids = {Call("Bash", {}).id for _ in range(10)}
    assert len(ids) == 10
    assert all(one.startswith("toolu_") for one in ids)


def test_a_failure_is_told_to_the_model_and_to_the_host() -> None:
    outcome = failed("no such boat")
    assert outcome.failed
    assert (outcome.text, outcome.detail) == ("no such boat", "Error: no such boat")
