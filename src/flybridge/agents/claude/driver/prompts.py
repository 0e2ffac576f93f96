"""What the agent asks people: which prompts are open, and how an answer is written."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.convert.offers import offers_of
from flybridge.agents.claude.driver.convert.shapes import questions_of
from flybridge.agents.claude.driver.convert.tools import describe_fields
from flybridge.agents.claude.driver.convert.words import (
    TEXT_CHARS,
    answered_input,
    updated_permissions,
)
from flybridge.agents.claude.driver.memo import (
    MAX_PROMPTS,
    MAX_REQUESTS,
    Given,
    Memo,
    OpenPrompt,
    bound,
)
from flybridge.agents.claude.driver.sink import Sink
from flybridge.agents.claude.wire import encode
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import fields, text
from flybridge.errors import LocalProtocolError
from flybridge.model.commands import AnswerPermission, AnswerQuestion
from flybridge.model.events import Notice
from flybridge.model.facts import (
    InputEchoed,
    InputRejected,
    PermissionAsked,
    PromptWithdrawn,
    QuestionAsked,
)
from flybridge.model.ids import InputKey, ItemId, PromptId
from flybridge.model.tools import limited

ASK_TOOL = "AskUserQuestion"
DENIED = "The user does not want this tool to run."
DECLINED = "The user declined to answer the questions."
CLOSED = "the prompt is no longer open"
_NAME = 256


class Prompts:
    def __init__(
        self,
        memo: Memo,
        sink: Sink,
        life: str,
        item_of: Callable[[str], ItemId],
        separator: str,
    ) -> None:
        self._memo = memo
        self._sink = sink
        self._life = life
        self._item_of = item_of
        self._separator = separator

    # ---- asking --------------------------------------------------------------------------------

    def asked(self, request: w.CanUseTool) -> bool:
        """A new prompt; False when its id belongs to one that is open."""
        if any(one.request == request.request_id for one in self._memo.prompts.values()):
            return False
        if len(self._memo.prompts) >= MAX_PROMPTS:
            self._sink.write(encode.failure(request.request_id, "too many open prompts"))
            self._sink.put(Notice(text="too many open prompts: one was denied", level="warning"))
            return True
        given = fields(request.input)
        questions = given.get("questions")
        is_question = request.tool_name == ASK_TOOL and questions is not None
        self._memo.prompts_made += 1
        prompt = PromptId(f"prm_{self._life}_{self._memo.prompts_made}")
        suggestions = request.permission_suggestions or []
        self._memo.prompts[prompt] = OpenPrompt(
            request=request.request_id,
            tool=request.tool_use_id,
            input=request.input.copy(),
            suggestions=[] if is_question else [one.copy() for one in suggestions],
            question=is_question,
        )
        item = self._item_of(request.tool_use_id)
        parent = self._parent_of(request)
        agent = self._asking(request, parent)
        if is_question and questions is not None:
            self._sink.put(
                QuestionAsked(
                    prompt=prompt,
                    questions=questions,
                    item=item,
                    parent=parent,
                    agent=agent,
                    asked=questions_of(questions),
                )
            )
            return True
        kind, subject = describe_fields(request.tool_name, given, request.input)
        self._sink.put(
            PermissionAsked(
                prompt=prompt,
                tool=request.tool_name,
                input=request.input,
                item=item,
                parent=parent,
                reason=limited(text(request.decision_reason), TEXT_CHARS),
                suggestions=tuple(suggestions),
                offers=offers_of(suggestions),
                agent=agent,
                detail=self._sink.detail(request.rest),
                kind=kind,
                subject=subject,
            )
        )
        return True

    def _parent_of(self, request: w.CanUseTool) -> ItemId:
        """Find the call below which a prompt belongs; 2.1.160 may ask before it tells the call."""
        known = self._memo.tools.get(request.tool_use_id)
        if known is not None:
            return known.parent
        started = self._memo.calls.get(self._agent_id(request), "")
        return self._item_of(started) if started else ItemId("")

    def _agent_id(self, request: w.CanUseTool) -> str:
        known = {} if request.rest is UNSET else fields(request.rest)
        return text(known.get("agent_id", UNSET))[:_NAME]

    def _asking(self, request: w.CanUseTool, parent: ItemId) -> str:
        """The kind of sub-agent that asks; of one whose start nobody saw, its id."""
        return self._memo.agents.get(parent, "") or self._agent_id(request)

    # ---- no longer asking ----------------------------------------------------------------------

    def cancelled(self, request: str) -> bool:
        """The agent took a prompt back; False when it is none of the open ones."""
        prompt = next((p for p, one in self._memo.prompts.items() if one.request == request), None)
        if prompt is not None:
            self._withdraw(prompt)
            return True
        given = self._memo.given.pop(request, None)
        if given is None:
            return self._memo.is_used_up(request)
        self._memo.use_up(request)
        self._sink.put(InputRejected(key=given.key, reason="the agent took the prompt back first"))
        return True

    def tool_returned(self, tool: str, *, ran: bool) -> None:
        """A call that has its result waits for nobody any more. ``ran``: it was not refused."""
        if not self._memo.prompts and not self._memo.given:
            return
        for prompt in [p for p, one in self._memo.prompts.items() if one.tool == tool]:
            self._withdraw(prompt, ran=ran and not self._memo.stopping)
        for request in [r for r, one in self._memo.given.items() if one.tool == tool]:
            self.echoed(request)

    def end_turn(self) -> None:
        """Calls of background agents outlive the turn, and so do their prompts."""
        for prompt, one in list(self._memo.prompts.items()):
            if one.tool not in self._memo.tools:
                self._withdraw(prompt)

    def end(self) -> None:
        for prompt in list(self._memo.prompts):
            self._withdraw(prompt)

    def _withdraw(self, prompt: PromptId, *, ran: bool = False) -> None:
        gone = self._memo.prompts.pop(prompt)
        self._memo.use_up(gone.request)
        self._memo.tell_denial(gone.tool)  # somebody was asked: whatever comes is no rule's doing
        self._sink.put(PromptWithdrawn(prompt=prompt, ran=ran))

    # ---- answering -----------------------------------------------------------------------------

    def answer_permission(self, answer: AnswerPermission, key: InputKey) -> None:
        known = self._memo.prompts.get(answer.prompt)
        if known is None or known.question:
            self._reject(key, known)
        elif answer.decision == "allow":
            self._allow(answer, key, known)
        else:
            message = answer.message or DENIED
            self._deny(answer.prompt, key, message, stop=answer.stop)

    def _reject(self, key: InputKey, known: OpenPrompt | None) -> None:
        reason = CLOSED if known is None else "the prompt wants another kind of answer"
        self._sink.put(InputRejected(key=key, reason=reason))

    def _allow(self, answer: AnswerPermission, key: InputKey, known: OpenPrompt) -> None:
        chosen, left_out = updated_permissions(known.suggestions, answer.remember, answer.place)
        try:
            given = known.input if answer.updated_input is UNSET else _object(answer.updated_input)
            data = encode.allow(known.request, given, chosen)
        except LocalProtocolError as error:
            self._sink.put(InputRejected(key=key, reason=str(error)))
            return
        if left_out:
            self._sink.put(
                Notice(text=f"not remembered: suggestions {left_out[:8]}", level="warning")
            )
        self._settle(answer.prompt, key, data)

    def answer_question(self, answer: AnswerQuestion, key: InputKey) -> None:
        known = self._memo.prompts.get(answer.prompt)
        if known is None or not known.question:
            self._reject(key, known)
        elif answer.declined:
            self._deny(answer.prompt, key, DECLINED, stop=False)
        else:
            try:
                given = answered_input(known.input, answer.answers, separator=self._separator)
                data = encode.allow(known.request, given)
            except (LocalProtocolError, UnicodeError) as error:
                self._sink.put(InputRejected(key=key, reason=str(error)))
                return
            self._settle(answer.prompt, key, data)

    def _deny(self, prompt: PromptId, key: InputKey, message: str, *, stop: bool) -> None:
        known = self._memo.prompts[prompt]
        clean = message.encode("utf-8", "replace").decode()
        data = encode.deny(known.request, clean, interrupt=stop)
        if stop:
            self._memo.stopping = True
        if known.tool in self._memo.tools:
            self._memo.tools[known.tool].denied = True
        self._memo.tell_denial(known.tool)
        self._settle(prompt, key, data)

    def _settle(self, prompt: PromptId, key: InputKey, data: bytes) -> None:
        known = self._memo.prompts.pop(prompt)
        bound(self._memo.given, MAX_REQUESTS)
        self._memo.given[known.request] = Given(key=key, tool=known.tool)
        self._sink.write(data, key)

    def echoed(self, request: str) -> bool:
        """The agent showed that it has an answer of ours; False when it is none of ours."""
        given = self._memo.given.pop(request, None)
        if given is None:
            return self._memo.is_used_up(request)
        self._memo.use_up(request)
        self._sink.put(InputEchoed(key=given.key))
        return True


def _object(raw: w.MaybeRaw) -> Raw:
    """A tool's new input, on one line.

    Raises:
        LocalProtocolError: it is no JSON object.
    """
    data = encode.compact(b"" if raw is UNSET else bytes(raw))
    if not bytes(data).startswith(b"{"):
        raise LocalProtocolError("a tool's input is an object")
    return data
