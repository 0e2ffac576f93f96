from __future__ import annotations

import pytest

from flybridge.agents.claude.measured import MEASURED, standing, stands_for


@pytest.mark.parametrize("version", MEASURED, ids="of {}".format)
def test_a_measured_version_stands_for_itself(version: str) -> None:
    assert stands_for(version) == version
    assert standing(version) == "measured"


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("2.1.7", "older than any measured, taken for 2.1.38"),
        ("2.1.100", "not measured, taken for 2.1.38"),
        ("2.1.121", "not measured, taken for 2.1.200"),
        ("2.1.205", "not measured, taken for 2.1.200"),
        ("2.1.206", "not measured, taken for 2.1.325"),
        ("2.1.300", "not measured, taken for 2.1.325"),
        ("2.1.326", "newer than any measured, taken for 2.1.325"),
        ("3.0.0", "newer than any measured, taken for 2.1.325"),
        ("", "unknown, taken for 2.1.325"),
    ],
)
def test_another_version_is_taken_for_the_one_the_driver_takes_it_for(
    version: str, told: str
) -> None:
    assert standing(version) == told
