"""The recorder agent: speaks Claude's stream-json and writes down the truth.

Every line it receives is appended to the file named by ``$RECORDER_FILE`` (or ``--record``)
and synced *before* it is acted upon; so is every message it executes and every tool it runs.
A test may therefore kill anything at any time and still know what the agent was told, and
how often it did it. :func:`read_record`, :func:`lines`, :func:`executed` and :func:`ran` read
that file.

What it does is said by the message: a line ``@@ [step, ...]`` in its text. Without one it
answers ``ok: <text>``. A step is an object, known by its first key below:

- ``say`` text (``deltas``: in how many pieces; ``hold`` path: the block stays open until it
  exists) · ``think`` text
- ``tool`` name (``input``, ``ask``, ``suggestions``, ``result``, ``fails``; ``reuse_prompt``:
  true asks twice at once, "after" asks again under the old id for another call) ·
  ``reuse_prompt`` alone
- ``wait_file`` path: until it exists · ``stall`` seconds · both bounded by ``seconds`` (60)
- ``flood`` bytes in delta lines of ``line`` characters, numbered · ``big_line`` bytes in one
- ``junk`` text, ``junk_hex``: raw bytes · ``torn`` text: half a line, the rest after
  ``wait_file``, or never with ``die``
- ``die`` status · ``kill_self`` signal · ``ignore_term``
- ``fork_away`` marker: a grandchild in a session of its own · ``hold_stdout`` seconds: a child
  that keeps our stdout open
- ``stop_reading`` seconds, or a path: until it exists · ``stderr`` text · ``stderr_flood`` bytes
- ``unprompted`` text: a turn of its own afterwards (after ``wait_file``) · ``two_results``
- ``echo`` false: no replay of this message

Flags besides Claude's: ``--record FILE``, ``--no-dedupe`` (a repeated uuid runs again),
``--eof-now`` (leave at once when stdin ends); also taken from ``$RECORDER_FLAGS``.
Stdlib only, one file, no import of ours: it runs by path under ``python -I`` in 30 ms.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
import time
from binascii import a2b_base64, b2a_base64
from collections import deque

TYPE_CHECKING = False  # typing itself costs a third of our start-up
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

    Json = dict[str, Any]

VERSION = "2.1.325"
MODEL = "flybridge-recorder"
POLL_S = 0.005
WAIT_S = 60.0
FORKED_S = 300
CHUNK_BYTES = 256 * 1024
HEAD = 200


# ---- the file, written and read ------------------------------------------------------------------


class Record:
    """One entry. ``kind`` is ``line`` for received lines, else what the agent says it did."""

    __slots__ = ("data", "kind", "pid")
    KINDS = (
        *("started", "line", "executed", "finished", "answer", "stray", "ran"),
        *("forked", "holds", "term"),
    )

    def __init__(self, data: Json) -> None:
        self.data = data
        self.pid: int = data["pid"]
        self.kind = next((kind for kind in (*self.KINDS, "eof") if kind in data), "line")

    @property
    def line(self) -> bytes:
        """The bytes received, without their newline."""
        if "base64" in self.data:
            return a2b_base64(self.data["base64"])
        return str(self.data.get("line", "")).encode()

    def __repr__(self) -> str:
        return f"Record({self.data!r})"


def read_record(path: str | os.PathLike[str]) -> list[Record]:
    """Return all whole entries; a file not there yet has none, an entry cut by a kill is left."""
    from pathlib import Path  # only readers need it

    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return []
    return [Record(entry) for line in data.split(b"\n")[:-1] if (entry := _entry(line))]


def _entry(line: bytes) -> Json | None:
    """One entry; None for an empty line, and for one that was never finished nor acted upon."""
    try:
        return json.loads(line) if line else None
    except ValueError:
        return None


def lines(path: str | os.PathLike[str]) -> list[bytes]:
    """Every line any recorder received, in the order it was written down."""
    return [record.line for record in read_record(path) if record.kind == "line"]


def executed(path: str | os.PathLike[str]) -> list[str]:
    """The uuid of every user message that was run, once per run ("" if it had none)."""
    return [str(r.data["executed"]) for r in read_record(path) if r.kind == "executed"]


def finished(path: str | os.PathLike[str]) -> list[str]:
    """The uuid of every user message whose turn is over, its last line written."""
    return [str(r.data["finished"]) for r in read_record(path) if r.kind == "finished"]


def ran(path: str | os.PathLike[str]) -> list[Json]:
    """Every tool that was run: ``ran`` (its id), ``name`` and the ``input`` it ran with."""
    return [record.data for record in read_record(path) if record.kind == "ran"]


class Notebook:
    """Appends entries; each is on the disk when :meth:`note` returns."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._pid = os.getpid()
        self._n = 0

    def received(self, line: bytes, *, torn: bool = False) -> None:
        self._n += 1
        entry: Json = {"n": self._n, "pid": self._pid}
        try:
            entry["line"] = line.decode()
        except UnicodeDecodeError:
            entry["base64"] = b2a_base64(line, newline=False).decode()
        self._append({**entry, "torn": True} if torn else entry)

    def note(self, **what: object) -> None:
        self._append({**what, "pid": self._pid})

    def _append(self, entry: Json) -> None:
        # A newline on both sides: an entry that a kill cut short cannot spoil the next one.
        os.write(self._fd, b"\n" + json.dumps(entry).encode() + b"\n")
        os.fsync(self._fd)


# ---- the agent -----------------------------------------------------------------------------------


class Stopped(Exception):  # noqa: N818 - the end of a turn, no error
    """The turn was interrupted."""


class Turn:
    """A user message on its way, or (``content`` None) a turn nobody asked for."""

    def __init__(self, content: object, uuid: str = "", text: str = "") -> None:
        self.content = content
        self.uuid = uuid
        self.text = text or _text(content)
        self.stop = False
        self.said = ""
        self.failed = ""
        self.call = ""  # the tool call that has no result yet
        self.results = 1
        self.after: list[Json] = []
        self.steps = _steps(self.text) if content is not None else [{"say": text}]

    @property
    def echo(self) -> bool:
        return not any(step.get("echo") is False for step in self.steps)


class Recorder:
    """Reads in one thread, plays turns in the main one; ``_moved`` guards what both touch."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        flags = self._flags = _flags([*env.get("RECORDER_FLAGS", "").split(), *argv])
        path = flags.get("--record") or env.get("RECORDER_FILE", "")
        if not path:
            _leave(2, "recorder: no $RECORDER_FILE and no --record: nothing would be true")
        self.book = Notebook(path)
        self.session = flags.get("--session-id") or flags.get("--resume") or _uuid()
        self.model = flags.get("--model") or MODEL
        self.mode = flags.get("--permission-mode") or "default"
        self._dedupe = "--no-dedupe" not in flags
        self._partial = "--include-partial-messages" in flags
        self._replay = "--replay-user-messages" in flags
        self._states = env.get("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") == "1"
        self._seen: set[str] = set()
        if "--resume" in flags:  # as the CLI does, from its transcript
            runs = [record.data for record in read_record(path) if record.kind == "executed"]
            self._seen = {run["executed"] for run in runs if run["session"] == self.session}
        self._moved = threading.Condition()
        self._out = threading.RLock()
        self._waiting: deque[Turn] = deque()
        self._turn: Turn | None = None
        self._asked: dict[str, Json | None] = {}  # open prompts and their first answers
        self._later = 0  # unprompted turns that still wait
        self._eof = False
        self._results = 0
        self._ids = 0
        self._hold: tuple[float, str] | None = None  # not reading until then
        self._holding = threading.Event()
        self._wake_in, self._wake_out = os.pipe()
        self.book.note(started=list(argv), session=self.session)

    def run(self) -> int:
        signal.signal(signal.SIGTERM, self._terminated)
        signal.signal(signal.SIGINT, lambda *_: os._exit(0))
        threading.Thread(target=self._read, daemon=True).start()
        while True:
            with self._moved:
                while not self._waiting and not (self._eof and not self._later):
                    self._moved.wait()
                if not self._waiting:
                    return 0
                turn = self._turn = self._waiting.popleft()
            self._play(turn)

    def _terminated(self, number: int, _frame: object) -> None:
        self.book.note(term=number)
        os._exit(128 + number)

    # ---- stdin: written down first, then acted upon ----------------------------------------------

    def _read(self) -> None:
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(self._wake_in, select.POLLIN)
        rest: list[bytes] = []
        while True:
            self._keep_away()
            ready = [fd for fd, _ in poll.poll()]
            if self._wake_in in ready:
                os.read(self._wake_in, 1)
                continue
            data = os.read(0, CHUNK_BYTES)
            if not data:
                break
            *whole, tail = data.split(b"\n")
            if whole:
                whole[0] = b"".join((*rest, whole[0]))
                rest = []
            rest.append(tail)
            for line in whole:
                self.book.received(line)
                self._take(line)
        if tail := b"".join(rest):
            self.book.received(tail, torn=True)
        self.book.note(eof=True)
        if "--eof-now" in self._flags:
            os._exit(0)
        with self._moved:
            self._eof = True
            self._moved.notify_all()

    def _keep_away(self) -> None:
        while self._hold is not None:
            self._holding.set()
            until, path = self._hold
            if time.monotonic() > until or (path and _exists(path)):
                self._hold = None
            time.sleep(POLL_S)

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = json.loads(line)
            match message.get("type"):
                case "user":
                    self._user(message)
                case "control_request":
                    self._control(message["request_id"], message["request"])
                case "control_response":
                    self._answered(message)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            _leave(1, f"recorder: bad line: {error!r}")

    def _user(self, message: Json) -> None:
        turn = Turn(message["message"]["content"], message.get("uuid") or "")
        with self._moved:
            if turn.uuid in self._seen and self._dedupe:
                self._echo(turn)
                return
            if turn.uuid:
                self._seen.add(turn.uuid)
            self._lifecycle(turn, "queued")
            self._waiting.append(turn)
            self._moved.notify_all()

    def _answered(self, message: Json) -> None:
        response = message["response"]
        request_id = response.get("request_id")
        with self._moved:
            if self._asked.get(request_id, message) is not None:
                self.book.note(stray=request_id)
                return
            answer = response.get("response") or {"behavior": "deny", "message": "no answer"}
            self.book.note(answer=request_id, behavior=answer.get("behavior"))
            if self._replay:
                self.write(message)
            self._asked[request_id] = answer
            if answer.get("interrupt") and self._turn:
                self._turn.stop = True
            self._moved.notify_all()

    def _control(self, request_id: str, request: Json) -> None:
        subtype = request.get("subtype")
        if subtype == "interrupt":
            return self._interrupt(request_id, drop=bool(request.get("cancel_queued")))
        body: Json = {"subtype": "success", "request_id": request_id, "response": {}}
        if subtype == "initialize":
            body["response"] = self._introduction()
        elif subtype == "set_model":
            self.model = request.get("model") or MODEL
            body["response"] = {"model": self.model}
        elif subtype == "set_permission_mode":
            self.mode = request["mode"]
            body["response"] = {"mode": self.mode}
        elif subtype == "mcp_status":
            body["response"] = {"mcpServers": []}
        elif subtype == "get_plan":  # as old versions do with what they do not know
            return None
        elif subtype not in ("set_max_thinking_tokens", "stop_task"):
            text = f"Unsupported control request subtype: {subtype}"
            body = {"subtype": "error", "request_id": request_id, "error": text}
            body["error_code"] = "unsupported_request"
        self.write({"type": "control_response", "response": body})
        if subtype == "set_permission_mode":
            self.system("status", status=None, permissionMode=self.mode)
        return None

    def _introduction(self) -> Json:
        model = {"value": "default", "displayName": "Recorder", "description": "Writes all down"}
        return {
            "commands": [],
            "agents": [],
            "output_style": "default",
            "available_output_styles": ["default"],
            "models": [model],
            "account": {"tokenSource": "none", "apiProvider": "recorder"},
            "pid": os.getpid(),
            "current_permission_mode": self.mode,
        }

    def _interrupt(self, request_id: str, *, drop: bool) -> None:
        with self._moved:
            if self._turn:
                self._turn.stop = True  # first: it may hold stdout in the middle of a line
            for prompt, answer in self._asked.items():
                if answer is None:
                    self.write({"type": "control_cancel_request", "request_id": prompt})
            receipt: Json = {"still_queued": [turn.uuid for turn in self._waiting if turn.uuid]}
            if drop:
                receipt = {"still_queued": [], "cancelled": receipt["still_queued"]}
                for turn in self._waiting:
                    self._lifecycle(turn, "cancelled")
                self._waiting.clear()
            body = {"subtype": "success", "request_id": request_id, "response": receipt}
            self.write({"type": "control_response", "response": body})
            self._moved.notify_all()

    # ---- stdout ------------------------------------------------------------------------------

    def write(self, message: Json) -> None:
        self.raw(json.dumps(message).encode() + b"\n")

    def raw(self, data: bytes) -> None:
        view = memoryview(data)
        with self._out:
            try:
                while view:
                    view = view[os.write(1, view) :]
            except OSError:  # nobody listens; the record goes on
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def say(self, kind: str, *, uuid: str = "", **more: object) -> None:
        self.write({"type": kind, **more, "session_id": self.session, "uuid": uuid or _uuid()})

    def system(self, subtype: str, **more: Any) -> None:
        self.say("system", subtype=subtype, **more)

    def user(self, content: object, **more: Any) -> None:
        self.say("user", message={"role": "user", "content": content}, **_TOP, **more)

    def event(self, kind: str, **more: object) -> None:
        if self._partial:
            self.say("stream_event", event={"type": kind, **more}, **_TOP)

    def _lifecycle(self, turn: Turn, state: str) -> None:
        if turn.uuid:
            self.say("command_lifecycle", command_uuid=turn.uuid, state=state)

    def _state(self, state: str) -> None:
        if self._states:
            self.system("session_state_changed", state=state)

    def _echo(self, turn: Turn) -> None:
        if self._replay and turn.echo and turn.content is not None:
            self.user(turn.content, uuid=turn.uuid, isReplay=True)

    def new_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}_{os.getpid()}_{self._ids:06}"

    # ---- one turn ----------------------------------------------------------------------------

    def _play(self, turn: Turn) -> None:
        if turn.content is not None:
            head = turn.text[:HEAD]
            self.book.note(executed=turn.uuid, session=self.session, text=head)
        self._state("running")
        self._lifecycle(turn, "started")
        about = {"cwd": os.getcwd(), "model": self.model, "permissionMode": self.mode}  # noqa: PTH109
        lists: Json = {"tools": ["Bash", "Write"], "mcp_servers": [], "slash_commands": []}
        self.system("init", **about, **lists, claude_code_version=VERSION, apiKeySource="none")
        if self._partial:
            self.system("status", status="requesting")
        self._echo(turn)
        try:
            for step in turn.steps:
                self.check(turn)
                _act(self, turn, step)
            self.check(turn)
        except Stopped:
            self._abort(turn)
        else:
            self._finish(turn)
        self._lifecycle(turn, "completed")
        self._state("idle")
        if turn.content is not None:
            self.book.note(finished=turn.uuid)  # nothing more comes of it
        for step in turn.after:
            self._unprompted(step)

    def _finish(self, turn: Turn) -> None:
        for _ in range(turn.results):
            bad = bool(turn.failed)
            self._result("success", turn, is_error=bad, result=turn.failed or turn.said)

    def _abort(self, turn: Turn) -> None:
        with self._moved:  # the receipt of the interrupt goes first
            self._asked.clear()
        note = "[Request interrupted by user]"
        if turn.call:
            self.tool_result(turn, "stopped by the user", is_error=True)
            note = "[Request interrupted by user for tool use]"
        self.user([{"type": "text", "text": note}])
        self._result("error_during_execution", turn, is_error=True, errors=["interrupted"])

    def _result(self, subtype: str, turn: Turn, **more: Any) -> None:
        with self._moved:
            self._turn = None
        usage = {"input_tokens": 1, "output_tokens": 1}
        cost: Json = {"total_cost_usd": 0.0, "usage": usage, "modelUsage": {}, "num_turns": 1}
        times: Json = {"duration_ms": 1, "duration_api_ms": 0, "result_index": self._results}
        reason = "completed" if subtype == "success" else "aborted_tools"
        end: Json = {"permission_denials": [], "terminal_reason": reason, "stop_reason": None}
        self.say("result", subtype=subtype, **cost, **times, **end, **more)
        self._results += 1

    def _unprompted(self, step: Json) -> None:
        with self._moved:
            self._later += 1

        def later() -> None:
            deadline = time.monotonic() + WAIT_S
            while not _exists(step.get("wait_file", "/")) and time.monotonic() < deadline:
                time.sleep(POLL_S)
            with self._moved:
                self._later -= 1
                self._waiting.append(Turn(None, text=step["unprompted"]))
                self._moved.notify_all()

        threading.Thread(target=later, daemon=True).start()

    # ---- what steps are made of --------------------------------------------------------------

    def check(self, turn: Turn) -> None:
        if turn.stop:
            raise Stopped

    def pause(self, turn: Turn, seconds: float, path: str = "") -> None:
        """Wait for a file or a time, whichever is asked for; an interrupt ends it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not (path and _exists(path)):
            self.check(turn)
            time.sleep(POLL_S)

    def message(
        self,
        block: Json,
        kind: str,
        key: str,
        parts: Sequence[str],
        hold: Callable[[], None] = lambda: None,
    ) -> str:
        """Stream one message of one block, but for its ``message_stop``; return its id.

        ``hold`` comes between the last delta and the whole block.
        """
        name = self.new_id("msg")
        empty = {**block, **{"text": "", "thinking": "", "input": {}}}
        start = {k: empty[k] for k in block}
        self.event("message_start", message=self._body(name, []))
        self.event("content_block_start", index=0, content_block=start)
        for part in parts:
            self.event("content_block_delta", index=0, delta={"type": kind, key: part})
        hold()
        self.assistant(name, block)
        self.event("content_block_stop", index=0)
        stop = "tool_use" if "input" in block else "end_turn"
        delta = {"stop_reason": stop, "stop_sequence": None}
        self.event("message_delta", delta=delta, usage={"output_tokens": len(parts)})
        return name

    def assistant(self, name: str, block: Json) -> None:
        self.say("assistant", message=self._body(name, [block]), **_TOP)

    def _body(self, name: str, content: list[Json]) -> Json:
        usage = {"input_tokens": 1, "output_tokens": 1}
        kind = {"id": name, "type": "message", "role": "assistant", "model": self.model}
        stop: Json = {"stop_reason": None, "stop_sequence": None}
        return {**kind, **stop, "content": content, "usage": usage}

    def tool_result(self, turn: Turn, text: str, *, is_error: bool) -> None:
        block = {"type": "tool_result", "tool_use_id": turn.call, "content": text}
        detail: object = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        detail = f"Error: {text}" if is_error else detail
        self.user([{**block, "is_error": is_error}], tool_use_result=detail)
        turn.call = ""

    def ask(
        self,
        turn: Turn,
        request_id: str,
        name: str,
        given: Json,
        *,
        times: int,
        suggestions: list[Json],
    ) -> None:
        with self._moved:
            self._asked[request_id] = None
        self._state("requires_action")
        about = {"tool_name": name, "display_name": name, "input": given, "description": name}
        request = {"subtype": "can_use_tool", **about, "permission_suggestions": suggestions}
        request["tool_use_id"] = turn.call
        for _ in range(times):
            self.write({"type": "control_request", "request_id": request_id, "request": request})

    def answer(self, turn: Turn, request_id: str) -> Json:
        with self._moved:
            while self._asked.get(request_id) is None:
                self.check(turn)
                if self._eof:
                    return {"behavior": "deny", "message": "stdin was closed"}
                self._moved.wait(1)
            answer = self._asked.pop(request_id)
        self._state("running")
        self.check(turn)
        return answer or {}

    def stop_reading(self, seconds: float, path: str) -> None:
        self._holding.clear()
        self._hold = (time.monotonic() + seconds, path)
        os.write(self._wake_out, b"!")
        self._holding.wait(WAIT_S)


# ---- the steps -----------------------------------------------------------------------------------


def _act(agent: Recorder, turn: Turn, step: Json) -> None:
    act = next((_STEPS[key] for key in step if key in _STEPS), None)
    if act is None:
        turn.failed = f"bad script: unknown step {json.dumps(step)[:HEAD]}"
        return  # a test's own mistake: it shows in the result
    act(agent, turn, step)


def _say(agent: Recorder, turn: Turn, step: Json) -> None:
    turn.said = text = step["say"]
    parts = _pieces(text, step.get("deltas", 3))

    def hold() -> None:
        if "hold" in step:
            agent.pause(turn, step.get("seconds", WAIT_S), step["hold"])

    agent.message({"type": "text", "text": text}, "text_delta", "text", parts, hold)
    agent.event("message_stop")


def _think(agent: Recorder, turn: Turn, step: Json) -> None:
    block = {"type": "thinking", "thinking": step["think"], "signature": "cg=="}
    agent.message(block, "thinking_delta", "thinking", _pieces(step["think"], 3))
    agent.event("message_stop")


def _tool(agent: Recorder, turn: Turn, step: Json) -> None:
    again = step.get("reuse_prompt")
    request_id = _uuid()
    _call(agent, turn, step, request_id, times=2 if again is True else 1)
    if again == "after":
        other = {"command": "something else", **step.get("again", {})}
        _call(agent, turn, {**step, "input": other}, request_id, times=1)


def _call(agent: Recorder, turn: Turn, step: Json, request_id: str, *, times: int) -> None:
    name, given = step.get("tool", "Bash"), step.get("input", {"command": "true"})
    call = turn.call = agent.new_id("toolu")
    block = {"type": "tool_use", "id": call, "name": name, "input": given}
    agent.message(block, "input_json_delta", "partial_json", _pieces(json.dumps(given), 3))
    asks = step.get("ask") or "tool" not in step
    if asks:
        suggestions = step.get("suggestions", [])
        agent.ask(turn, request_id, name, given, times=times, suggestions=suggestions)
    agent.event("message_stop")
    answer = agent.answer(turn, request_id) if asks else {"behavior": "allow"}
    if answer.get("behavior") != "allow":
        agent.tool_result(turn, str(answer.get("message", "denied")), is_error=True)
        return
    agent.book.note(ran=call, name=name, input=answer.get("updatedInput") or given)
    agent.tool_result(turn, step.get("result", "done"), is_error=bool(step.get("fails")))


def _wait_file(agent: Recorder, turn: Turn, step: Json) -> None:
    agent.pause(turn, step.get("seconds", WAIT_S), step["wait_file"])


def _stall(agent: Recorder, turn: Turn, step: Json) -> None:
    agent.pause(turn, step["stall"])


def _flood(agent: Recorder, turn: Turn, step: Json) -> None:
    """Deltas as fast as the pipe takes them; each begins with its number, to show gaps."""
    size = step.get("line", 100)
    name = agent.new_id("msg")
    agent.event("message_start", message={"id": name, "role": "assistant", "content": []})
    agent.event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    tail = f'"}}}},"session_id":"{agent.session}","parent_tool_use_id":null,"uuid":"{name}-'
    head = '{"type":"stream_event","event":{"type":"content_block_delta","index":0,'
    head += '"delta":{"type":"text_delta","text":"'
    texts, pack, packed = [], [], 0
    for n in range(max(1, step["flood"] // size)):
        text = f"{n:08}".ljust(size, "x")
        texts.append(text)
        pack.append(f'{head}{text}{tail}{n}"}}\n')
        packed += len(pack[-1])
        if packed > CHUNK_BYTES:
            agent.raw("".join(pack).encode())
            agent.check(turn)
            pack, packed = [], 0
    agent.raw("".join(pack).encode())
    if step.get("whole", True):
        agent.assistant(name, {"type": "text", "text": "".join(texts)})
    agent.event("content_block_stop", index=0)
    agent.event("message_stop")
    turn.said = f"flooded {len(texts)}"


def _big_line(agent: Recorder, turn: Turn, step: Json) -> None:
    agent.assistant(agent.new_id("msg"), {"type": "text", "text": "b" * step["big_line"]})
    turn.said = f"{step['big_line']} bytes in one line"


def _junk(agent: Recorder, turn: Turn, step: Json) -> None:
    agent.raw(step["junk"].encode() if "junk" in step else bytes.fromhex(step["junk_hex"]))


def _torn(agent: Recorder, turn: Turn, step: Json) -> None:
    text = step["torn"]
    if not text.startswith("{"):
        body = {"id": agent.new_id("msg"), "role": "assistant", "model": agent.model}
        message = {**body, "type": "message", "content": [{"type": "text", "text": text}]}
        about = {"session_id": agent.session, "uuid": _uuid(), **_TOP}
        text = json.dumps({"type": "assistant", "message": message, **about})
    data = text.encode() + b"\n"
    with agent._out:  # nobody may write into the middle of it
        agent.raw(data[: len(data) // 2])
        if "die" in step:
            os._exit(step["die"])
        try:
            _wait_file(agent, turn, {"wait_file": "/", **step})
        finally:
            agent.raw(data[len(data) // 2 :])


def _die(agent: Recorder, turn: Turn, step: Json) -> None:
    os._exit(step["die"])


def _kill_self(agent: Recorder, turn: Turn, step: Json) -> None:
    os.kill(os.getpid(), step["kill_self"])


def _ignore_term(agent: Recorder, turn: Turn, step: Json) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _fork_away(agent: Recorder, turn: Turn, step: Json) -> None:
    child = os.fork()
    if child == 0:
        os.setsid()
        pid = _sleeper(step.get("seconds", FORKED_S), step["fork_away"], closed=(0, 1, 2))
        agent.book.note(forked=pid, marker=step["fork_away"])
        os._exit(0)
    os.waitpid(child, 0)


def _hold_stdout(agent: Recorder, turn: Turn, step: Json) -> None:
    agent.book.note(holds=_sleeper(step["hold_stdout"], "hold_stdout", closed=(0, 2)))


def _sleeper(seconds: float, marker: str, *, closed: Sequence[int]) -> int:
    code = f"import time; time.sleep({seconds:g})"
    argv = [sys.executable, "-I", "-S", "-c", code, marker]
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in closed]
    return os.posix_spawn(sys.executable, argv, os.environ, file_actions=null)


def _stop_reading(agent: Recorder, turn: Turn, step: Json) -> None:
    until = step["stop_reading"]
    path = until if isinstance(until, str) else ""
    agent.stop_reading(WAIT_S if path else until, path)


def _stderr(agent: Recorder, turn: Turn, step: Json) -> None:
    data = step["stderr"].encode() if "stderr" in step else b"e" * step["stderr_flood"] + b"\n"
    view = memoryview(data)
    while view:
        view = view[os.write(2, view) :]


def _two_results(agent: Recorder, turn: Turn, step: Json) -> None:
    turn.results = 2


def _unprompted(agent: Recorder, turn: Turn, step: Json) -> None:
    turn.after.append(step)


def _nothing(agent: Recorder, turn: Turn, step: Json) -> None:
    """``echo`` was looked at when the turn began."""


_STEPS: dict[str, Callable[[Recorder, Turn, Json], None]] = {
    "say": _say,
    "think": _think,
    "tool": _tool,
    "reuse_prompt": _tool,
    "torn": _torn,
    "unprompted": _unprompted,
    "wait_file": _wait_file,
    "stall": _stall,
    "flood": _flood,
    "big_line": _big_line,
    "junk": _junk,
    "junk_hex": _junk,
    "die": _die,
    "kill_self": _kill_self,
    "ignore_term": _ignore_term,
    "fork_away": _fork_away,
    "hold_stdout": _hold_stdout,
    "stop_reading": _stop_reading,
    "stderr": _stderr,
    "stderr_flood": _stderr,
    "two_results": _two_results,
    "echo": _nothing,
}
_TOP: Json = {"parent_tool_use_id": None}


# ---- small things --------------------------------------------------------------------------------


def _flags(argv: Sequence[str]) -> dict[str, str]:
    """Whatever follows a flag is its value, so that flags we never heard of do no harm."""
    flags: dict[str, str] = {}
    name = ""
    for word in argv:
        if word.startswith("-"):
            name, _, value = word.partition("=")
            flags[name] = value
        elif name and not flags[name]:
            flags[name] = word
    return flags


def _steps(text: str) -> list[Json]:
    for line in text.splitlines():
        if line.startswith("@@ "):
            try:
                steps = json.loads(line[3:])
            except ValueError as error:
                return [{"bad": str(error)}]
            return steps if isinstance(steps, list) else [steps]
    return [{"say": f"ok: {text}"}]


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content)
    return str(content)


def _pieces(text: str, count: int) -> list[str]:
    """``text`` in ``count`` pieces; in fewer if it is too short for that."""
    size = max(1, -(-len(text) // max(1, count)))
    return [text[at : at + size] for at in range(0, len(text), size)]


def _uuid() -> str:
    raw = os.urandom(16).hex()
    return f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-a{raw[17:20]}-{raw[20:]}"


def _exists(path: str) -> bool:
    return os.access(path, os.F_OK)


def _leave(status: int, why: str) -> NoReturn:
    os.write(2, f"{why}\n".encode())
    os._exit(status)


def main() -> int:
    if "--version" in sys.argv:
        os.write(1, f"{VERSION} (Flybridge recorder agent)\n".encode())
        return 0
    return Recorder(sys.argv[1:], os.environ).run()


if __name__ == "__main__":
    sys.exit(main())
