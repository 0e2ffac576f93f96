"""Permissions and questions, as a person answers them: keys and lines in, one command out.

Pure: a box knows its rows and what a key means; who draws it and who sends the answer is
somebody else. Allowing is possible only after the end of the input was shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from flybridge.cli.rendering.asked import Rows as Rows
from flybridge.cli.rendering.asked import input_record, input_rows, is_plan
from flybridge.cli.rendering.columns import cut, wrap
from flybridge.cli.rendering.offer_text import offer_text
from flybridge.cli.rendering.safe_text import look_alikes, one_line, visible
from flybridge.cli.rendering.tool_text import compact, parsed
from flybridge.model.commands import AnswerPermission, AnswerQuestion
from flybridge.model.events import PermissionRequested, QuestionRequested

Answer: TypeAlias = AnswerPermission | AnswerQuestion
RECORD_ROWS = 12


class PermissionBox:
    """May this tool run? One key decides; ``a`` and ``d`` ask on."""

    def __init__(
        self, event: PermissionRequested, *, width: int, height: int, helper: str = ""
    ) -> None:
        self.prompt = event.prompt
        self._plan = event.kind == "plan" if event.kind else is_plan(bytes(event.input))
        what = "plan to review" if self._plan else "permission"
        self.title = cut(f"{what}: {one_line(event.tool, strict=True)}", max(width, 10))
        self.wants: Literal["key", "line"] = "key"
        self.hint = ""
        self._digest = event.digest
        self._state: Literal["ask", "rule"] = "ask"
        self._height = max(height, 3)
        offers = [(index, offer_text(offer)) for index, offer in enumerate(event.offers)]
        self._rules = [(index, text) for index, text in offers if text]
        self._decisions = [event.offers[index].decision for index, _ in self._rules]
        hidden = max(len(event.offers), len(event.suggestions)) - len(self._rules)
        given, width = bytes(event.input), max(width, 10)
        notes = _noted(self._notes(event, helper), width)
        rules = [f"rule {number}: {text}" for number, (_, text) in enumerate(self._rules, 1)]
        rules += [f"not offered here: {hidden} of the agent's suggestions"] if hidden else []
        self._all = [*input_rows(given, width, event.subject.diff), *notes, *_noted(rules, width)]
        self._record = [*input_record(given, width, RECORD_ROWS), *notes]
        self._left = self._all

    def _notes(self, event: PermissionRequested, helper: str) -> list[str]:
        """What else there is to know, below the input."""
        notes = [_asker(helper)] if event.parent else []
        if event.reason:
            notes.append(f"why it asks: {one_line(event.reason, strict=True)}")
        if foreign := look_alikes(bytes(event.input).decode(errors="replace")):
            notes.append(f"look twice, letters of several scripts: {', '.join(foreign[:5])}")
        return notes

    def page(self) -> Rows:
        """The next rows to show, the first time with a title."""
        first = self._left is self._all
        page, self._left = self._left[: self._height], self._left[self._height :]
        rows: Rows = [("box_top", self.title), *page] if first else page
        return [*rows, ("box_note", f"… {len(self._left)} more rows")] if self._left else rows

    def record(self) -> Rows:
        """What stays on the paper when it is answered."""
        return [("box_top", self.title), *self._record]

    @property
    def label(self) -> str:
        """What can be pressed now."""
        if self.wants == "line":
            return "what to change > " if self._plan else "why not > "
        if self._state == "rule":
            numbers = "1" if len(self._rules) == 1 else f"1 to {min(len(self._rules), 9)}"
            return f"which of the rules above: {numbers}, any other key goes back"
        if self._left:
            keys = ["space shows more"]
        else:
            keys = ["y approve the plan" if self._plan else "y allow once"]
        if self._plan:
            keys += ["n keep planning", "d say what to change", "s stop the turn"]
        else:
            keys += ["n deny", "d deny and say why", "s deny and stop the turn"]
        if self._rules and not self._left:
            kept = [word for word in ("allow", "deny") if word in self._decisions]
            keys.append(f"a {' or '.join(kept)} always")
        return " · ".join(keys)

    def press(self, char: str) -> Answer | Rows | None:
        """A key: an answer, more rows to show, or nothing (``hint`` says why)."""
        self.hint = ""
        if self._state == "rule":
            return self._choose(char)
        match char.lower():
            case "y" if not self._left:
                return self._answer("allow")
            case "y" | "a" if self._left:
                self.hint = "not before the end of the input was shown: press space"
            case " " | "\n" if self._left:
                return self.page()
            case "n":
                return self._answer("deny")
            case "s":
                return self._answer("deny", stop=True)
            case "d":
                self.wants = "line"
            case "a" if self._rules:
                self._state = "rule"
            case _:
                self.hint = "no such choice"
        return None

    def enter(self, text: str) -> Answer | None:
        """A line: the reason for a denial."""
        self.wants = "key"
        return self._answer("deny", message=text.strip())

    def back(self) -> bool:
        """Leave the question in the question; False if there is none."""
        inside = self.wants == "line" or self._state == "rule"
        self.wants, self._state = "key", "ask"
        return inside

    def _choose(self, char: str) -> Answer | None:
        self._state = "ask"
        if char.isdecimal() and 0 < int(char) <= len(self._rules):
            index, _ = self._rules[int(char) - 1]
            return self._answer(self._decisions[int(char) - 1], remember=(index,))
        return None

    def _answer(
        self,
        decision: Literal["allow", "deny"],
        *,
        message: str = "",
        stop: bool = False,
        remember: tuple[int, ...] = (),
    ) -> Answer:
        return AnswerPermission(
            prompt=self.prompt,
            digest=self._digest,
            decision=decision,
            message=message,
            stop=stop,
            remember=remember,
        )


def _asker(helper: str) -> str:
    name = one_line(helper, strict=True)
    return f"asked by the subagent: {name}" if name else "asked by a subagent"


def _noted(notes: Sequence[str], width: int) -> Rows:
    return [("box_note", row) for note in notes for row in wrap(note, width, words=False)]


class QuestionBox:
    """The agent asks: a number, several, or words; one question after the other."""

    wants: Literal["key", "line"] = "line"

    def __init__(self, event: QuestionRequested, *, width: int, helper: str = "") -> None:
        self.prompt = event.prompt
        self.hint = ""
        self._asker = _asker(helper) if event.parent else ""
        self._digest = event.digest
        self._width = max(width, 10)
        self._questions = _typed(event) or _questions(parsed(bytes(event.questions)))
        self._at = 0
        self._answers: dict[str, tuple[str, ...]] = {}

    @property
    def title(self) -> str:
        count = len(self._questions)
        return "question" if count == 1 else f"question {self._at + 1} of {count}"

    @property
    def _now(self) -> Question:
        return self._questions[self._at]

    def page(self) -> Rows:
        """The question that is to be answered now."""
        asked = self._now
        rows = [("box", f"  {line}") for line in visible(asked.text, strict=True).split("\n")]
        for number, (label, about) in enumerate(asked.options, 1):
            said = f" — {one_line(about, strict=True)}" if about else ""
            rows.append(("box", f"{number}. {one_line(label, strict=True)}{said}"))
        choose = "numbers, or your own words" if asked.several else "a number, or your own words"
        rows.append(("box_note", f"{choose}; a single - declines"))
        if self._asker:
            rows.append(("box_note", self._asker))
        wrapped = [(kind, row) for kind, text in rows for row in wrap(text, self._width)]
        return [("box_top", self.title), *wrapped]

    def record(self) -> Rows:
        """What stays on the paper when it is answered."""
        texts = [
            row for one in self._questions for row in wrap(one_line(one.text), self._width - 2)
        ]
        return [("box_top", "question"), *(("box", f"  {row}") for row in texts[:RECORD_ROWS])]

    @property
    def label(self) -> str:
        return "answer > "

    def press(self, char: str) -> Answer | Rows | None:
        return None

    def enter(self, text: str) -> Answer | Rows | None:
        """A line: the answer, the next question, or nothing (``hint`` says why)."""
        self.hint = ""
        said = text.strip()
        if not said:
            self.hint = "type a number or words; a single - declines"
            return None
        if said == "-":
            return AnswerQuestion(prompt=self.prompt, digest=self._digest, declined=True)
        chosen = self._chosen(said)
        if not chosen:
            return None
        self._answers[self._now.key or self._now.text] = chosen
        if self._at + 1 < len(self._questions):
            self._at += 1
            return self.page()
        return AnswerQuestion(prompt=self.prompt, digest=self._digest, answers=self._answers)

    def back(self) -> bool:
        return False

    def _chosen(self, said: str) -> tuple[str, ...]:
        """The labels behind the numbers; anything that is no number is an answer in words."""
        parts = said.replace(",", " ").split()
        if not all(part.isdecimal() and len(part) < 4 for part in parts):
            return (said,)
        options = self._now.options
        numbers = [int(part) for part in parts]
        if not options:
            return (said,)
        if not all(0 < number <= len(options) for number in numbers):
            self.hint = f"there is 1 to {len(options)}"
        elif len(numbers) > 1 and not self._now.several:
            self.hint = "only one of them"
        else:
            return tuple(options[number - 1][0] for number in dict.fromkeys(numbers))
        return ()


Box: TypeAlias = PermissionBox | QuestionBox


class Question(msgspec.Struct, frozen=True):
    text: str
    options: Sequence[tuple[str, str]] = ()
    several: bool = False
    key: str = ""  # of its answer, where that is not the text


def _typed(event: QuestionRequested) -> list[Question]:
    return [
        Question(
            asked.text,
            [(option.label, option.description) for option in asked.options],
            asked.multi,
            asked.key,
        )
        for asked in event.asked
    ]


def _questions(value: Any) -> list[Question]:
    found = value if isinstance(value, list) else [value]
    return [_question(one) for one in found] or [Question("(the agent asked nothing)")]


def _question(one: Any) -> Question:
    if not (isinstance(one, dict) and isinstance(text := one.get("question"), str)):
        return Question(one if isinstance(one, str) else compact(one))
    options = one.get("options")
    return Question(
        text,
        [_option(option) for option in options] if isinstance(options, list) else [],
        one.get("multiSelect") is True,
    )


def _option(one: Any) -> tuple[str, str]:
    if isinstance(one, dict) and isinstance(label := one.get("label"), str):
        return label, str(one.get("description") or "")
    return (one if isinstance(one, str) else compact(one)), ""
