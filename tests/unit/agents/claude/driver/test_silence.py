"""How long an agent may be silent: the driver says what is open, the session what that means."""

from __future__ import annotations

from flybridge.agents.claude.driver.driver import ClaudeDriver
from flybridge.model.deliveries import Answer, Gauge, Preview
from flybridge.session.views import WEDGED_MS, why
from tests.harness.claude_cli import (
    assistant,
    can_use_tool,
    hear,
    init,
    line,
    message_start,
    result,
    text_start,
    tool_result,
    tool_use,
)
from tests.harness.claude_recordings import attached
from tests.harness.session_sim import Sim

DAY_MS = 86_400_000


class Followed:
    """A driver, and a session that hears all it says."""

    def __init__(self, version: str = "2.1.325") -> None:
        self.driver: ClaudeDriver = attached(version)
        self.sim = Sim().up()

    def hear(self, *lines: bytes) -> None:
        for fact in hear(self.driver, *lines):
            if not isinstance(fact, Preview | Gauge | Answer):
                self.sim.fact(fact)

    def after(self, quiet_ms: int) -> str:
        """What the session waits for when nothing more was heard for so long."""
        return why(self.sim.state, self.sim.now + quiet_ms, self.sim.now)[0]


def test_a_silent_turn_is_wedged() -> None:
    one = Followed()
    one.hear(init())
    assert one.after(WEDGED_MS) == "model"
    assert one.after(WEDGED_MS + 1) == "wedged"
    one.hear(message_start(), text_start())
    assert one.after(WEDGED_MS + 1) == "wedged"


def test_a_turn_with_an_open_tool_never_is() -> None:
    one = Followed()
    one.hear(init(), assistant(tool_use("t1", command="make world")))
    assert one.after(DAY_MS) == "tool"
    beat = line(type="tool_progress", parent_tool_use_id="t1", elapsed_time_seconds=30)
    one.hear(beat)
    assert one.after(DAY_MS) == "tool"
    one.hear(tool_result("t1"))
    assert one.after(WEDGED_MS + 1) == "wedged"


def test_a_turn_that_waits_for_a_person_never_is() -> None:
    one = Followed()
    one.hear(init(), assistant(tool_use("t1")), can_use_tool())
    assert one.after(DAY_MS) == "permission"
    questions = [{"question": "Which?", "header": "h", "options": [], "multiSelect": False}]
    asks = assistant(tool_use("t2", "AskUserQuestion", questions=questions))
    again = Followed()
    again.hear(
        init(),
        asks,
        can_use_tool("r2", "t2", "AskUserQuestion", input={"questions": questions}),
    )
    assert again.after(DAY_MS) == "question"


def test_a_heartbeat_is_a_sign_of_life_and_makes_no_turn() -> None:
    one = Followed()
    state = line(type="system", subtype="session_state_changed", state="idle")
    one.hear(init(), result(), state)
    one.hear(line(type="tool_progress", parent_tool_use_id="gone", elapsed_time_seconds=60))
    assert one.after(DAY_MS) == "nothing"
