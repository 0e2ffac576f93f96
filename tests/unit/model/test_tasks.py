from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.model.diffs import DiffHunk
from flybridge.model.events import Event
from flybridge.model.limits import UsageLimit
from flybridge.model.questions import PromptQuestion, QuestionOption
from flybridge.model.tasks import AgentTask, BackgroundTask
from tests.unit.model.structs import round_trip, values

STRUCTS = [DiffHunk, AgentTask, BackgroundTask, PromptQuestion, QuestionOption, UsageLimit]
OLD_ROWS = [
    b'{"type":"diff","item":"i","path":"a","patch":[{"lines":["+a"]}]}',
    b'{"type":"tasks","tasks":[{"id":"1","content":"a"}]}',
    b'{"type":"background.changed","tasks":[{"task_id":"b"}]}',
    b'{"type":"question.requested","prompt":"p","questions":[{"question":"q"}],"digest":"d"}',
    b'{"type":"rate_limit","status":"rejected","resets_ms":7,"detail":{"a":1}}',
]


@pytest.mark.parametrize("struct", STRUCTS)
@given(data=st.data())
def test_every_struct_survives_the_wire(struct: type[msgspec.Struct], data: st.DataObject) -> None:
    round_trip(data.draw(values(struct)), struct)


@pytest.mark.parametrize("row", OLD_ROWS)
def test_a_row_without_typed_fields_is_read_and_written_as_it_was(row: bytes) -> None:
    assert msgspec.json.encode(msgspec.json.decode(row, type=Event)) == row


def test_an_answer_is_filed_under_the_id_or_the_text_of_its_question() -> None:
    assert PromptQuestion(text="Where to?").key == "Where to?"
    assert PromptQuestion(text="Where to?", id="harbour").key == "harbour"
