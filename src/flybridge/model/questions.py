"""Questions that an agent asks a person."""

from __future__ import annotations

import msgspec

MAX_QUESTIONS = 32
MAX_OPTIONS = 64
QUESTION_CHARS = 8192
OPTION_CHARS = 1024


class QuestionOption(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A suggested answer. ``label`` is what an answer says."""

    label: str
    description: str = ""


class PromptQuestion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question of a prompt. Other words than the suggested answers may be given, too."""

    text: str
    id: str = ""  # what its answer is filed under; "": the text itself
    header: str = ""
    options: tuple[QuestionOption, ...] = ()
    multi: bool = False  # several of the options may be chosen

    @property
    def key(self) -> str:
        """What the answer is filed under in ``AnswerQuestion.answers``."""
        return self.id or self.text
