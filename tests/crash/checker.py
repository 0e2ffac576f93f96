"""Judges a rig after the fact: recorder's file, final journal, and what clients got.

It trusts nothing the gateway said while it ran, and no code that decided anything: the log is
read as rows and JSON. Only the fold is the product's own, because folding is what is checked.
``I1`` … ``I9`` name the promises; see :class:`Judge`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from flybridge.client.items import EventItem, to_event
from flybridge.client.transcript import Transcript
from flybridge.model.ids import SessionId
from flybridge.runtime.keeper.process import boot_id
from flybridge.runtime.unit_of_work import load_memory
from flybridge.session.state import encode_state
from flybridge.store.sqlite import SqliteJournal
from flybridge.testing.recorder import read_record
from flybridge.wire.native.messages import EventLine, decode_gateway
from tests.crash.evidence import Evidence, Seen, Sent
from tests.crash.told import Received, received, texts, where

Json: TypeAlias = dict[str, Any]
GUARDED = "Guarded"  # the tool that rigs let ask; every other one runs freely
CLOSERS = ("text.done", "thinking.done", "tool.result")
REACHED = ("written", "observed", "done")


class Logged(msgspec.Struct):
    """One entry of the final log."""

    seq: int
    raw: Seen
    event: Json

    @property
    def type(self) -> str:
        return str(self.event["type"])


class Fate(msgspec.Struct):
    """What the log says of one input."""

    session: str
    key: str
    kind: str = ""
    attempts: int = 0
    outcomes: list[str] = []
    reasons: list[str] = []
    lives: list[str] = []
    left: bool = False  # the last attempt was handed over
    turn: str = ""

    @property
    def open(self) -> bool:
        return len(self.outcomes) < self.attempts


class Verdict(msgspec.Struct):
    """What is broken (nothing, one hopes), and what was counted on the way."""

    broken: list[str] = []
    counts: Counter[str] = msgspec.field(default_factory=Counter)


class Judge:
    """All checks over one rig whose gateway has stopped cleanly and whose agents are gone.

    - I1 an input is at the agent, and is executed, at most once in all
    - I2 whoever was told "written" or more can count on it: it is there once, or was reported lost
    - I3 every accepted input has its outcome, one per attempt
    - I4 without a dead agent or keeper nothing is unknown, lost or over
    - I5 the log has no gap, holds all that anybody saw, and folds to the same state either way
    - I6 turns, items and prompts begin once and end once
    - I7 no guarded tool ran without a committed allow, and none ran twice
    - I8 complete texts are what the script says, to the letter; partial ones its beginning
    - I9 not delivered means never there; cancelled means that it never ran, and never was there
      unless the agent itself gave it back
    """

    def __init__(self, evidence: Evidence, records: Sequence[Path], state: Path) -> None:
        self.evidence = evidence
        self.verdict = Verdict(broken=list(evidence.broken))
        self._blobs = state / "blobs"
        self._records = [one for path in records for one in read_record(path)]
        self._received = received(self._records)
        self._logs: dict[str, list[Logged]] = {}
        self._fates: dict[tuple[str, str], Fate] = {}
        journal = SqliteJournal.open(str(state / "journal.db"), boot=boot_id())
        try:
            for row in journal.sessions():
                self._logs[row.session] = self._read(journal, row.session)
                self._fold(journal, row.session)
        finally:
            journal.close()
        for session, log in self._logs.items():
            self._follow_inputs(session, log)

    def check(self) -> Verdict:
        self._check_messages()
        self._check_control_lines()
        self._check_outcomes()
        for session, log in self._logs.items():
            self._check_seen(session, log)
            self._check_pairs(session, log)
            self._check_lives(session, log)
            self._check_permissions(session, log)
            self._checktexts(session, log)
        self._check_transcripts()
        self._count()
        return self.verdict

    def _break(self, text: str) -> None:
        self.verdict.broken.append(text)

    # ---- reading -----------------------------------------------------------------------------

    def _read(self, journal: SqliteJournal, session: SessionId) -> list[Logged]:
        log: list[Logged] = []
        after = 0
        while batches := journal.read(session, after, 1 << 20):
            for batch in batches:
                for line in batch.wire.split(b"\n"):
                    message = decode_gateway(line)
                    assert isinstance(message, EventLine)
                    raw = Seen(message.at_ms, bytes(message.event))
                    log.append(Logged(message.seq, raw, json.loads(raw.event)))
                after = batch.last_seq
        return log

    def _fold(self, journal: SqliteJournal, session: SessionId) -> None:
        """I5: the snapshot and the log after it give what the whole log gives."""
        loaded = journal.load(session)
        assert loaded is not None
        quick = load_memory(journal, loaded)
        whole = load_memory(journal, msgspec.structs.replace(loaded, snapshot=None))
        if encode_state(quick.state) != encode_state(whole.state):
            self._break(f"I5 {session} folds differently from its snapshot")
        for key, row in quick.rows.items():
            if row.stage != quick.state.inputs[key].stage:
                self._break(f"I5 {session} ledger and log disagree about {key}")

    def _follow_inputs(self, session: str, log: list[Logged]) -> None:
        for entry in log:
            key = entry.event.get("key")
            if key is None or not entry.type.startswith("input."):
                continue
            fate = self._fates.setdefault((session, key), Fate(session, key))
            if entry.type == "input.accepted":
                fate.kind = entry.event["kind"]
                if fate.attempts > len(fate.outcomes):
                    self._break(f"I3 {key} was accepted again before its outcome")
                fate.attempts += 1
                fate.left = False
            elif entry.type == "input.dispatched":
                fate.lives.append(entry.event["incarnation"])
                fate.left = True
            elif entry.type == "input.consumed":
                fate.turn = entry.event.get("turn", "")
            elif entry.type == "input.outcome":
                fate.outcomes.append(entry.event["outcome"])
                fate.reasons.append(entry.event.get("reason", ""))
                if len(fate.outcomes) > fate.attempts:
                    self._break(f"I3 {key} has more outcomes than attempts")

    def _fate(self, sent: Sent) -> Fate | None:
        if "prompt" in sent.command:
            return self._fates.get((sent.session, f"prompt:{sent.command['prompt']}"))
        found = [
            fate
            for (session, key), fate in self._fates.items()
            if session == sent.session and key.endswith(f":{sent.request}")
        ]
        return found[0] if found else None

    # ---- inputs ------------------------------------------------------------------------------

    def _check_messages(self) -> None:
        fates = {
            (fate.session, fate.key.rpartition(":")[2]): fate
            for fate in self._fates.values()
            if fate.kind == "message"
        }
        for request, sent in self.evidence.sent.items():
            if sent.kind != "send_input":
                continue
            got = self._received.get(request, Received())
            fate = fates.get((sent.session, request))
            if got.lines > 1 or got.executed > 1:
                self._break(f"I1 {request} came {got.lines} times and ran {got.executed} times")
                self.verdict.counts["doubles"] += 1
            if fate is None:
                self._unclaimed(sent, got)
                continue
            self._check_promise(sent, fate, got)
        for token in self._received.keys() - self.evidence.sent.keys():
            self._break(f"I1 the agent got {token!r}, which nobody sent")

    def _unclaimed(self, sent: Sent, got: Received) -> None:
        if got.lines:
            self._break(f"I1 {sent.request} is at the agent and not in the log")
        if any(reply.stage for reply in sent.replies):
            self._break(f"I5 {sent.request} was answered and is not in the log")

    def _check_promise(self, sent: Sent, fate: Fate, got: Received) -> None:
        last = fate.outcomes[-1] if fate.outcomes else ""
        told = any(reply.stage in REACHED for reply in sent.replies)
        if told and got.lines != 1 and last not in ("lost", "unknown"):
            self._break(f"I2 {sent.request} was said to be written; it came {got.lines} times")
            self.verdict.counts["lost"] += 1
        if last == "done" and got.executed != 1:
            self._break(f"I2 {sent.request} is done but ran {got.executed} times")
            self.verdict.counts["lost"] += 1
        gave_back = last == "cancelled" and fate.left
        if last in ("not_delivered", "lost", "cancelled", "expired") and got.lines:
            if not gave_back:
                self._break(f"I9 {sent.request} is {last}, yet the agent got it")
            elif got.executed:
                self._break(f"I9 {sent.request} is {last}, yet it ran")
        if last == "observed" and got.lines != 1:
            self._break(f"I2 {sent.request} was observed but came {got.lines} times")

    def _check_outcomes(self) -> None:
        for fate in self._fates.values():
            if fate.open:
                self._break(f"I3 {fate.session} {fate.key} ({fate.kind}) has no outcome")
            for outcome, reason in zip(fate.outcomes, fate.reasons, strict=False):
                self.verdict.counts[f"{fate.kind} {outcome}"] += 1
                if outcome in ("unknown", "lost", "observed"):
                    self._check_hurt(fate, outcome, reason)
            if any(one != "not_delivered" for one in fate.outcomes[:-1]):
                self._break(f"I9 {fate.key} was tried again after {fate.outcomes}")

    def _check_hurt(self, fate: Fate, outcome: str, reason: str) -> None:
        hurt = [self.evidence.hurt.get(life, "") for life in fate.lives]
        if not any(hurt):
            self._break(f"I4 {fate.key} is {outcome} ({reason}), but nobody hurt {fate.lives}")
        if outcome == "unknown":
            self.verdict.counts[f"unknown: {reason}"] += 1

    def _check_control_lines(self) -> None:
        """I1 for what is no message: no request or answer of ours comes twice to one agent."""
        seen: Counter[tuple[int, str]] = Counter()
        for record in self._records:
            if record.kind != "line" or record.data.get("torn"):
                continue
            message = json.loads(record.line)
            name = message.get("request_id") or message.get("response", {}).get("request_id")
            if name:
                seen[record.pid, name] += 1
        for (pid, name), count in seen.items():
            if count > 1:
                self._break(f"I1 control line {name} came {count} times to agent {pid}")
                self.verdict.counts["doubles"] += 1

    # ---- the log -----------------------------------------------------------------------------

    def _check_seen(self, session: str, log: list[Logged]) -> None:
        if [entry.seq for entry in log] != list(range(1, len(log) + 1)):
            self._break(f"I5 {session}: the log has gaps or doubles")
        stored = {entry.seq: entry.raw for entry in log}
        for seq, seen in self.evidence.seen.get(session, {}).items():
            if stored.get(seq) != seen:
                self._break(f"I5 {session}: event {seq} was seen as {seen}, not {stored.get(seq)}")
                self.verdict.counts["lost"] += 1

    def _check_pairs(self, session: str, log: list[Logged]) -> None:
        """I6: what begins ends, once, and nothing ends that did not begin."""
        turns: Counter[str] = Counter()
        items: Counter[str] = Counter()
        prompts: Counter[str] = Counter()
        for entry in log:
            event = entry.event
            if entry.type == "turn.started":
                self._begin(session, turns, event["turn"], "turn")
                if sum(turns.values()) > 1:
                    self._break(f"I6 {session}: two turns at once at {entry.seq}")
            elif entry.type == "turn.ended":
                self._end(session, turns, event["turn"], "turn")
            elif entry.type == "item.started":
                self._begin(session, items, event["item"], "item")
            elif entry.type in CLOSERS:
                self._end(session, items, event["item"], "item")
            elif entry.type in ("permission.requested", "question.requested"):
                self._begin(session, prompts, event["prompt"], "prompt")
            elif entry.type in ("permission.closed", "question.closed"):
                self._end(session, prompts, event["prompt"], "prompt")
        for what, counted in (("turn", turns), ("item", items), ("prompt", prompts)):
            for name in +counted:
                self._break(f"I6 {session}: {what} {name} never ended")

    def _begin(self, session: str, counted: Counter[str], name: str, what: str) -> None:
        if name in counted:
            self._break(f"I6 {session}: {what} {name} began twice")
        counted[name] += 1

    def _end(self, session: str, counted: Counter[str], name: str, what: str) -> None:
        if counted[name] != 1:
            self._break(f"I6 {session}: {what} {name} ended while it was not open")
        counted[name] = 0

    def _check_lives(self, session: str, log: list[Logged]) -> None:
        """I4: an agent nobody hurt is adopted, not buried; only a start may fail."""
        for entry in log:
            if entry.type != "agent.exited" or entry.event.get("asked"):
                continue
            life, why = entry.event["incarnation"], entry.event["why"]
            self.verdict.counts[f"agent {why}"] += 1
            if why != "not_started" and life not in self.evidence.hurt:
                self._break(f"I4 {session}: {life} ended ({why}), but nobody hurt it")

    # ---- permissions -------------------------------------------------------------------------

    def _check_permissions(self, session: str, log: list[Logged]) -> None:
        asked = {
            entry.event["prompt"]: entry.event
            for entry in log
            if entry.type == "permission.requested"
        }
        how = {e.event["prompt"]: e.event["how"] for e in log if e.type == "permission.closed"}
        allowed = {
            event.get("item", ""): event
            for prompt, event in asked.items()
            if how.get(prompt) == "allowed"
        }
        mine = {entry.event["item"] for entry in log if entry.type == "item.started"}
        ran: Counter[str] = Counter()
        for record in self._records:
            if record.kind != "ran" or record.data["name"] != GUARDED:
                continue
            call = record.data["ran"]
            if call in mine:
                ran[call] += 1
                if call not in allowed:
                    self._break(f"I7 {session}: {call} ran without a committed allow")
                elif allowed[call]["input"] != record.data["input"]:
                    self._break(f"I7 {session}: {call} ran with another input than was shown")
        for call, count in ran.items():
            if count > 1:
                self._break(f"I7 {session}: {call} ran {count} times")
        turn_of = {e.event["item"]: e.event.get("turn") for e in log if e.type == "item.started"}
        whole = {e.event["turn"] for e in log if _is_whole(e)}  # neither stopped nor cut short
        for prompt, event in asked.items():
            fate = self._fates.get((session, f"prompt:{prompt}"))
            done = fate is not None and fate.outcomes[-1:] == ["done"]
            if done and how[prompt] == "allowed" and turn_of.get(event["item"]) in whole:
                self.verdict.counts["allowed"] += 1
                if ran[event["item"]] != 1:
                    self._break(f"I7 {session}: {prompt} was allowed, and its tool did not run")

    # ---- texts -------------------------------------------------------------------------------

    def _checktexts(self, session: str, log: list[Logged]) -> None:
        """I8: each turn's texts are those of the message it took, in order."""
        closed = {e.event["item"]: e.event for e in log if e.type == "text.done"}
        said: dict[str, list[Json]] = {}  # in the order they began: a later one may end earlier
        for entry in log:
            if entry.type == "item.started" and entry.event["item"] in closed:
                turn = entry.event.get("turn", "")
                said.setdefault(turn, []).append(closed[entry.event["item"]])
        ended = {e.event["turn"] for e in log if _is_whole(e)}
        for fate in self._fates.values():
            if fate.session != session or fate.kind != "message" or not fate.turn:
                continue
            sent = self.evidence.sent.get(fate.key.rpartition(":")[2])
            if sent is None:
                continue
            self._compare(sent, said.get(fate.turn, []), whole=fate.turn in ended)

    def _compare(self, sent: Sent, said: list[Json], *, whole: bool) -> None:
        wanted = texts(sent)
        for index, event in enumerate(said):
            text = self._text(event)
            want = wanted[index] if index < len(wanted) else ""
            partial = event.get("status", "complete") != "complete"
            self.verdict.counts["texts"] += 1
            if text != want and not (partial and want.startswith(text)):
                self._break(
                    f"I8 {sent.request}: text {index} ({event.get('status', 'complete')}) has "
                    f"{len(text)} characters, {where(text, want)}"
                )
        if whole and len(said) != len(wanted):
            self._break(f"I8 {sent.request}: {len(said)} texts instead of {len(wanted)}")

    def _text(self, event: Json) -> str:
        digest = str(event.get("blob", ""))
        if not digest:
            return str(event.get("text", ""))
        path = self._blobs / digest[:2] / digest[2:4] / digest
        if not path.exists():
            self._break(f"I8 the blob {digest} is not there")
            return ""
        return path.read_bytes().decode()

    def _check_transcripts(self) -> None:
        """Whoever followed a session, however often cut off, has what a replay so far gives."""
        for session, transcript in self.evidence.transcripts:
            replayed = Transcript(epoch=transcript.epoch)
            for entry in self._logs[session][: transcript.last_seq]:
                raw = msgspec.Raw(entry.raw.event)
                item = EventItem(entry.seq, entry.raw.at_ms, to_event(raw), entry.raw.event)
                replayed.apply(item)
            for name in replayed.__struct_fields__:
                if getattr(transcript, name) != getattr(replayed, name):
                    self._break(f"I8 {session}: a client's {name} differs from a replay's")

    def _count(self) -> None:
        counts = self.verdict.counts
        counts["events"] += sum(map(len, self._logs.values()))
        counts["inputs"] += len(self.evidence.sent)
        counts["sessions"] += len(self._logs)
        counts["executed"] += sum(one.executed for one in self._received.values())


def judge(evidence: Evidence, records: Sequence[Path], state: Path) -> Verdict:
    """Check everything; ``verdict.broken`` is empty when every promise was kept."""
    return Judge(evidence, records, state).check()


def _is_whole(entry: Logged) -> bool:
    """Whether it ends a turn that went all its way."""
    return entry.type == "turn.ended" and entry.event.get("reason", "done") == "done"
