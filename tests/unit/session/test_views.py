from __future__ import annotations

import msgspec

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.content import Image
from flybridge.model.ids import ItemId, PromptId
from flybridge.session.views import HEAD, STUCK_INPUT_MS, WEDGED_MS, head_of, view, why
from tests.harness.session_sim import Sim, ask, say


def reason(sim: Sim, after_ms: int = 0) -> str:
    return why(sim.state, sim.now + after_ms)[0]


def test_a_person_comes_before_everything_else() -> None:
    sim = Sim().up()
    sim.fact(f.TurnBegan(), f.ToolCalled(item=ItemId("t"), name="Bash"))
    assert reason(sim) == "tool"
    ask(sim)
    assert reason(sim) == "permission"


def test_a_question_is_a_reason_too() -> None:
    sim = Sim().up()
    sim.fact(f.QuestionAsked(prompt=PromptId("q"), questions=msgspec.Raw(b"[]")))
    assert reason(sim) == "question"


def test_the_clock_comes_before_the_model() -> None:
    sim = Sim().up()
    sim.fact(f.TurnBegan())
    assert reason(sim) == "model"
    sim.fact(e.Retry(attempt=1))
    assert reason(sim) == "retry"


def test_long_silence_in_a_turn_is_called_wedged_but_a_tool_may_take_its_time() -> None:
    sim = Sim().up()
    sim.fact(f.TurnBegan())
    assert reason(sim, WEDGED_MS) == "model"
    assert reason(sim, WEDGED_MS + 1) == "wedged"
    assert why(sim.state, sim.now + WEDGED_MS + 1, sim.now + 5)[0] == "model"
    sim.fact(f.ToolCalled(item=ItemId("t"), name="Bash"))
    assert reason(sim, WEDGED_MS + 1) == "tool"


def test_inputs_on_their_way_are_a_queue_until_they_are_stuck() -> None:
    sim = Sim().up()
    assert reason(sim) == "nothing"
    sim.do(say())
    assert reason(sim) == "queue"
    assert reason(sim, STUCK_INPUT_MS + 1) == "wedged"


def test_the_status_says_what_the_session_is_doing() -> None:
    sim = Sim()
    seen = [view(sim.state, 0).status]
    sim.opened()
    seen.append(view(sim.state, 0).status)
    sim.fact(f.LinkUp(incarnation=sim.state.incarnation, ready=False))
    seen.append(view(sim.state, 0).status)
    sim.fact(f.AcceptsInput())
    seen.append(view(sim.state, 0).status)
    sim.do(say())
    seen.append(view(sim.state, 0).status)
    sim.do(c.Close())
    seen.append(view(sim.state, 0).status)
    assert seen == ["off", "starting", "starting", "idle", "running", "closed"]


def test_the_view_names_what_is_open() -> None:
    sim = Sim().up()
    sim.fact(
        f.TurnBegan(),
        f.ItemOpened(item=ItemId("i"), kind="text"),
        f.ToolCalled(item=ItemId("t"), name="Bash"),
    )
    asked = ask(sim)
    key = sim.do(say("later", mode="queue"))
    shown = view(sim.state, sim.now)
    assert [(one.prompt, one.digest) for one in shown.prompts] == [(asked.prompt, asked.digest)]
    assert [(one.key, one.head) for one in shown.queue] == [(key, "later")]
    assert [one.name for one in shown.tools] == ["Bash"]


def test_the_head_of_an_input_is_its_first_words() -> None:
    assert head_of(say("x" * 999).content) == "x" * HEAD
    assert head_of((Image(media_type="image/png", data=""),)) == "(1 attachments)"
    assert head_of(()) == ""


def test_the_kind_of_the_agent_is_shown() -> None:
    sim = Sim().up()
    sim.state.kind = "courier"
    assert view(sim.state, 0).kind == "courier"
