"""An agent that is not Claude: the courier, with a line protocol of its own.

For tests of everything that must not depend on Claude. A message without a script is answered with
``delivered: <text>``; with :func:`script` it plays steps:

- ``{"text": "two words"}`` streams and closes a text
- ``{"tool": "shell", "input": {…}, "ask": true, "offers": [{…}], "result": "…"}`` calls a tool;
  with ``ask`` after a permission prompt whose offers are given: ``{"id": "x", "label": "…",
  "keep": "once|session|forever", "command": "…", "mode": "…",
  "decision": "allow|deny"}``
- ``{"ask_question": [{"question": "…", "options": [{"label": "…"}]}]}`` asks a question
- ``{"raw": {…}}`` writes any line · ``{"wait_file": path}`` · ``{"die": status}``

Its own options are ``vehicle`` and ``open_parcels``. It names its conversations itself
and tells the id in its first line; it resumes with ``--resume ID`` and forks with ``--resume ID
--fork``. :mod:`tests.harness.other_agent_program` is the program.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Raw

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.capabilities import Capabilities, Launch, LinkEnd, Mode, OpenSpec
from flybridge.model.content import Text
from flybridge.model.deliveries import Answer, Preview
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId, SessionId
from flybridge.model.offers import Offer, OfferRule
from flybridge.model.options import AgentOptions, Option, OptionSchema
from flybridge.model.queries import RAW
from flybridge.model.questions import PromptQuestion, QuestionOption
from flybridge.model.tools import ToolKind, ToolSubject
from flybridge.model.trust import TrustFile, TrustFiles
from flybridge.session.ports import Line, Out, Output

KIND = "courier"
PROGRAM = (sys.executable, "-I", str(Path(__file__).with_name("other_agent_program.py")))
# Its default mode is "ask". "free" never asks; "bypassPermissions" is its name for looking only.
MODES = (
    Mode("bypassPermissions", -1, name="Bypass the city", description="It only looks"),
    Mode("ask", 0, name="Ask at the door"),
    Mode("free", 3),
)
KINDS: dict[str, ToolKind] = {  # of its tools; others are "other"
    "shell": "execute",
    "patch": "edit",
    "peek": "read",
    "hunt": "search",
    "get": "fetch",
    "route": "plan",
    "helper": "agent",
    "list": "task",
}
TRUST_FILES = TrustFiles(
    settings=(
        TrustFile(path=".courier/config.toml", above="repository", own_in_home=True),
        TrustFile(path="courier.json", nested=True),
    ),
    instructions=(TrustFile(path="COURIER.md", above="repository"),),
)
WITHOUT_FOLDER = "--without-folder"


OPTIONS = OptionSchema(
    (
        Option(
            name="vehicle",
            type="choice",
            label="Vehicle",
            description="How the courier travels.",
            choices=("bicycle", "van"),
            grants=False,
        ),
        Option(
            name="open_parcels",
            type="flag",
            label="Open parcels",
            description="Look into parcels without asking.",
        ),
        Option(
            name="ignore_folder",
            type="flag",
            label="Ignore the folder's settings",
            grants=False,
        ),
    )
)


def script(*steps: dict[str, Any], text: str = "go") -> str:
    """Return a message that tells the courier what to do."""
    return f"{text} @@ {json.dumps(list(steps))}"


def described(tool: str, given: object) -> tuple[ToolKind, ToolSubject]:
    """Return the kind and the subject of a call from the courier's own names of fields."""
    told = given if isinstance(given, dict) else {}
    subject = ToolSubject(
        title=str(told.get("about", "")),
        command=str(told.get("command", "")),
        paths=tuple(told.get("files", ())),
        diff=str(told.get("change", "")),
        url=str(told.get("address", "")),
    )
    return KINDS.get(tool, "other"), subject


def _question(asked: dict[str, Any]) -> PromptQuestion:
    options = tuple(QuestionOption(label=one["label"]) for one in asked.get("options", ()))
    return PromptQuestion(text=asked["question"], id=asked.get("id", ""), options=options)


class CourierAgent:
    """Implement the ``Agent`` port for the courier.

    ``can_restrict``: it can be started without the settings of its folder.
    """

    trust_files = TRUST_FILES
    options = OPTIONS

    def __init__(
        self,
        *,
        name: str = KIND,
        program: Sequence[str] = PROGRAM,
        can_restrict: bool = True,
    ) -> None:
        self.name = name
        self.kind = KIND
        self._program = tuple(program)
        self._can_restrict = can_restrict

    def version_argv(self) -> Sequence[str]:
        return (*self._program, "--version")

    def capabilities(self, version_output: bytes) -> Capabilities:
        return Capabilities(
            agent=self.name,
            version=version_output.decode("utf-8", "replace").strip().removeprefix("courier "),
            echoes_input=True,
            resumes=True,
            steers=False,
            commands=frozenset({"interrupt", "set_model", "set_mode"}),
            queries=frozenset({"status"}),
            modes=frozenset(mode.id for mode in MODES),
            known_modes=MODES,
        )

    def launch(self, spec: OpenSpec, capabilities: Capabilities) -> Launch:
        argv = [*self._program]
        for flag, value in (("--model", spec.model), ("--mode", spec.mode)):
            argv += [flag, value] if value else []
        argv += [f"--vehicle={v}"] if (v := spec.agent_options.get("vehicle")) else []
        argv += ["--open-parcels"] if spec.agent_options.get("open_parcels") else []
        argv += ["--resume", spec.agent_session] if spec.resume else []
        argv += ["--fork"] if spec.fork else []
        argv += [WITHOUT_FOLDER] if spec.agent_options.get("ignore_folder") else []
        return Launch(argv=tuple(argv), cwd=spec.cwd)

    def driver(self, capabilities: Capabilities) -> CourierDriver:
        return CourierDriver()

    def restricted(self, agent_options: AgentOptions) -> AgentOptions | None:
        if not self._can_restrict:
            return None
        return {**agent_options, "ignore_folder": True}


class Memo(msgspec.Struct):
    """Hold what a driver needs after a restart."""

    texts: dict[ItemId, int] = {}  # open texts and how many pieces of each were shown
    calls: list[ItemId] = []
    prompts: dict[PromptId, Literal["permission", "question"]] = {}


class CourierDriver:
    """Implement the ``Driver`` port for the courier's lines."""

    deadline_ms: int | None = None

    def __init__(self) -> None:
        self._session = SessionId("")
        self._memo = Memo()
        self._out: list[tuple[SessionId, Out]] = []
        self._lines: list[Line] = []
        self._queries: dict[str, str] = {}  # ref → name

    def attach(
        self, session: SessionId, incarnation: IncarnationId, spec: OpenSpec, memo: bytes
    ) -> None:
        self._session = session
        self._memo = msgspec.json.decode(memo, type=Memo) if memo else Memo()

    def memo(self, session: SessionId) -> bytes:
        return msgspec.json.encode(self._memo)

    def take(self) -> Output:
        output = Output(self._out, self._lines, {})
        self._out, self._lines = [], []
        return output

    def tick(self, now_ms: int) -> None:
        """Do nothing: the courier's driver has no timers."""

    def connected(self, now_ms: int) -> None:
        """Do nothing: the courier speaks first."""

    def query(self, session: SessionId, ref: str, name: str, params: Raw, now_ms: int) -> None:
        if not name.startswith(RAW) and name != "models":
            self._put(Answer(ref, error="not_supported"))
            return
        self._queries[ref] = name
        self._write({"query": ref, "name": name.removeprefix(RAW), "params": params})

    def lost(self, end: LinkEnd, now_ms: int) -> None:
        for item in self._memo.texts:
            self._put(f.ItemClosed(item=item, status="partial"))
        for item in self._memo.calls:
            self._put(f.ToolReturned(item=item, status="partial"))
        for prompt in self._memo.prompts:
            self._put(f.PromptWithdrawn(prompt=prompt))
        for ref in self._queries:
            self._put(Answer(ref, error="agent_exited"))
        self._memo = Memo()
        self._queries.clear()

    # ---- commands ----------------------------------------------------------------------------

    def send(self, session: SessionId, command: c.Command, key: InputKey, now_ms: int) -> None:
        match command:
            case c.SendInput(content=content):
                text = "\n".join(part.text for part in content if isinstance(part, Text))
                self._write({"say": text, "key": key}, key, "drop")
            case c.AnswerPermission(prompt=prompt) if prompt in self._memo.prompts:
                del self._memo.prompts[prompt]
                self._write(self._decision(command, key), key)
            case c.AnswerQuestion(prompt=prompt) if prompt in self._memo.prompts:
                del self._memo.prompts[prompt]
                self._write({"answer": prompt, "answers": command.answers, "key": key}, key)
            case c.Interrupt():
                self._write({"stop": True, "key": key}, key, "drop")
            case c.SetModel(model=value) | c.SetMode(mode=value):
                setting = "model" if isinstance(command, c.SetModel) else "mode"
                self._write({"set": setting, "value": value, "key": key}, key)
            case _:
                self._put(f.InputRejected(key=key, reason="the courier cannot do that"))

    def _decision(self, answer: c.AnswerPermission, key: InputKey) -> dict[str, object]:
        decision: dict[str, object] = {
            "decide": answer.prompt,
            "allow": answer.decision == "allow",
            "remember": answer.remember,
            "key": key,
        }
        if isinstance(answer.updated_input, Raw):
            decision["input"] = answer.updated_input
        return decision

    # ---- the courier's lines -----------------------------------------------------------------

    def receive(self, messages: Sequence[bytes], now_ms: int) -> None:
        for line in messages:
            try:
                message = msgspec.json.decode(line)
                self._hear(message if isinstance(message, dict) else {}, line)
            except (msgspec.MsgspecError, KeyError, TypeError, ValueError, RecursionError):
                self._unrecognised(line)

    def _hear(self, message: dict[str, Any], line: bytes) -> None:  # noqa: C901 (one line per kind)
        match message:
            case {"hello": str(conversation)}:
                self._put(
                    e.AgentReady(
                        agent_session=conversation,
                        model=str(message.get("model", "")),
                        mode=str(message.get("mode", "")),
                        version=str(message.get("version", "")),
                    )
                )
                self._put(f.AcceptsInput())
            case {"got": str(key)}:
                self._put(f.InputEchoed(key=InputKey(key)))
            case {"done": str(key)}:
                self._put(f.InputConfirmed(key=InputKey(key)))
            case {"turn": "begin"}:
                self._put(f.TurnBegan())
            case {"turn": "end", "reason": ("done" | "interrupted") as reason}:
                self._put(f.TurnOver(reason=reason))
            case {"text": str(name), "add": str(piece)}:
                self._preview(ItemId(name), piece)
            case {"text": str(name), "all": str(text)} if name in self._memo.texts:
                del self._memo.texts[ItemId(name)]
                self._put(f.ItemClosed(item=ItemId(name), text=text))
            case {"call": str(name), "result": str(text), "status": ("ok" | "denied") as status}:
                if name in self._memo.calls:
                    self._memo.calls.remove(ItemId(name))
                    self._put(f.ToolReturned(item=ItemId(name), status=status, text=text))
            case {"ask": str(prompt), "tool": str(tool)} if prompt not in self._memo.prompts:
                self._memo.prompts[PromptId(prompt)] = "permission"
                self._put(self._asked(PromptId(prompt), tool, message))
            case {"call": str(name), "tool": str(tool)} if name not in self._memo.calls:
                self._memo.calls.append(ItemId(name))
                self._put(f.ItemOpened(item=ItemId(name), kind="tool", name=tool))
                given = Raw(msgspec.json.encode(message.get("input")))
                kind, subject = described(tool, message.get("input"))
                self._put(
                    f.ToolCalled(
                        item=ItemId(name), name=tool, input=given, kind=kind, subject=subject
                    )
                )
            case {"question": str(prompt), "questions": list(questions)}:
                self._memo.prompts[PromptId(prompt)] = "question"
                raw = Raw(msgspec.json.encode(questions))
                asked = tuple(_question(question) for question in questions)
                self._put(f.QuestionAsked(prompt=PromptId(prompt), questions=raw, asked=asked))
            case {"withdrawn": str(prompt)} if prompt in self._memo.prompts:
                del self._memo.prompts[PromptId(prompt)]
                self._put(f.PromptWithdrawn(prompt=PromptId(prompt)))
            case {"setting": "mode", "value": str(mode)}:
                self._put(e.ModeChanged(mode=mode))
            case {"setting": "model", "value": str(model)}:
                self._put(e.ModelChanged(model=model))
            case {"answer": str(ref), "value": value} if ref in self._queries:
                name = self._queries.pop(ref)
                result = value if name.startswith(RAW) else {"models": [{"id": value["model"]}]}
                self._put(Answer(ref, value=Raw(msgspec.json.encode(result))))
            case _:
                self._unrecognised(line)

    def _asked(self, prompt: PromptId, tool: str, message: dict[str, Any]) -> f.PermissionAsked:
        """Return the fact of a permission prompt; ``offers`` are the courier's own objects.

        With ``describe`` false it is the prompt of a driver that describes no offers.
        """
        call = ItemId(str(message.get("call", "")))
        offers = message.get("offers") or []
        kind, subject = described(tool, message.get("input"))
        return f.PermissionAsked(
            prompt=prompt,
            tool=tool,
            input=Raw(msgspec.json.encode(message.get("input"))),
            item=call if call in self._memo.calls else ItemId(""),
            suggestions=tuple(Raw(msgspec.json.encode(offer)) for offer in offers),
            offers=tuple(map(_offer, offers)) if message.get("describe", True) else (),
            kind=kind,
            subject=subject,
        )

    def _preview(self, item: ItemId, piece: str) -> None:
        if item not in self._memo.texts:
            self._memo.texts[item] = 0
            self._put(f.ItemOpened(item=item, kind="text"))
        since = self._memo.texts[item]
        self._memo.texts[item] = since + 1
        self._put(Preview(item, since, since + 1, piece))

    def _unrecognised(self, line: bytes) -> None:
        self._put(e.Unrecognised(source=KIND, text=line.decode("utf-8", "replace")[:4096]))

    def _put(self, out: Out) -> None:
        self._out.append((self._session, out))

    def _write(
        self,
        message: dict[str, object],
        key: InputKey | None = None,
        on_restart: Literal["send", "drop"] = "send",
    ) -> None:
        self._lines.append(Line(data=msgspec.json.encode(message), key=key, on_restart=on_restart))


def _offer(own: dict[str, Any]) -> Offer:
    """Translate an offer of the courier's; without ``keep`` its effect is unknown."""
    keep, mode = own.get("keep"), str(own.get("mode", ""))
    rules = (OfferRule("shell", own["command"]),) if "command" in own else ()
    if keep not in ("once", "session", "forever"):
        return Offer(id=str(own.get("id", "")))
    return Offer(
        id=str(own.get("id", "")),
        label=str(own.get("label", "")),
        scope="user" if keep == "forever" else keep,
        durable=keep == "forever",
        widens=bool(mode),
        mode=mode,
        allows=own.get("decision") != "deny",
        decision="deny" if own.get("decision") == "deny" else "allow",
        rules=rules,
    )
