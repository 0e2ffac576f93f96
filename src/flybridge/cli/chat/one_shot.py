"""One prompt, one answer: for pipes and scripts, where nobody can be asked anything.

The answer goes to standard output, everything else to standard error. A prompt that nobody has
answered ends it with an error; with a timeout it waits so long for somebody else to answer. The
prompt stays open in the session either way.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence

from flybridge.cli.attachments import Attachment
from flybridge.cli.rendering.render import Renderer
from flybridge.cli.rendering.safe_text import one_line, visible
from flybridge.cli.rendering.screen import Plain
from flybridge.client import Client, Detached, EventItem, Item, PreviewItem, Reset, ViewItem
from flybridge.errors import FlybridgeError
from flybridge.frontends.runs.questions import subject_of
from flybridge.model import events as ev
from flybridge.model.commands import SendInput
from flybridge.model.content import Content, Text
from flybridge.model.deliveries import Stage

NO_LIMIT_S = 7 * 24 * 3600.0


class TimeOutError(FlybridgeError):
    code = "timeout"


class InteractionRequiredError(FlybridgeError):
    """The agent waits for an answer, and nobody can be asked here."""

    code = "interaction_required"


class SplitPaper:
    """What the agent says here, all the rest there."""

    def __init__(self, answer: Plain, rest: Plain) -> None:
        self._answer = answer
        self._rest = rest

    def write(self, text: str, style: str) -> None:
        self._of(style).write(text, style)

    def line(self, text: str, style: str) -> None:
        self._of(style).line(text, style)

    def aside(self, text: str, style: str) -> None:
        self._of(style).aside(text, style)

    def gap(self) -> None:
        self._answer.fresh()
        self._rest.fresh()

    def _of(self, style: str) -> Plain:
        return self._answer if style == "text" else self._rest


class OneShot:
    def __init__(
        self, client: Client, session: str, *, answer: Plain, rest: Plain, come_back: str
    ) -> None:
        self._client = client
        self._session = session
        self._rest = rest
        self._come_back = come_back
        self._answer = answer
        self._request = str(uuid.uuid4())
        self._renderer = Renderer(SplitPaper(answer, rest), own={self._request}, thinking=False)
        self._waits = False  # for somebody else to answer a prompt
        self._open: dict[str, str] = {}  # prompts → what they are about
        self._failed = False
        self._over = False

    async def run(
        self, prompt: str, files: Sequence[Attachment] = (), *, timeout_s: float | None
    ) -> int:
        """Send the prompt, show what comes of it, and end with the turn; return the exit status.

        Raises:
            TimeOutError: it took longer than it may; the agent goes on.
            InteractionRequiredError: the agent asks something, and no timeout was given.
        """
        self._waits = timeout_s is not None
        try:
            async with asyncio.timeout(timeout_s or NO_LIMIT_S):
                return await self._run((*(one.content for one in files), Text(prompt)))
        except TimeoutError as error:
            raise TimeOutError(
                f"Timed out after {timeout_s:g} s. The agent goes on; "
                f"see it with: {self._come_back}"
            ) from error

    async def _run(self, content: tuple[Content, ...]) -> int:
        row = next(r for r in await self._client.list() if r["session"] == self._session)
        command = SendInput(content=content)
        await self._client.submit_reliably(
            self._session, command, request=self._request, until=Stage.ACCEPTED, wait_ms=10_000
        )
        after = int(row["last_seq"])
        async with self._client.watch(self._session, after=after, patience_s=NO_LIMIT_S) as items:
            async for item in items:
                if self._take(item):
                    break
        return int(self._failed)

    def _take(self, item: Item) -> bool:
        """Show one item; True when it is the last one that matters."""
        match item:
            case EventItem():
                self._show(item)
            case ViewItem():  # comes after everything that happened together
                self._check_prompts()
                return self._over
            case PreviewItem():
                self._renderer.preview(item)
            case Detached() | Reset():
                self._rest.line("the session is gone", "error")
                self._failed = True
                return True
            case _:
                pass
        return False

    def _show(self, item: EventItem) -> None:
        event = item.event
        match event:
            case ev.InputAccepted():
                pass  # whoever wrote it knows it
            case ev.PermissionRequested(tool=tool, prompt=prompt):
                self._open[prompt] = f"Permission required to {one_line(subject_of(event))}"
                self._announce(f"{one_line(tool)} needs a permission")
            case ev.QuestionRequested(prompt=prompt):
                self._open[prompt] = "The agent asks a question"
                self._announce("the agent asks a question")
            case ev.PermissionClosed(prompt=prompt) | ev.QuestionClosed(prompt=prompt):
                self._open.pop(prompt, None)
            case ev.Notice(command=True, level="info", text=text):
                self._answer.line(visible(text), "text")  # it is what the prompt asked for
                return
            case ev.TurnEnded(reason=reason):
                self._failed = reason != "done"
            case ev.InputOutcome(key=key) if key.rpartition(":")[2] == self._request:
                self._over = True
                self._failed = self._failed or event.outcome not in ("done", "observed")
            case _:
                pass
        if not isinstance(event, ev.InputAccepted):
            self._renderer.event(item)

    def _check_prompts(self) -> None:
        if self._open and not self._waits:
            what = next(iter(self._open.values()))
            raise InteractionRequiredError(
                f"{what}, and this chat is not interactive. Answer it with: {self._come_back}"
            )

    def _announce(self, what: str) -> None:
        if not self._waits:
            return
        self._rest.line(f"{what}; answer it with: {self._come_back}", "warning")
