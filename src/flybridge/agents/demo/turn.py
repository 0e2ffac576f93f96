"""One turn: messages streamed block by block, tools asked for and used, an end said once.

A turn stops only by cancellation of the task that plays it; ``abort`` then says, in the
order the CLI does, what was cut short. Nothing in between swallows the cancellation.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from time import monotonic

import msgspec

from flybridge.agents.demo.background import Jobs
from flybridge.agents.demo.blocks import Block, Call, Hidden, Outcome, Say, Think, failed, numbers
from flybridge.agents.demo.permissions import Permissions, Prompt, Standing, allowed_input
from flybridge.agents.demo.stream import Helper, Json, Session, Speaker, Usage
from flybridge.agents.demo.tools import Hands, Progress, seconds_at

SIGNED = "ZGVtbw=="
PIECE_CHARS = 2000
ACCEPTED: Json = {"permission_decision": {"decision": "accept", "source": "user_temporary"}}
WAVED: Json = {"permission_decision": {"decision": "accept", "source": "config"}}
REJECTED: Json = {
    "non_execution_kind": "permission-rule",
    "permission_decision": {"decision": "reject", "source": "user_reject"},
}


STOPPED: Json = {"non_execution_kind": "user-rejected"}  # it ran, but not to its end


class Message(msgspec.Struct, frozen=True):
    """What the user sent; or, with an ``origin``, what woke the agent by itself."""

    content: str | list[Json]
    uuid: str  # "" if the host gave none
    origin: Json | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(block["text"]) for block in self.content if "text" in block)

    @property
    def pictures(self) -> list[Json]:
        if isinstance(self.content, str):
            return []
        return [block for block in self.content if block.get("type") == "image"]


class Turn:
    """What a scene is played on."""

    def __init__(self, speaker: Speaker, message: Message, jobs: Jobs, *, pace_s: float) -> None:
        self.message = message
        self.speaker = speaker
        self.jobs = jobs
        self.permissions = Permissions(speaker.session, speaker.options)
        self._session = speaker.session
        self._pace_s = pace_s
        self._hands = Hands(self._session.cwd, pace_s)
        self._usage = Usage(len(message.text.split()), cached=self._session.context)
        self._started = monotonic()
        self._messages = 0
        self._message_id = ""  # of the message being streamed
        self._open: tuple[int, str] | None = None  # the block being streamed: index, kind
        self._text = ""
        self._calls: dict[str, Call] = {}  # announced, without a result
        self._ending: Json = {}  # what is said at the end in another way than usual

    @property
    def session(self) -> Session:
        return self._session

    @property
    def resumed(self) -> bool:
        """Whether this is the first answer of a process that continues a session."""
        return self.speaker.options.resumed and self._session.results == 0

    def seconds(self, seconds: float) -> float:
        """How long the demo's own seconds take."""
        return seconds_at(self._pace_s, seconds)

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(self.seconds(seconds))

    def context_changed(self) -> None:
        """What was in the context before is another number now."""
        self._usage.cached = self._session.context

    # ---- the beginning and the two ends --------------------------------------------------------

    def open(self) -> None:
        self.speaker.state("running")
        self.speaker.lifecycle(self.message.uuid, "started")

    def begin(self) -> None:
        """The model is going to be asked."""
        self.speaker.init()
        self.speaker.requesting()
        if self.message.origin is None:
            self.speaker.replay(self.message.content, self.message.uuid)

    def finish(self) -> None:
        end = {"num_turns": self._messages, "result": self._text, "stop_reason": "end_turn"}
        if self.message.origin is not None:
            end["origin"] = self.message.origin
        self._result(**{**end, **self._ending})

    def abort(self) -> None:
        """Say how far it came: the partial text, the calls without a result, the interrupt."""
        self._ending = {}
        spoken = 1
        asked = {one.call.id for one in self.permissions.prompts.values()}
        for request_id in list(self.permissions.prompts):
            self.permissions.refused(request_id)
        if self._open and self._open[1] == "text" and self._text:
            self._say_block({"type": "text", "text": self._text})
        for call in sorted(self._calls.values(), key=lambda one: one.by is None):
            text = "The user stopped the turn; this call did not finish."
            cut = Outcome(text=text, failed=True, detail="User rejected tool use")
            self._close_call(call, cut, REJECTED if call.id in asked else STOPPED)
            spoken += 1
        for_tool = " for tool use" if spoken > 1 else ""
        note = f"[Request interrupted by user{for_tool}]"
        self.speaker.user([{"type": "text", "text": note}])
        if self._message_id:
            if self._open:
                self._event({"type": "content_block_stop", "index": self._open[0]})
            self._stop_message(None, [])
        reason = "tool_use" if for_tool else None
        self._result(
            subtype="error_during_execution",
            is_error=True,
            errors=[f"[ede_diagnostic] result_type=user stop_reason={reason}"],
            terminal_reason="aborted_tools" if for_tool else "aborted_streaming",
            num_turns=max(self._messages, 1) + spoken,
            stop_reason=reason,
        )

    def _result(self, **more: object) -> None:
        end = {"subtype": "success", "is_error": False, "terminal_reason": "completed", **more}
        if "local_command" in more:
            del end["terminal_reason"]
        end["permission_denials"] = self.permissions.denials
        end["duration_ms"] = int((monotonic() - self._started) * 1000)
        self.speaker.result(self._usage, **end)
        self.speaker.lifecycle(self.message.uuid, "completed")
        self.speaker.state("idle")

    def fail(self, status: int, kind: str, error: str, text: str) -> None:
        """End as the CLI does when the API refuses: said as an assistant, reported as an error."""
        about: Json = {"api_error_status": status, "api_error_type": kind}
        failure: Json = {"is_error": True, "terminal_reason": "api_error", **about}
        self._ending = {**failure, "num_turns": 1, "result": text, "stop_reason": "stop_sequence"}
        self.speaker.synthetic(text, error=error, is_api_error_message=True, **about)

    def local(self, command: str, text: str, **more: object) -> None:
        """End as the CLI does after a command of its own, which no model heard of."""
        if text:
            source = f"<local-command-stdout>{text}</local-command-stdout>"
            run = {"command": command, "args": ""}
            self.speaker.synthetic(text, local_command_source=source, local_command_run=run, **more)
        self._usage = Usage(cached=self._session.context)
        end: Json = {"num_turns": 0, "stop_reason": None, "result": text}
        self._ending = {**end, "local_command": command}

    # ---- one message ---------------------------------------------------------------------------

    async def respond(self, *blocks: Block) -> Sequence[Outcome]:
        """Stream one message, then carry out its calls. Their outcomes come in call order."""
        self._start_message()
        for index, block in enumerate(blocks):
            await self._stream(index, block)
        calls = [block for block in blocks if isinstance(block, Call)]
        asked = [self.permissions.ask(call) for call in calls]  # before the message stops
        self._stop_message("tool_use" if calls else "end_turn", asked)
        return await self._settle_all(calls, asked)

    async def assist(self, helper: Helper, *blocks: Block) -> Sequence[Outcome]:
        """What a subagent says and does: whole blocks only, nothing of it is streamed."""
        message_id = f"msg_demo_{next(numbers):06}"
        for block in blocks:
            await self.pause(0.4)
            if isinstance(block, Call):
                self._calls[block.id] = block
            self.speaker.assistant(message_id, _wire(block), self._usage, helper)
        calls = [block for block in blocks if isinstance(block, Call)]
        asked = [self.permissions.ask(call) for call in calls]
        self._say_prompts(asked)
        return await self._settle_all(calls, asked)

    async def break_off(self, text: str) -> None:
        """Stream the beginning of a message and leave it there."""
        self._start_message()
        await self._deltas(0, {"type": "text", "text": ""}, "text_delta", "text", _words(text))

    def _start_message(self) -> None:
        if self._messages:
            self.speaker.requesting()
        self._messages += 1
        self._message_id = f"msg_demo_{next(numbers):06}"
        self._text = ""
        self.speaker.message_start(self._message_id, self._usage)

    async def _stream(self, index: int, block: Block) -> None:
        match block:
            case Think(text=text):
                empty: Json = {"type": "thinking", "thinking": "", "signature": ""}
                await self._deltas(index, empty, "thinking_delta", "thinking", _words(text))
            case Hidden():
                await self._deltas(index, _wire(block), "", "", [])
            case Say(text=text, rush=rush):
                empty = {"type": "text", "text": ""}
                pieces = list(text) if rush else _words(text)
                await self._deltas(index, empty, "text_delta", "text", pieces, rush=rush)
            case Call():
                empty = {**_wire(block), "input": {}}
                pieces = _pieces(json.dumps(block.input))
                await self._deltas(index, empty, "input_json_delta", "partial_json", pieces)
                self._calls[block.id] = block
        self._say_block(_wire(block))
        self._event({"type": "content_block_stop", "index": index})
        self._open = None

    async def _deltas(
        self,
        index: int,
        block: Json,
        kind: str,
        key: str,
        pieces: Sequence[str],
        *,
        rush: bool = False,
    ) -> None:
        self._open = (index, str(block["type"]))
        self._text = ""
        start = {"type": "content_block_start", "index": index, "content_block": block}
        self._event(start)
        for piece in pieces:
            await asyncio.sleep(0 if rush else self._pace_s)
            delta = {"type": kind, key: piece}
            self._event({"type": "content_block_delta", "index": index, "delta": delta})
            self._text += piece
            self._usage.output_tokens += 1

    def _say_block(self, block: Json) -> None:
        self.speaker.assistant(self._message_id, block, self._usage)

    def _stop_message(self, reason: str | None, asked: Sequence[Prompt | Standing]) -> None:
        delta = {"stop_reason": reason, "stop_sequence": None}
        usage = {"output_tokens": self._usage.output_tokens}
        self._event({"type": "message_delta", "delta": delta, "usage": usage})
        self._say_prompts(asked)
        self._event({"type": "message_stop"})
        self._message_id = ""

    def _event(self, event: Json) -> None:
        self.speaker.event(self._message_id, event)

    # ---- permissions and tools -----------------------------------------------------------------

    def _say_prompts(self, asked: Sequence[Prompt | Standing]) -> None:
        for prompt in asked:
            if isinstance(prompt, Prompt):
                self.speaker.state("requires_action")
                self.speaker.write(prompt.wire())

    async def _settle_all(
        self, calls: Sequence[Call], asked: Sequence[Prompt | Standing]
    ) -> Sequence[Outcome]:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._settle(*pair)) for pair in zip(calls, asked, strict=True)
            ]
        return [task.result() for task in tasks]

    async def _settle(self, call: Call, asked: Prompt | Standing) -> Outcome:
        meta = WAVED
        if isinstance(asked, Prompt):
            answer = await asked.answer
            self.speaker.state("running")
            meta = ACCEPTED
        elif asked == "allow":
            answer = {"behavior": "allow"}
        else:
            answer = {"behavior": "deny", "message": "Permission was not given, and nobody asked."}
        given = allowed_input(answer, call.input)
        if given is None:
            self.permissions.deny(call)
            text = str(answer.get("message") or "The answer could not be understood: denied.")
            outcome, meta = failed(text), REJECTED
        else:
            if self.permissions.remember(answer.get("updatedPermissions")):
                self.speaker.mode_changed()
            outcome = await self._work(call, given)
        self._close_call(call, outcome, meta)
        return outcome

    async def _work(self, call: Call, given: Json) -> Outcome:
        if call.work is not None:
            return await call.work(given)
        return await self._hands.use(call.name, given, self._progress(call))

    def _close_call(self, call: Call, outcome: Outcome, meta: Json) -> None:
        del self._calls[call.id]
        block: Json = {"tool_use_id": call.id, "content": outcome.content or outcome.text}
        if outcome.failed or call.name == "Bash":  # of other tools the CLI says it only if so
            block["is_error"] = outcome.failed
        self.speaker.tool_result(block, outcome.detail, meta, call.by)

    def _progress(self, call: Call) -> Progress:
        return lambda count, seconds: self.speaker.tool_progress(call.id, call.name, count, seconds)


def _pieces(text: str) -> list[str]:
    """Words; of a long text larger parts, or it would take all day."""
    if len(text) <= PIECE_CHARS * 10:
        return _words(text)
    return [text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS)]


def _words(text: str) -> list[str]:
    return re.findall(r"\s*\S+|\s+\Z", text)


def _wire(block: Block) -> Json:
    """A block as it is when it is complete."""
    match block:
        case Think(text=text):
            return {"type": "thinking", "thinking": text, "signature": SIGNED}
        case Hidden():
            return {"type": "redacted_thinking", "data": SIGNED}
        case Say(text=text):
            return {"type": "text", "text": text}
        case Call():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
