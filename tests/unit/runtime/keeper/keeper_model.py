"""Keeper, gateways and journal as a small machine, searched through in every order.

What is modelled: gateways that are killed at any point (between the journal and the wire, in
the middle of a frame, with frames still unread at the keeper), a journal that survives them,
a keeper that takes, writes and reports, connections as queues of frames in flight, and a client
that tries again whenever it was told NOT_DELIVERED. What is not: output, exits and signals.

A step is one action of one of them; a state is everything that matters afterwards. ``explore``
visits each state that any order of steps can reach.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Literal, NamedTuple

Stage = Literal["accepted", "dispatching", "written", "not delivered"]
Kind = Literal["input", "answer"]  # a decided answer is sent again by the next gateway itself


class Rules(NamedTuple):
    """The keeper's rules; take one away to see what it is good for."""

    close_old_unread: bool = True  # before WELCOME is computed
    drop_repeats: bool = True  # a number that was taken


class Row(NamedTuple):
    """One line of the ledger."""

    stage: Stage = "accepted"
    attempt: int = 0
    number: int = 0


class Frame(NamedTuple):
    """To the keeper: HELLO (number 0) or INPUT. ``torn``: its sender died while sending it."""

    number: int = 0
    item: int = -1
    attempt: int = 0
    torn: bool = False


class Wire(NamedTuple):
    """What one gateway sent and the keeper has not read; the end follows the last frame."""

    generation: int
    frames: tuple[Frame, ...] = ()


class Back(NamedTuple):
    """To the gateway: WELCOME(took, wrote), or WROTE (took is -1)."""

    took: int
    wrote: int


class State(NamedTuple):
    # what survives a gateway
    ledger: tuple[Row, ...]
    denied: frozenset[tuple[int, int]] = frozenset()  # attempts reported NOT_DELIVERED
    generation: int = 0
    kills: int = 0
    # the living gateway's memory
    alive: bool = False
    adopted: bool = False
    next: int = 0  # number to give away
    unsent: Frame | None = None
    back: tuple[Back, ...] = ()
    # the keeper
    wires: tuple[Wire, ...] = ()
    greeted: int = 0
    took: int = 0
    flight: Frame | None = None
    refused: bool = False
    # the agent
    log: tuple[tuple[int, int], ...] = ()  # (item, attempt) of each line it was given


Step = tuple[str, State]


class Model:
    """All steps of all parties, for these items, this many kills and these rules."""

    def __init__(self, kinds: tuple[Kind, ...], *, kills: int, rules: Rules) -> None:
        self._kinds = kinds
        self._kills = kills
        self._rules = rules

    @property
    def first(self) -> State:
        return State(ledger=tuple(Row() for _ in self._kinds))

    def steps(self, state: State) -> Iterator[Step]:
        yield from self._gateway(state) if state.alive else self._birth(state)
        yield from self._keeper(state)

    # -- gateways

    def _birth(self, state: State) -> Iterator[Step]:
        generation = state.generation + 1
        wires = (*state.wires, Wire(generation, (Frame(),)))
        yield (
            f"gateway {generation} starts and says HELLO",
            state._replace(generation=generation, alive=True, wires=wires),
        )

    def _gateway(self, state: State) -> Iterator[Step]:
        if state.kills < self._kills:
            yield from self._deaths(state)
        if state.back:
            yield self._hear(state)
        if not state.adopted:
            return
        if state.unsent is not None:
            yield (
                f"gateway sends INPUT {state.unsent.number}",
                _sent(state, state.unsent)._replace(unsent=None),
            )
        if all(row.stage != "dispatching" for row in state.ledger):
            for item, row in enumerate(state.ledger):
                if row.stage in ("accepted", "not delivered"):
                    yield self._claim(state, item)

    def _deaths(self, state: State) -> Iterator[Step]:
        dead = state._replace(
            alive=False, adopted=False, next=0, unsent=None, back=(), kills=state.kills + 1
        )
        yield "the gateway is killed", dead
        if state.unsent is not None and state.adopted:
            torn = _sent(state, state.unsent._replace(torn=True))
            yield "the gateway is killed inside a frame", dead._replace(wires=torn.wires)

    def _claim(self, state: State, item: int) -> Step:
        """Commit DISPATCHING; the frame leaves in a later step, or never."""
        number = state.next
        row = Row("dispatching", state.ledger[item].attempt + 1, number)
        frame = Frame(number, item, row.attempt)
        return (
            f"gateway claims item {item} as INPUT {number}, attempt {row.attempt}",
            _with_row(state, item, row)._replace(unsent=frame, next=number + 1),
        )

    def _hear(self, state: State) -> Step:
        heard, *rest = state.back
        state = state._replace(back=tuple(rest))
        if heard.took < 0:
            return f"gateway hears WROTE {heard.wrote}", _written(state, heard.wrote)
        state = _written(state, heard.wrote)._replace(adopted=True, next=heard.took + 1)
        for item, row in enumerate(state.ledger):
            if row.stage == "dispatching":
                state = self._resolve(state, item, row, heard.took)
        return f"gateway hears WELCOME took {heard.took} wrote {heard.wrote}", state

    def _resolve(self, state: State, item: int, row: Row, took: int) -> State:
        """Settle what an earlier gateway left between the journal and the agent."""
        if self._kinds[item] == "answer":
            again = Frame(row.number, item, row.attempt)
            return state._replace(unsent=again, next=max(state.next, row.number + 1))
        if row.number <= took:
            return state  # WROTE will come
        denied = state.denied | {(item, row.attempt)}
        gone = Row("not delivered", row.attempt, 0)
        return _with_row(state, item, gone)._replace(denied=denied)

    # -- the keeper

    def _keeper(self, state: State) -> Iterator[Step]:
        if state.flight is not None:
            line = state.flight
            done = state._replace(flight=None, log=(*state.log, (line.item, line.attempt)))
            yield f"keeper writes {line.number}", _told(done)
        for wire in state.wires:
            if wire.frames:
                yield from self._read(state, wire)

    def _read(self, state: State, wire: Wire) -> Iterator[Step]:
        frame, *rest = wire.frames
        state = _with_wire(state, wire._replace(frames=tuple(rest)))
        where = f"keeper reads, from gateway {wire.generation},"
        if frame.number == 0:
            yield f"{where} HELLO", self._greet(state, wire.generation)
        elif frame.torn:
            yield f"{where} half a frame and the end", state
        elif frame.number <= state.took and self._rules.drop_repeats:
            yield f"{where} INPUT {frame.number} again", _told(state)
        elif frame.number > state.took + 1 or state.flight is not None:
            yield f"{where} INPUT {frame.number} and refuses it", state._replace(refused=True)
        else:
            taken = state._replace(took=max(state.took, frame.number), flight=frame)
            yield f"{where} INPUT {frame.number} and takes it", taken

    def _greet(self, state: State, generation: int) -> State:
        if generation < state.greeted:
            return state
        if self._rules.close_old_unread:
            wires = tuple(w for w in state.wires if w.generation >= generation)
            state = state._replace(wires=wires)
        state = state._replace(greeted=generation)
        return _told(state, took=state.took)


# ---- what a state must never be -----------------------------------------------------------------


def broken(state: State) -> set[str]:
    """Name every promise this state breaks."""
    items = [item for item, _ in state.log]
    found = set()
    if len(items) != len(set(items)):
        found.add("written twice")
    if any(row.stage == "written" and i not in items for i, row in enumerate(state.ledger)):
        found.add("reported written, but was not")
    if state.denied & set(state.log):
        found.add("reported not delivered, but was written")
    if state.refused:
        found.add("an honest gateway was refused")
    return found


class Found(NamedTuple):
    """What a search saw: how much, which promises broke (by the shortest way), where it ended."""

    states: int
    broken: dict[str, list[str]]
    ends: set[State]


def explore(model: Model) -> Found:
    """Visit every state, breadth first; a way to each broken promise is kept."""
    came: dict[State, tuple[State, str] | None] = {model.first: None}
    todo = deque([model.first])
    seen_broken: dict[str, list[str]] = {}
    ends = set()
    while todo:
        state = todo.popleft()
        for promise in broken(state) - seen_broken.keys():
            seen_broken[promise] = _way(came, state)
        last = True
        for label, after in model.steps(state):
            last = False
            if after not in came:
                came[after] = (state, label)
                todo.append(after)
        if last:
            ends.add(state)
    return Found(len(came), seen_broken, ends)


def _way(came: dict[State, tuple[State, str] | None], state: State) -> list[str]:
    labels = []
    while (before := came[state]) is not None:
        state, label = before
        labels.append(label)
    return labels[::-1]


# ---- small changes ------------------------------------------------------------------------------


def _with_row(state: State, item: int, row: Row) -> State:
    ledger = (*state.ledger[:item], row, *state.ledger[item + 1 :])
    return state._replace(ledger=ledger)


def _with_wire(state: State, wire: Wire) -> State:
    wires = tuple(wire if w.generation == wire.generation else w for w in state.wires)
    return state._replace(wires=tuple(w for w in wires if w.frames or _lives(state, w)))


def _lives(state: State, wire: Wire) -> bool:
    return state.alive and wire.generation == state.generation


def _sent(state: State, frame: Frame) -> State:
    mine = next((w for w in state.wires if w.generation == state.generation), None)
    if mine is None:
        return state
    return _with_wire(state, mine._replace(frames=(*mine.frames, frame)))


def _written(state: State, upto: int) -> State:
    for item, row in enumerate(state.ledger):
        if row.stage == "dispatching" and row.number <= upto:
            state = _with_row(state, item, row._replace(stage="written"))
    return state


def _told(state: State, *, took: int = -1) -> State:
    """Tell the gateway that is connected how far writing got; a dead one hears nothing."""
    if not state.alive or state.greeted != state.generation:
        return state
    wrote = state.took if state.flight is None else state.flight.number - 1
    return state._replace(back=(*state.back, Back(took, wrote)))
