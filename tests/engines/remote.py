"""Browsers of other makes, each driven over the wire that it speaks by itself.

Firefox listens for Marionette, WebKitGTK comes with a WebDriver; both know the same commands. So
nothing is needed but the browsers, and a screen without a monitor for WebKit.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.harness.waiting import WAIT_S

START_S = 60.0
ENOUGH = 1 << 16
LIBRARIES = Path("/usr/lib")
MINI = "*/webkit2gtk-4.*/MiniBrowser"  # the browser that comes with WebKitGTK, to be driven
# what the WebDriver standard calls them, and where they are over HTTP
ROUTES = {
    "Navigate": ("POST", "/url"),
    "ExecuteScript": ("POST", "/execute/sync"),
    "PerformActions": ("POST", "/actions"),
    "ReleaseActions": ("DELETE", "/actions"),
    "SetWindowRect": ("POST", "/window/rect"),
    "GetCookies": ("GET", "/cookie"),
}
NO_MORE: Mapping[str, str] = {}
SCREEN = {
    "GSETTINGS_BACKEND": "memory",
    "GTK_THEME": "Adwaita:dark",
    "LIBGL_ALWAYS_SOFTWARE": "1",
    "NO_AT_BRIDGE": "1",
    "WEBKIT_DISABLE_DMABUF_RENDERER": "1",
}
PREFERENCES = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "layout.css.prefers-color-scheme.content-override": 0,  # dark
    "general.smoothScroll": False,
    "marionette.port": 0,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "http://127.0.0.1:9",  # nothing is fetched from anywhere
    "toolkit.telemetry.enabled": False,
}


class RemoteError(Exception):
    """The browser says no."""


class Engine(ABC):
    """One browser; ``version`` is what it says of itself."""

    name: str
    package: str  # what it comes with
    version: str

    def __init__(self, home: Path) -> None:
        self._home = home
        self._processes: list[subprocess.Popen[bytes]] = []

    @abstractmethod
    def ask(self, command: str, **params: Any) -> Any:
        """Give a WebDriver command; its value."""

    def run(self, script: str) -> Any:
        return self.ask("ExecuteScript", script=script, args=[])

    def complaints(self) -> list[str]:
        """What it wrote on its console, where it can be read from outside of a page."""
        return []

    def close(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(WAIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self, *argv: str, keep: int | None = None, env: Mapping[str, str] = NO_MORE) -> None:
        with (self._home / "out").open("ab") as out:
            process = subprocess.Popen(
                argv,
                env={**os.environ, "HOME": str(self._home), **env},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                pass_fds=() if keep is None else (keep,),
            )
        self._processes.append(process)


class Firefox(Engine):
    name = "firefox"
    package = "firefox-esr"

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        profile = home / "profile"
        profile.mkdir()
        lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in PREFERENCES.items()]
        (profile / "user.js").write_text("".join(lines), encoding="utf-8")
        options = ("--headless", "--marionette", "--remote-allow-system-access", "--no-remote")
        self._start(self.program() or self.name, *options, "--profile", str(profile))
        try:
            port = int(_come(lambda: (profile / "MarionetteActivePort").read_text() or None))
            self._socket = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
            self._rest, self._asked = b"", 0
            self._hear()  # it says who it is, unasked
            self.version = self.ask("NewSession", capabilities={})["capabilities"]["browserVersion"]
        except BaseException:
            self.close()
            raise

    @staticmethod
    def program() -> str | None:
        return shutil.which("firefox-esr") or shutil.which("firefox")

    def ask(self, command: str, **params: Any) -> Any:
        value = self._say(f"WebDriver:{command}", params)
        return value["value"] if isinstance(value, dict) and set(value) == {"value"} else value

    def complaints(self) -> list[str]:
        self._say("Marionette:SetContext", {"value": "chrome"})
        try:
            found: list[str] = self.run("return Services.console.getMessageArray().map(String)")
        finally:
            self._say("Marionette:SetContext", {"value": "content"})
        return found

    def _say(self, name: str, params: Mapping[str, Any]) -> Any:
        self._asked += 1
        data = json.dumps([0, self._asked, name, params]).encode()
        self._socket.sendall(b"%d:%s" % (len(data), data))
        _, _, wrong, value = self._hear()
        if wrong is not None:
            raise RemoteError(f"{wrong['error']}: {wrong['message']}")
        return value

    def _hear(self) -> Any:
        while b":" not in self._rest:
            self._rest += self._more()
        size, _, rest = self._rest.partition(b":")
        while len(rest) < int(size):
            rest += self._more()
        self._rest = rest[int(size) :]
        return json.loads(rest[: int(size)])

    def _more(self) -> bytes:
        data = self._socket.recv(ENOUGH)
        if not data:
            raise RemoteError("the browser is gone")
        return data

    def close(self) -> None:
        if hasattr(self, "_socket"):
            self._socket.close()
        super().close()


class WebKit(Engine):
    name = "webkit"
    package = "webkit2gtk-driver xvfb"

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        try:
            screen = self._screen()
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            self._start("WebKitWebDriver", f"--port={port}", env={**SCREEN, "DISPLAY": screen})
            self._address = f"http://127.0.0.1:{port}"
            _come(lambda: self._call("GET", "/status"))
            browser = {"binary": self.program(), "args": ["--automation"]}
            wanted = {"alwaysMatch": {"webkitgtk:browserOptions": browser}}
            session = self._call("POST", "/session", {"capabilities": wanted})
        except BaseException:
            super().close()
            raise
        self.version = session["capabilities"]["browserVersion"]
        self._session = f"/session/{session['sessionId']}"

    @staticmethod
    def program() -> str | None:
        there = all(shutil.which(one) for one in ("WebKitWebDriver", "Xvfb"))
        found = sorted(LIBRARIES.glob(MINI)) if there else []
        return str(found[0]) if found else None

    def ask(self, command: str, **params: Any) -> Any:
        method, path = ROUTES[command]
        return self._call(method, self._session + path, params if method == "POST" else None)

    def _screen(self) -> str:
        ours, its = os.pipe()
        size = ("-screen", "0", "1600x1200x24")
        self._start("Xvfb", "-displayfd", str(its), *size, "-nolisten", "tcp", keep=its)
        os.close(its)
        with os.fdopen(ours, encoding="ascii") as told:
            return f":{told.readline().strip()}"

    def _call(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        kind = {"content-type": "application/json"}
        request = urllib.request.Request(self._address + path, data, kind, method=method)
        try:
            with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
                return json.loads(answer.read())["value"]
        except urllib.error.HTTPError as error:
            said = json.loads(error.read())["value"]
            raise RemoteError(f"{said['error']}: {said['message']}") from None

    def close(self) -> None:
        try:
            self._call("DELETE", self._session)  # else its processes would stay
        finally:
            super().close()


def _come(look: Any) -> Any:
    """What there is to be found, once it is there."""
    deadline = time.monotonic() + START_S
    while True:
        try:
            if (found := look()) is not None:
                return found
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise RemoteError("it does not start")
        time.sleep(0.05)


ENGINES: tuple[type[Firefox] | type[WebKit], ...] = (Firefox, WebKit)
