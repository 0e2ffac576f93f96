"""A chat at a terminal that can move its cursor: text above, the line being typed below."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Sequence

from flybridge.cli.attachments import Attachment, dragged
from flybridge.cli.chat.conversation import Conversation
from flybridge.cli.chat.editor_program import edit
from flybridge.cli.chat.input_history import History
from flybridge.cli.chat.keys import ESC_S, Key, KeyDecoder
from flybridge.cli.chat.line_editor import LineEditor
from flybridge.cli.chat.status_line import status_text
from flybridge.cli.rendering.columns import cells, cut
from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.rendering.screen import Footer, Look, Screen
from flybridge.cli.terminal import TerminalModes, size_of, write_all
from flybridge.client import Client
from flybridge.errors import FlybridgeError

FRAME_S = 0.015
TICK_S = 1.0
READ_BYTES = 1 << 16
TYPING_ROWS = 12
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
MORE_ROWS = 5  # of what waits, or is attached


class Interactive:
    """Owns the terminal while it runs, and gives it back whatever happens."""

    def __init__(
        self, client: Client, session: str, *, stdin: int, stdout: int, look: Look, come_back: str
    ) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._encoding = "utf-8" if look.unicode else "ascii"
        self._modes = TerminalModes(stdin, stdout)
        self._history = History.of_user()
        self._editor = LineEditor(self._history.load())
        self._keys = KeyDecoder()
        self._escape: asyncio.TimerHandle | None = None
        self._frame: asyncio.TimerHandle | None = None
        self._tick: asyncio.TimerHandle | None = None
        self._away = False
        self._prefix = False  # Ctrl-X was pressed
        self._elsewhere: asyncio.Task[None] | None = None  # the editor that has the terminal
        self._screen = Screen(self._write, lambda: size_of(stdout), look=look, footer=self._footer)
        self._talk = Conversation(
            client,
            session,
            self._screen,
            size=lambda: size_of(stdout),
            changed=self._refresh,
            come_back=come_back,
            edit=lambda: self._write_elsewhere(""),
        )

    async def run(self, first: str = "", files: Sequence[Attachment] = ()) -> int:
        """Chat until somebody leaves; the exit status."""
        loop = asyncio.get_running_loop()
        try:
            self._modes.enter()
            loop.add_reader(self._stdin, self._read)
            self._catch_signals(loop)
            self._refresh()
            return await self._talk.run(first, files)
        finally:
            if self._elsewhere is not None:
                self._elsewhere.cancel()
                await asyncio.gather(self._elsewhere, return_exceptions=True)
            self._release(loop)

    def _release(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.remove_reader(self._stdin)
        for timer in (self._escape, self._frame, self._tick):
            if timer is not None:
                timer.cancel()
        try:
            self._screen.leave()
        except OSError:  # the terminal is gone
            pass
        self._modes.leave()
        self._away = True

    def _catch_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        for ending in ENDING:
            loop.add_signal_handler(ending, self._talk.leave, 128 + ending)
        loop.add_signal_handler(signal.SIGINT, self._interrupted)
        loop.add_signal_handler(signal.SIGWINCH, self._resized)
        loop.add_signal_handler(signal.SIGTSTP, self._stop)
        loop.add_signal_handler(signal.SIGCONT, self._continue)

    def _interrupted(self) -> None:
        if not self._away:  # else it was meant for the editor
            self._talk.ctrl_c()

    def _stop(self) -> None:
        """Ctrl-Z: leave the terminal to the shell until we are in the foreground again."""
        if not self._away:
            self._screen.leave()
            self._modes.leave()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._continue()

    def _resized(self) -> None:
        self._talk.asking.redraw()
        self._refresh()

    def _continue(self) -> None:
        if not self._away:
            self._modes.enter()
            self._refresh()

    # ---- the editor ----------------------------------------------------------------------------

    def _write_elsewhere(self, text: str) -> None:
        if self._elsewhere is None:
            self._elsewhere = asyncio.create_task(self._in_editor(text))

    async def _in_editor(self, text: str) -> None:
        """Give the terminal to the editor; what was written comes back into the line."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._stdin)
        self._screen.leave()
        self._modes.leave()
        self._away = True
        try:
            self._editor.set(await edit(text))
        except FlybridgeError as error:
            self._editor.set(text)
            self._talk.complain(error)
        finally:
            self._away = False
            self._elsewhere = None
            self._modes.enter()
            loop.add_reader(self._stdin, self._read)
            self._talk.asking.typed_at = time.monotonic()
            self._refresh()

    # ---- drawing -------------------------------------------------------------------------------

    def _write(self, text: str) -> None:
        write_all(self._stdout, text.encode(self._encoding, "backslashreplace"))

    def _refresh(self) -> None:
        """Draw soon, once for everything that happens until then."""
        if self._frame is None and not self._away:
            self._frame = asyncio.get_running_loop().call_later(FRAME_S, self._draw)

    def _draw(self) -> None:
        self._frame = None
        if self._away:
            return
        if self._talk.outbox.returned and not self._editor.text:
            self._editor.set(self._talk.outbox.returned)
            self._talk.outbox.returned = ""
        try:
            self._screen.flush()
        except OSError:  # the terminal is gone
            self._talk.leave(128 + signal.SIGHUP)
        if self._tick is not None:
            self._tick.cancel()
        if self._talk.running:
            self._tick = asyncio.get_running_loop().call_later(TICK_S, self._refresh)

    def _footer(self, width: int, lines: int) -> Footer:
        rows: list[tuple[str, str]] = self._unsent(width)
        if status := self._status():
            rows.append(("status", cut(status, width - 2)))
        asking = self._talk.asking
        box = asking.box
        asked = asking.has_keys(typing=bool(self._editor.text))
        if box is not None:
            rows += asking.rows
            if not asked:
                rows.append(("box", self._why_not_yet(width)))
            elif box.hint:
                rows.append(("box_note", cut(box.hint, width - 2)))
        if box is not None and asked and box.wants == "key":
            rows += [("box", row) for row in _fold(box.label, width - 2)]
            return Footer(rows, len(rows) - 1, cells(rows[-1][1]) + 2)
        in_box = box is not None and asked
        style, label, indent = ("box", box.label, 2) if box and in_box else ("typing", "> ", 0)
        room = max(1, min(lines - len(rows) - 2, TYPING_ROWS))
        layout = self._editor.layout(label, width - indent, room)
        at = len(rows) + layout.row
        rows += [(style, row) for row in layout.rows]
        return Footer(rows, at, layout.column + indent)

    def _unsent(self, width: int) -> list[tuple[str, str]]:
        """What was typed and is not with the agent yet."""
        unsent = [f"sending: {one_line(text)}" for text in self._talk.outbox.unsent.values()]
        commands = self._talk.commands
        texts = [*unsent, *commands.queue_lines(), *commands.attached_lines()]
        if len(texts) > MORE_ROWS:
            texts = [*texts[: MORE_ROWS - 1], f"… {len(texts) - MORE_ROWS + 1} more"]
        return [("queued", cut(text, width - 2)) for text in texts]

    def _why_not_yet(self, width: int) -> str:
        if self._talk.asking.sending:
            return "…"
        text = "send or clear what you are typing, then answer" if self._editor.text else "…"
        return cut(text, width - 2)

    def _status(self) -> str:
        talk = self._talk
        if talk.reconnecting:
            return "the gateway is gone; reconnecting …"
        now_ms = time.time_ns() // 1_000_000
        return status_text(talk.state, talk.context, now_ms=now_ms, until_ms=talk.until_ms)

    # ---- keys ----------------------------------------------------------------------------------

    def _read(self) -> None:
        try:
            data = os.read(self._stdin, READ_BYTES)
        except OSError:
            data = b""
        if not data:
            self._talk.leave(128 + signal.SIGHUP)
            return
        if self._escape is not None:
            self._escape.cancel()
            self._escape = None
        self._press_all(self._keys.receive(data))
        if self._keys.pending:
            later = asyncio.get_running_loop().call_later
            self._escape = later(ESC_S, lambda: self._press_all(self._keys.flush()))

    def _press_all(self, keys: list[Key]) -> None:
        for key in keys:
            self._press(key)
        self._refresh()

    def _press(self, key: Key) -> None:
        box = self._talk.asking.box
        asked = self._talk.asking.has_keys(typing=bool(self._editor.text))
        prefix, self._prefix = self._prefix, False
        match key.name:
            case "ctrl-x":
                self._prefix = True
            case "end" if prefix and not asked:  # Ctrl-X Ctrl-E
                self._write_elsewhere(self._editor.text)
            case "ctrl-c":
                self._ctrl_c()
            case "ctrl-d" if not self._editor.text:
                self._talk.quit(0)
            case "clear":
                self._screen.clear()
            case "esc":
                self._esc(asked)
            case _ if box is not None and asked and box.wants == "key":
                self._answer(key)
            case _:
                self._edit(key, asked)

    def _ctrl_c(self) -> None:
        if self._editor.text and not self._talk.running:
            self._editor.set("")
        else:
            self._talk.ctrl_c()

    def _esc(self, asked: bool) -> None:
        box = self._talk.asking.box
        if asked and box is not None and box.back():
            self._editor.set("")
        else:
            self._talk.interrupt()

    def _answer(self, key: Key) -> None:
        asking = self._talk.asking
        char = {"enter": "\n", "newline": "\n"}.get(key.name, key.text)
        if key.name != "paste" and char:
            asking.press(char)
        if asking.box is not None and asking.box.hint:
            self._screen.ring()

    def _edit(self, key: Key, asked: bool) -> None:
        self._talk.asking.typed_at = time.monotonic()
        if key.name == "paste" and not asked and (files := dragged(key.text)):
            key = Key("paste", files + " ")
        line = self._editor.press(key)
        if line is None:
            return
        if asked:
            self._talk.asking.enter(line)
            return
        self._editor.remember(line)
        self._history.add(line)
        self._talk.line(line)


def _fold(text: str, width: int) -> list[str]:
    """Choices in as many rows as they need, broken between them."""
    rows = [""]
    for part in text.split(" · "):
        longer = f"{rows[-1]} · {part}" if rows[-1] else part
        if rows[-1] and len(longer) > width:
            rows.append(cut(part, width))
        else:
            rows[-1] = cut(longer, width)
    return rows
