"""What somebody does with the page in a browser, and what they see there."""

from __future__ import annotations

import json
from typing import Any

from tests.engines.remote import Engine
from tests.harness.waiting import wait_until
from tests.web.rig import Place

ENTER, ESCAPE, SHIFT, CONTROL = "\ue007", "\ue00c", "\ue008", "\ue009"
# Whatever goes wrong from here on is remembered: no exception, no violation of our policy, nothing
# that is worth a message may happen.
REPORT = """
if (window.wrong === undefined) {
  window.wrong = [];
  const note = (what) => window.wrong.push(what);
  addEventListener("error", (event) => note(`exception: ${event.message}`));
  addEventListener("unhandledrejection", (event) => note(`nobody caught: ${event.reason}`));
  document.addEventListener("securitypolicyviolation", (event) =>
    note(`policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
  for (const level of ["error", "warn"]) console[level] = (...said) => note(said.join(" "));
}
"""
FIND = """
const shown = (one) =>
  one.getClientRects().length > 0 && !one.disabled && one.ariaDisabled !== "true";
const named = (one) => (one.getAttribute("aria-label") ?? one.innerText).trim().startsWith(NAME);
const found = [...document.querySelectorAll("button, a, label, [role^=menuitem]")].find(
  (one) => shown(one) && named(one));
if (found === undefined) return null;
found.scrollIntoView({ block: "nearest" });
const { x, y, width, height } = found.getBoundingClientRect();
return [x + Math.min(width / 2, 24), y + height / 2];
"""


class Page:
    """A browser window on one gateway."""

    def __init__(self, engine: Engine, gateway: Place) -> None:
        self.engine = engine
        self._gateway = gateway
        self._wrong: list[str] = []

    def open(self, path: str) -> None:
        address = path if "://" in path else f"{self._gateway.address}{path}"
        self._collect()
        self.engine.ask("Navigate", url=address)
        self.engine.run(REPORT)

    def wrong(self) -> list[str]:
        """Everything that went wrong so far, in all its pages."""
        self._collect()
        return self._wrong

    def _collect(self) -> None:
        self._wrong += self.engine.run("return (window.wrong ?? []).splice(0)")

    def resize(self, width: int, height: int) -> None:
        """Make what is inside of the window as large as that, if the window can be so small."""
        self.engine.ask("SetWindowRect", x=0, y=0, width=width, height=height)
        inside = self.wait("innerWidth > 0 && [innerWidth, innerHeight]")
        size = {"width": 2 * width - inside[0], "height": 2 * height - inside[1]}
        self.engine.ask("SetWindowRect", x=0, y=0, **size)

    def get(self, expression: str) -> Any:
        return self.engine.run(f"return {expression}")

    def wait(self, expression: str) -> Any:
        """Wait until this is something; what it is."""
        return wait_until(
            lambda: self.get(expression), lambda: f"{expression}; seen: {self.text()}"
        )

    def text(self) -> str:
        return str(self.get("document.body.innerText"))

    def see(self, text: str, within: str = "body") -> None:
        inside = f"document.querySelector({json.dumps(within)})"
        self.wait(f"{inside}?.innerText.includes({json.dumps(text)})")

    def press(self, name: str) -> None:
        """Click on what has this name, once it can be clicked on."""
        script = FIND.replace("NAME", json.dumps(name))
        x, y = self.wait(f"(() => {{ {script} }})()")
        self._click(x, y)

    def press_at(self, selector: str) -> None:
        place = f"document.querySelector({json.dumps(selector)})?.getBoundingClientRect()"
        box = self.wait(place)
        self._click(box["x"] + min(box["width"] / 2, 24), box["y"] + box["height"] / 2)

    def _click(self, x: float, y: float) -> None:
        move = {"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}
        steps = [move, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._act({"type": "pointer", "id": "mouse", "actions": steps})

    def keys(self, *keys: str) -> None:
        """Press these one after the other; several in one text together."""
        steps = []
        for chord in keys:
            steps += [{"type": "keyDown", "value": one} for one in chord]
            steps += [{"type": "keyUp", "value": one} for one in reversed(chord)]
        self._act({"type": "key", "id": "keyboard", "actions": steps})

    def type(self, text: str) -> None:
        self.keys(*text)

    def wheel(self, step: int) -> None:
        """Turn the wheel over the middle of the window."""
        x, y = self.get("[Math.floor(innerWidth / 2), Math.floor(innerHeight / 2)]")
        turn = {"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": step, "duration": 0}
        self._act({"type": "wheel", "id": "wheel", "actions": [turn]})
        self.engine.ask("ReleaseActions")  # else the same turn again would be none

    def _act(self, source: dict[str, Any]) -> None:
        self.engine.ask("PerformActions", actions=[source])
