"""Small storms with fixed seeds; ``make soak`` runs big ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.storm import Storm

KILLS = 20


@pytest.mark.parametrize("seed", [20, 21, 22])
def test_twenty_random_kills_break_no_promise(short_tmp: Path, seed: int) -> None:
    storm = Storm(short_tmp, seed)
    verdict = storm.run(KILLS, lambda: False)
    assert verdict.broken == []
    assert storm.kills.total() >= KILLS
    assert verdict.counts["message done"] > 0
