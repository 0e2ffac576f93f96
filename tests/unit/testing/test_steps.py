from __future__ import annotations

import pytest

from flybridge.errors import FlybridgeError
from flybridge.store.memory import MemoryJournal
from flybridge.testing.steps import (
    ONE,
    PLENTY,
    batch_of,
    faulty_steps,
    full_step,
    lines_of,
    read_all,
    told_by,
)


def test_full_steps_continue_each_other() -> None:
    journal = MemoryJournal()
    told = set()
    for number in range(1, 4):
        journal.commit(full_step(number))
        told.add(told_by(journal))
    assert len(told) == 3
    assert read_all(journal, ONE, 0, PLENTY) == lines_of(batch_of(1, 6))


def test_each_faulty_step_has_a_fault() -> None:
    for number in range(len(faulty_steps())):
        journal = MemoryJournal()
        journal.commit(full_step(1))
        with pytest.raises(FlybridgeError):
            journal.commit(faulty_steps()[number])
