from __future__ import annotations

import pytest

from flybridge.agents.claude.measured import MEASURED
from flybridge.probes.claude.expectations import EXPECTED, Expected
from flybridge.probes.claude.run import PROBES
from flybridge.probes.report import judge


def test_every_probe_has_an_expectation_and_none_is_without_a_probe() -> None:
    assert list(EXPECTED) == [*PROBES, "messages", "fields"]


def test_no_two_probes_are_about_the_same() -> None:
    abouts = [one.about for one in EXPECTED.values()]
    assert len(set(abouts)) == len(abouts)


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_not_seen_is_broken(name: str) -> None:
    one = EXPECTED[name]
    if name == "messages":  # there, every answer is a list of what is unknown
        return
    for version in MEASURED:
        assert judge(one.of(version), "it did not come in time", one.also) == "broken"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("repeat", "run 2 times"),
        ("repeat_resumed", "run 2 times"),
        ("allow", "ran without asking"),
        ("deny", "ran although it was denied"),
        ("edit", "ran as it was, not as edited"),
        ("queue", "what waits is taken back, and runs"),
        ("question", "heard as Blue; nothing"),
        ("fork", "knows what was said, other id"),
        ("slash", "/cost never ends"),
    ],
)
def test_nothing_that_breaks_a_promise_is_lived_with(name: str, found: str) -> None:
    one = EXPECTED[name]
    assert {judge(one.of(version), found, one.also) for version in MEASURED} == {"broken"}


def test_an_expectation_that_names_no_newer_form_holds_for_all() -> None:
    every = Expected(about="x", old="one")
    newer = Expected(about="x", old="one", new="two")
    each = Expected(about="x", old="one", middle="three", new="two")
    assert [every.of(one) for one in MEASURED] == ["one", "one", "one"]
    assert [newer.of(one) for one in MEASURED] == ["one", "two", "two"]
    assert [each.of(one) for one in MEASURED] == ["one", "three", "two"]
