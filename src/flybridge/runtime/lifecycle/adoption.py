"""Taking over an agent: what an earlier gateway left open is settled by the keeper's word.

Numbers the keeper wrote are written, numbers it took are on their way, and what it never
took never left: decided answers and the driver's own lines are sent again under the next
numbers, a person's message is reported as not delivered, an interrupt is dropped.
"""

from __future__ import annotations

from flybridge.model.events import Notice
from flybridge.model.facts import LinkUp, NotSent
from flybridge.model.ids import InputKey
from flybridge.runtime.keeper.client import Welcome
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.unit_of_work import Step
from flybridge.session.effects import Decision
from flybridge.session.ports import OutLine

FORGOTTEN = (
    "a secret was given to an agent that is gone, and the gateway was started anew: it is kept "
    "nowhere, so what the agent repeats of it is no longer hidden"
)


def settle(
    session: LiveSession, welcome: Welcome, outbox: list[OutLine], *, restarted: bool
) -> None:
    """Bring the session up behind a keeper that has just said WELCOME, in one step.

    ``restarted``: by another gateway than the one that took the inputs; then a message that
    was still waiting for its agent is not sent any more, unless it asked to be queued.

    Raises:
        FlybridgeError: it could not be committed; the session is down.
    """
    memory = session.memory
    row = memory.incarnation
    assert row is not None
    if not memory.secrets:
        memory.secrets.recall(welcome.kept or "")
    elif session.link is not None:
        session.link.keep(memory.secrets.kept())
    memory.agent_io = welcome.agent_io if row.transport == "stdio" else ""
    driver = memory.driver = session.new_driver()
    session.up()
    adopted = row.state == "live"
    step = session.step()
    session.note_written(step, welcome.wrote)
    not_sent = _sort_out(step, welcome, outbox)
    if restarted:
        held = memory.state.held()
        not_sent += [key for key in held if memory.state.inputs[key].mode != "queue"]
    if not_sent:
        step.fact(NotSent(keys=tuple(not_sent)))
    if not adopted:
        row.state = "live"
        row.agent_pid, row.agent_start = welcome.agent_pid, welcome.agent_start
        step.incarnation_changed = True
        driver.connected(step.now_ms)
        step.drain()
    ready = memory.state.accepts_input if adopted else step.ready
    step.fact(LinkUp(incarnation=row.incarnation, adopted=adopted, ready=ready))
    if memory.state.confided and not memory.secrets:
        step.decided(Decision([Notice(text=FORGOTTEN, level="warning")], []))
    session.commit(step)
    session.services.hub.resync(session.session)


def _sort_out(step: Step, welcome: Welcome, outbox: list[OutLine]) -> list[InputKey]:
    """Number anew what is sent again; return the inputs that are not."""
    not_sent: list[InputKey] = []
    step.memory.next_number = welcome.took + 1
    for out in sorted(outbox, key=lambda one: one.number):
        if out.number <= welcome.took:
            continue
        step.outbox_done.append(out.number)
        if out.line.on_restart == "send" or _may_repeat(step, out):
            step.resend(out.line)
        elif out.line.key is not None:
            not_sent.append(out.line.key)
    return not_sent


def _may_repeat(step: Step, out: OutLine) -> bool:
    """Whether a message may be sent that may have been sent: over a socket nobody knows, and
    an agent that is reached like that drops a message whose id it has had."""
    row = step.memory.incarnation
    of = step.memory.rows.get(out.line.key) if out.line.key is not None else None
    return row is not None and row.transport != "stdio" and of is not None and of.kind == "message"
