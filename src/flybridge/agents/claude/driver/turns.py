"""When a turn begins and ends, and what is said of it at its end."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.convert.words import (
    TEXT_CHARS,
    denials_of,
    errors_of,
    has_own_origin,
    message_of,
    readable,
    reason_of,
    spent_since,
    window_of,
)
from flybridge.agents.claude.driver.items import Items
from flybridge.agents.claude.driver.memo import Memo
from flybridge.agents.claude.driver.prompts import Prompts
from flybridge.agents.claude.driver.sink import FIELD_BYTES, Sink, slim
from flybridge.agents.claude.driver.status import Reports
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import number, text
from flybridge.model.events import ConversationLost, Error
from flybridge.model.facts import InputEchoed, InputRejected, TurnBegan, TurnOver
from flybridge.model.tools import limited

UNHEARD = "the agent ended the turn without a word: a hook may have blocked the input"
NOT_FOUND = "No conversation found"  # the CLI has no code for it, only these words


class Turns:
    """A turn runs from its first evidence to ``result``; nobody counts results against inputs."""

    def __init__(
        self,
        memo: Memo,
        sink: Sink,
        items: Items,
        prompts: Prompts,
        reports: Reports,
        *,
        resumed: bool,
        begins_turns: bool,
    ) -> None:
        self._memo = memo
        self._sink = sink
        self._items = items
        self._prompts = prompts
        self._reports = reports
        self._resumed = resumed
        self._begins_turns = begins_turns

    def begin(self) -> None:
        """The first evidence of a turn, asked for or not."""
        if not self._memo.turn:
            self._memo.turn = True
            self._memo.spoke = self._memo.stopping = self._memo.halted = False
            self._memo.asked_model = False
            self._memo.asker = next(iter(self._memo.echoes), "")
            self._sink.put(TurnBegan())

    def ask_model(self) -> None:
        """Note that the model is asked in the running turn; begin one if none runs."""
        self.begin()
        self._memo.asked_model = True

    # ---- inputs ---------------------------------------------------------------------------------

    def lifecycle(self, message: w.CommandLifecycle) -> None:
        self._memo.names_inputs = True
        key = self._memo.echoes.get(message.command_uuid)
        if message.state == "started":
            self.begin()
            self.echoed(message.command_uuid)
        elif key is not None and message.state in ("cancelled", "discarded", "refused"):
            del self._memo.echoes[message.command_uuid]
            self._sink.put(InputRejected(key=key, reason=message.state))

    def echoed(self, uuid: str) -> bool:
        key = self._memo.echoes.pop(uuid, None)
        if key is None:
            return False
        self._memo.asker = ""
        self._sink.put(InputEchoed(key=key))
        return True

    # ---- their end ------------------------------------------------------------------------------

    def ended(self, result: w.Result, line: bytes) -> None:
        if not self._memo.turn:
            self._stray_result(result, line)
            return
        unheard = self._find_asker(result)
        for tool, name in denials_of(result):
            self._items.denied(tool, name)
        self._memo.denials.clear()
        self._items.end_turn()
        self._prompts.end_turn()
        self._reports.end_turn()
        reason = reason_of(result, stopping=self._memo.stopping)
        self._memo.window = window_of(result.model_usage, self._memo.model) or self._memo.window
        usage = result.usage
        if usage is not UNSET and len(bytes(usage)) > FIELD_BYTES:
            usage = UNSET
        gauges = {} if usage is UNSET else {"usage": usage}
        if self._memo.context != 0 or self._memo.window:
            gauges["context"] = self._reports.context()
        self._sink.put(
            TurnOver(
                reason=reason,
                message=message_of(result, reason, spoke=self._memo.spoke)
                or (UNHEARD if unheard and reason == "done" and not self._memo.spoke else ""),
                cost_usd=self._cost(result),
                usage=usage,
                gauges=gauges,
                detail=Raw(msgspec.json.encode(slim(readable(line)))),
            )
        )
        self.lost()

    def _find_asker(self, result: w.Result) -> bool:
        """Confirm the input of this turn if the agent never echoed it; return whether it was so.

        Up to 2.1.205 no local command is echoed, nor a prompt that a hook blocked. Inputs are
        taken one after the other, so a turn in which nothing was echoed belongs to the oldest
        input that had no echo when the turn began, unless the agent began it by itself:

        - an agent that announces its inputs (``command_lifecycle``) has named the input already;
        - a turn with an origin of its own says so;
        - every prompt that the model was asked about is echoed before the turn ends, so a turn
          that asked the model and echoed nothing is the agent's own, where it has such turns.
        """
        key = self._memo.echoes.get(self._memo.asker)
        if key is None or self._memo.names_inputs or has_own_origin(result):
            return False
        if self._begins_turns and self._memo.asked_model:
            return False
        del self._memo.echoes[self._memo.asker]
        self._sink.put(InputEchoed(key=key))
        return True

    def tear_off(self, message: str) -> None:
        """End a turn whose own end was lost."""
        self._items.end_turn()
        self._prompts.end_turn()
        self._sink.put(TurnOver(reason="interrupted", message=message))
        self.lost()

    def lost(self) -> None:
        """No turn runs any more."""
        self._memo.turn = self._memo.spoke = self._memo.stopping = self._memo.torn = False
        self._memo.asked_model = self._memo.halted = False
        self._memo.asker = self._memo.said_in = ""

    def _stray_result(self, result: w.Result, line: bytes) -> None:
        """No turn to end: the CLI could not start, or it ended one twice."""
        said = "; ".join(errors_of(result)) or text(result.result)
        if result.subtype == "success" and not result.is_error:
            self._sink.unrecognised(line)
        else:
            self._sink.put(Error(code="agent", text=limited(said or result.subtype, TEXT_CHARS)))
            if self._resumed and said.startswith(NOT_FOUND):
                self._sink.put(ConversationLost(reason=limited(said, TEXT_CHARS)))

    def _cost(self, result: w.Result) -> float:
        """Of this turn alone. The total may start again at nothing, as after /clear.

        A resumed conversation goes on counting from a total this life never heard of: what
        its first turn cost is known only where the CLI says so itself.
        """
        total = number(result.total_cost_usd)
        if total is None:
            return 0.0
        before, self._memo.cost_usd = self._memo.cost_usd, total
        if before is None:
            return spent_since(result) if self._resumed else max(0.0, total)
        return max(0.0, total - before)
