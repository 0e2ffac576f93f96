"""Callbacks that decide what an agent asks: each prompt is put to one, once.

A callback that returns None leaves the prompt to others. One that raises decides nothing: its
error is handed on. A prompt that somebody else has settled cancels its callback. Answers are
given over lost connections too, and count once: the prompt itself is the key.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from flybridge.client.prompts import (
    Allow,
    Answers,
    Decision,
    Decline,
    Deny,
    PermissionPrompt,
    Prompt,
    QuestionPrompt,
    to_command,
    to_prompt,
)
from flybridge.errors import PromptClosedError, PromptDecidedError
from flybridge.model import events as ev
from flybridge.model.commands import Command

AT_ONCE = 64  # callbacks; more prompts wait their turn

OnPermission: TypeAlias = Callable[[PermissionPrompt], Awaitable[Allow | Deny | None]]
OnQuestion: TypeAlias = Callable[[QuestionPrompt], Awaitable[Answers | Decline | None]]
Submit: TypeAlias = Callable[[Command, str], Awaitable[object]]


class Asking:
    """Knows the prompts that are open, and asks about each as soon as :meth:`sync` is called.

    ``submit`` carries an answer out under a request id; ``failed`` hears of a callback's error.
    """

    def __init__(
        self,
        submit: Submit,
        failed: Callable[[Exception], None],
        *,
        on_permission: OnPermission | None = None,
        on_question: OnQuestion | None = None,
    ) -> None:
        self._submit = submit
        self._failed = failed
        self._on_permission = on_permission
        self._on_question = on_question
        self._open: dict[str, ev.PermissionRequested | ev.QuestionRequested] = {}
        self._offered: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._answering: set[str] = set()
        self._turns = asyncio.Semaphore(AT_ONCE)

    def apply(self, event: ev.Event) -> None:
        """Fold one event; nobody is asked yet, it may be history."""
        match event:
            case ev.PermissionRequested(prompt=prompt) | ev.QuestionRequested(prompt=prompt):
                self._open[prompt] = event
            case ev.PermissionClosed(prompt=prompt) | ev.QuestionClosed(prompt=prompt):
                self._open.pop(prompt, None)
            case _:
                pass

    def reset(self) -> None:
        """The log begins anew."""
        self._open.clear()

    def sync(self) -> None:
        """Everything there is to know is known: ask about what is open, forget what is not."""
        for prompt in [one for one in self._offered if one not in self._open]:
            task = self._offered.pop(prompt)
            if prompt not in self._answering:  # ours is on its way, and may be what closed it
                task.cancel()
        for prompt in [one for one in self._open if one not in self._offered]:
            asked = to_prompt(self._open[prompt])
            if self._callback(asked) is not None:
                task = asyncio.create_task(self._ask(asked))
                self._offered[prompt] = task
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Ask nobody any more."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _callback(self, prompt: Prompt) -> OnPermission | OnQuestion | None:
        return self._on_question if isinstance(prompt, QuestionPrompt) else self._on_permission

    async def _ask(self, prompt: Prompt) -> None:
        try:
            async with self._turns:
                decision = await self._decide(prompt)
            if decision is not None:
                await self._answer(prompt, decision)
        except Exception as error:
            self._failed(error)

    async def _decide(self, prompt: Prompt) -> Decision | None:
        if isinstance(prompt, QuestionPrompt):
            return None if self._on_question is None else await self._on_question(prompt)
        return None if self._on_permission is None else await self._on_permission(prompt)

    async def _answer(self, prompt: Prompt, decision: Decision) -> None:
        command = to_command(prompt, decision)
        self._answering.add(prompt.id)
        try:
            await self._submit(command, str(uuid.uuid4()))
        except (PromptClosedError, PromptDecidedError):
            pass  # somebody was quicker, or the agent does not want to know any more
        finally:
            self._answering.discard(prompt.id)
