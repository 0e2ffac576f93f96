"""Run the courier, a scripted agent that is not Claude: one JSON object per line, both ways.

It writes ``hello`` first and then obeys ``say``, ``decide``, ``answer``, ``stop``, ``set`` and
``query``; :mod:`tests.harness.other_agent` describes the steps that a message may contain. With
``--hello-after FILE`` it says hello once that file exists; with ``--record FILE`` it keeps its
arguments and every line that it reads. Stdlib only, and no import of the product: it is run by its
path.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import uuid
from typing import Any

VERSION = "3.4.5"
WAIT_S = 60.0
Json = dict[str, Any]


def flag(name: str, default: str = "") -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


class Courier:
    """Plays the steps of one message at a time; reads on while it waits for an answer."""

    def __init__(self) -> None:
        self.conversation = flag("--resume") if "--fork" not in sys.argv else ""
        self.conversation = self.conversation or f"courier-{uuid.uuid4().hex[:12]}"
        self.settings = {"model": flag("--model", "bike"), "mode": flag("--mode", "ask")}
        self.waiting: list[Json] = []  # messages that came while a turn ran
        self.stopped = False
        self.count = 0

    def write(self, message: Json) -> None:
        sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
        sys.stdout.flush()

    def record(self, what: Json) -> None:
        if path := flag("--record"):
            with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123
                file.write(json.dumps(what) + "\n")

    def run(self) -> None:
        self.record({"started": sys.argv[1:]})
        if after := flag("--hello-after"):
            self.play({"wait_file": after})
        told = "" if "--nameless" in sys.argv else self.conversation
        self.write({"hello": told, "version": VERSION, **self.settings})
        while True:
            message = self.waiting.pop(0) if self.waiting else self.read()
            if message is None:
                return
            if "say" in message:
                self.turn(message)
            else:
                self.control(message)

    def read(self) -> Json | None:
        line = sys.stdin.readline()
        if not line:
            return None
        message: Json = json.loads(line)
        self.record({"read": message})
        return message

    def control(self, message: Json) -> None:
        """Obey everything but a message; an answer to nothing open is ignored."""
        if "stop" in message:
            self.stopped = True
            self.write({"done": message["key"]})
        elif "set" in message:
            self.settings[message["set"]] = message["value"]
            self.write({"done": message["key"]})
            self.write({"setting": message["set"], "value": message["value"]})
        elif "query" in message:
            value = {"name": message["name"], "params": message["params"], **self.settings}
            self.write({"answer": message["query"], "value": value})

    def turn(self, message: Json) -> None:
        self.stopped = False
        self.write({"got": message["key"]})
        self.write({"turn": "begin"})
        text = str(message["say"])
        start = text.find("@@ ")
        steps = json.loads(text[start + 3 :]) if start >= 0 else [{"text": f"delivered: {text}"}]
        for step in steps:
            if not self.stopped:
                self.play(step)
        self.write({"turn": "end", "reason": "interrupted" if self.stopped else "done"})

    def play(self, step: Json) -> None:
        self.count += 1
        name = f"{self.conversation}-{os.getpid()}-{self.count}"
        if "text" in step:
            for piece in re.findall(r"\S*\s*", step["text"]):  # together exactly the text
                if piece:
                    self.write({"text": name, "add": piece})
            self.write({"text": name, "all": step["text"]})
        elif "tool" in step:
            self.tool(name, step)
        elif "ask_question" in step:
            self.write({"question": name, "questions": step["ask_question"]})
            answer = self.until_answered("answer", name)
            self.play({"text": "answered: " + json.dumps(answer.get("answers"))})
        elif "raw" in step:
            self.write(step["raw"])
        elif "wait_file" in step:
            deadline = time.monotonic() + WAIT_S
            while not os.path.exists(step["wait_file"]) and time.monotonic() < deadline:  # noqa: PTH110
                time.sleep(0.005)
        elif "die" in step:
            sys.exit(step["die"])

    def tool(self, name: str, step: Json) -> None:
        given = step.get("input", {})
        self.write({"call": name, "tool": step["tool"], "input": given})
        if step.get("ask"):
            asked = {"ask": f"{name}-ask", "call": name, "tool": step["tool"], "input": given}
            self.write({**asked, "offers": step.get("offers", [])})
            answer = self.until_answered("decide", f"{name}-ask")
            given = answer.get("input", given)
            if not answer.get("allow"):
                self.write({"call": name, "result": "not allowed", "status": "denied"})
                return
        result = step.get("result", f"ran {step['tool']} {json.dumps(given)}")
        self.write({"call": name, "result": result, "status": "ok"})

    def until_answered(self, kind: str, name: str) -> Json:
        while not self.stopped:
            message = self.read()
            if message is None:
                sys.exit(0)
            if message.get(kind) == name:
                self.write({"got": message["key"]})
                return message
            if "say" in message:
                self.waiting.append(message)
            else:
                self.control(message)
        self.write({"withdrawn": name})
        return {}


if __name__ == "__main__":
    if "--version" in sys.argv:
        sys.stdout.write(f"courier {VERSION}\n")
    else:
        Courier().run()
