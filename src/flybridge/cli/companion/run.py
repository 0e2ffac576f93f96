"""A handheld that is a terminal: one connection, one screen, and the end of both."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flybridge.cli.chat.keys import ESC_S, Key, KeyDecoder
from flybridge.cli.companion.screen import WIDTH, Screen
from flybridge.errors import FlybridgeError, GatewayUnreachableError, NotSupportedError

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

RIGHTS = ("view", "input", "interrupt", "approve", "spawn", "auto_edit")
HANGS_BEYOND = 4091  # bytes of a frame, as the real one
CLEAR, AGAIN = "\x1b[H\x1b[2J", "\x1b[H\x1b[J"
MAX_LINE = 64 * 1024
WORDS = {  # what a line says that comes from no terminal
    "yes": "a",
    "always": "x",
    "no": "b",
    "spawn": "s",
    "auto": "e",
    "quit": "q",
}


async def run(address: str, token: str, state: Path | None) -> None:
    """Be a device until somebody quits, or the server does.

    Raises:
        GatewayUnreachableError: nobody listens for devices there.
    """
    async with _let_in(address, token, state) as (where, pass_):
        await _connected(where, pass_)


@asynccontextmanager
async def _let_in(address: str, token: str, state: Path | None) -> AsyncIterator[tuple[str, str]]:
    """Where to, and with which token. Who sits at the gateway's own machine lets itself in for
    as long as this lasts; anybody else is paired like any other device."""
    if address or token:
        yield _host_and_port(address) or await _listening(state), token
        return
    from flybridge.client import connect

    async with await connect(state, start=False, name="companion") as client:
        found = await client.ask("devices.list", {})
        if not found["listening"]:
            raise NotSupportedError("no devices come in here: flybridge serve --companion-host …")
        names = {one["name"] for one in found["devices"]}
        name = next(f"terminal {n}" for n in range(1, 1000) if f"terminal {n}" not in names)
        made = await client.ask("devices.token", {"name": name, "rights": RIGHTS})
        where = _reachable(found["listening"])
        try:
            yield where, made["token"]
        finally:
            try:
                await client.ask("devices.revoke", {"name": made["id"]})
            except FlybridgeError:
                pass  # the gateway is gone; the token is in nobody's hands


async def _listening(state: Path | None) -> str:
    """Return where the gateway here lets devices in: as it says itself, if it tells us, or as
    the configuration says."""
    import os

    from flybridge import config
    from flybridge.client import connect

    try:
        async with await connect(state, start=False, name="companion") as client:
            found = (await client.ask("devices.list", {}))["listening"]
    except FlybridgeError:
        found = ""
    if found:
        return _reachable(found)
    serve = config.load(None, env=os.environ).serve
    host = serve.companion_host or "127.0.0.1"
    host = f"[{host}]" if ":" in host else host
    return _reachable(f"{host}:{serve.companion_port}")


def _host_and_port(address: str) -> str:
    """Return an address without the scheme and the slash of a URL, as people copy it."""
    return address.removeprefix("ws://").removesuffix("/")


def _reachable(listening: str) -> str:
    """Return an address to connect to; one that listens everywhere is reached on this machine."""
    return listening.replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]")


async def _connected(address: str, token: str) -> None:
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed, InvalidHandshake

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        socket = await connect(
            f"ws://{address}/",
            additional_headers=headers,
            compression=None,
            ping_interval=None,
            max_size=HANGS_BEYOND,
            user_agent_header=None,
            proxy=None,
        )
    except (OSError, InvalidHandshake, ValueError) as error:
        raise GatewayUnreachableError(f"no server for devices at {address}: {error}") from error
    async with socket:
        try:
            await (_at_terminal(socket) if sys.stdin.isatty() else _by_lines(socket))
        except ConnectionClosed:
            raise GatewayUnreachableError("the server hung up") from None


# ---- with somebody before it -----------------------------------------------------------------


async def _at_terminal(socket: ClientConnection) -> None:
    import os

    from flybridge.cli.terminal import TerminalModes, size_of

    screen, decoder = Screen(), KeyDecoder()
    keys: asyncio.Queue[bytes] = asyncio.Queue(maxsize=64)
    fd, out = sys.stdin.fileno(), sys.stdout.fileno()
    modes = TerminalModes(fd, out)
    loop = asyncio.get_running_loop()

    def typed() -> None:
        data = os.read(fd, 4096)
        if not keys.full():
            keys.put_nowait(data)

    def draw(begin: str = AGAIN) -> None:
        rows = screen.rows(min(size_of(out)[0], WIDTH))
        sys.stdout.write(begin + "\r\n".join(rows) + "\r\n")
        sys.stdout.flush()

    modes.enter()
    loop.add_reader(fd, typed)
    listening = asyncio.ensure_future(_listen(socket, screen, draw))
    try:
        draw(CLEAR)
        while not screen.over:
            for key in await _next_keys(keys, decoder, listening):
                said = screen.press(key)
                if said is not None:
                    await socket.send(said.decode())
            draw()
    finally:
        listening.cancel()
        loop.remove_reader(fd)
        modes.leave()


async def _next_keys(
    keys: asyncio.Queue[bytes], decoder: KeyDecoder, listening: asyncio.Future[None]
) -> list[Key]:
    """Keys, as soon as there are some. Raises what ended the connection."""
    getting = asyncio.ensure_future(keys.get())
    patience = ESC_S if decoder.pending else None
    both: set[asyncio.Future[Any]] = {getting, listening}
    done, _ = await asyncio.wait(both, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
    if getting in done:
        return decoder.receive(getting.result())
    getting.cancel()
    if listening in done:
        listening.result()
    return decoder.flush()


async def _listen(socket: ClientConnection, screen: Screen, draw: Callable[[], None]) -> None:
    while True:
        said = await socket.recv()
        screen.receive(said.encode() if isinstance(said, str) else said)
        draw()


# ---- with a script before it -----------------------------------------------------------------


async def _by_lines(socket: ClientConnection) -> None:
    """Each frame is a line on stdout; each line on stdin is a word, ``slot N`` or ``say TEXT``."""
    screen = Screen()
    listening = asyncio.ensure_future(_print(socket, screen))
    lines = asyncio.ensure_future(_lines(socket, screen))
    try:
        done, _ = await asyncio.wait({listening, lines}, return_when=asyncio.FIRST_COMPLETED)
        for one in done:
            one.result()
    finally:
        listening.cancel()
        lines.cancel()


async def _print(socket: ClientConnection, screen: Screen) -> None:
    while True:
        said = await socket.recv()
        text = said if isinstance(said, str) else said.decode("utf-8", "replace")
        screen.receive(text.encode())
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


async def _lines(socket: ClientConnection, screen: Screen) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while not screen.over:
        try:
            line = await reader.readline()
        except ValueError:
            raise NotSupportedError("a line is too long") from None
        if not line:
            return
        for key in keys_of(line.decode("utf-8", "replace").rstrip("\r\n")):
            said = screen.press(key)
            if said is not None:
                await socket.send(said.decode())


def keys_of(line: str) -> list[Key]:
    """The keys that a word stands for; a word that nobody knows stands for none."""
    word, _, rest = line.partition(" ")
    if word in WORDS:
        return [Key("char", WORDS[word])]
    if word == "escape":
        return [Key("esc")]
    if word == "slot" and len(rest) == 1:
        return [Key("char", rest)]
    if word == "say":
        return [Key("char", "i"), Key("paste", rest), Key("enter")]
    return []
