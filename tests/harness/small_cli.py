"""A small Claude Code: as much of 2.1.325 as the probes look at, and one fault at a time.

Run as a program, in an environment that the probes made: so its faults are words before the
arguments of the real one, ``small_cli.py runs-twice -- --verbose ...``.
"""

from __future__ import annotations

import difflib
import http.client
import json
import os
import queue
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

VERSION = "2.1.325 (Claude Code)"
MODEL = "small"
WAIT_S = 20.0
CONTEXT = "## Context Usage\nalmost nothing"
Json = dict[str, Any]


class Interrupted(Exception):  # noqa: N818
    pass


class Refused(Exception):  # noqa: N818
    pass


class Cli:
    def __init__(self, faults: set[str], arguments: list[str]) -> None:
        self.faults = faults
        self.arguments = arguments
        self.inbox: queue.Queue[Json] = queue.Queue(1000)
        self.waiting: list[Json] = []
        self.answers: dict[str, Json] = {}
        self.cancelled: list[str] = []
        self.mode, self.model = self.value("--permission-mode") or "default", MODEL
        self.turn_runs = self.interrupted = self.over = False
        self.session = self.value("--resume") or self.value("--session-id") or str(uuid.uuid4())
        self.history: list[Json] = []
        self.seen: list[str] = []

    def value(self, flag: str) -> str:
        words = self.arguments
        return words[words.index(flag) + 1] if flag in words else ""

    # ---- its life --------------------------------------------------------------------------------

    def run(self) -> int:
        if "--resume" in self.arguments and not self.load():
            return 1
        threading.Thread(target=self.read, daemon=True).start()
        while not self.over or self.waiting:
            if self.waiting:
                self.take(self.waiting.pop(0))
            else:
                self.hear(self.inbox.get())
        self.file(self.session).write_text(json.dumps([self.history, self.seen]))
        return 3 if "exits-3" in self.faults else 0

    def file(self, session: str) -> Path:
        folder = Path(os.environ["CLAUDE_CONFIG_DIR"])
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{session}.json"

    def load(self) -> bool:
        if not self.file(self.session).exists():
            said = f"No conversation found with session ID: {self.session}"
            said = "Gone with the wind" if "other-words" in self.faults else said
            self.result("error_during_execution", errors=[said], is_error=True)
            return False
        self.history, self.seen = json.loads(self.file(self.session).read_text())
        if "forgets" in self.faults:
            self.history = []
        if "--fork-session" in self.arguments and "keeps-id" not in self.faults:
            self.session = self.value("--session-id")
        return True

    def read(self) -> None:
        for line in sys.stdin:
            self.inbox.put(json.loads(line))
        self.inbox.put({"type": "end"})

    def hear(self, message: Json) -> None:
        match message["type"]:
            case "user":
                self.waiting.append(message)
                self.lifecycle(message, "queued")
            case "control_request":
                self.obey(message["request_id"], message["request"])
            case "control_response":
                self.answers[message["response"]["request_id"]] = message["response"]["response"]
            case "end":
                self.over = True
            case "thread":
                message["into"].append(message["what"])

    def until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WAIT_S
        while not is_so():
            try:
                self.hear(self.inbox.get(timeout=0.02))
            except queue.Empty:
                assert time.monotonic() < deadline
            if self.interrupted:
                raise Interrupted

    # ---- what it says ----------------------------------------------------------------------------

    def say(self, kind: str, **fields: Any) -> None:
        stamp = {"session_id": self.session, "uuid": str(uuid.uuid4())}
        stamp = {} if kind.startswith("control") else stamp
        new = {"weather": "fair"} if "new-field" in self.faults and kind == "result" else {}
        sys.stdout.write(json.dumps({"type": kind, **stamp, **fields, **new}) + "\n")
        sys.stdout.flush()

    def is_hidden(self, message: Json) -> bool:
        """Whether nothing tells that this input runs: neither its echo nor its life cycle."""
        local = str(message["message"]["content"][0]["text"]).startswith("/")
        return "no-echo" in self.faults or ("endless-slash" in self.faults and local)

    def lifecycle(self, message: Json, state: str) -> None:
        if (state == "queued" and "endless-slash" in self.faults) or not self.is_hidden(message):
            self.say("command_lifecycle", command_uuid=message["uuid"], state=state)

    def result(self, subtype: str = "success", **more: Any) -> None:
        usage = {"input_tokens": 10, "output_tokens": 2}
        known = {"modelUsage": {MODEL: {"contextWindow": 1000}}, "total_cost_usd": self.cost()}
        if "no-cost" in self.faults:
            known = {}
        if "no-usage" in self.faults:
            usage = {}
        fields = {"subtype": subtype, "is_error": False, "result": "", "usage": usage}
        self.say("result", **fields | known | more)

    def cost(self) -> float:
        return 0.25 * len([one for one in self.history if one["role"] == "assistant"])

    def user(self, content: Any, parent: str = "", **more: Any) -> None:
        body = {"role": "user", "content": content}
        self.say("user", message=body, parent_tool_use_id=parent or None, **more)

    def assistant(self, block: Json, name: str, parent: str = "", **more: Any) -> None:
        if block["type"] == "text" and "other-text" in self.faults:
            block = {**block, "text": "something else"}
        usage = {"input_tokens": 10, "output_tokens": 1}
        model = more.pop("model", MODEL)
        body = {"id": name, "role": "assistant", "model": model, "content": [block]}
        body = {**body, "type": "message", "usage": usage}
        self.say("assistant", message=body, parent_tool_use_id=parent or None, **more)

    # ---- requests --------------------------------------------------------------------------------

    def obey(self, name: str, request: Json) -> None:
        try:
            done = getattr(self, f"do_{request['subtype']}", self.unknown)(request)
            body = {"subtype": "success", "request_id": name, "response": done}
        except Refused as error:
            body = {"subtype": "error", "request_id": name, "error": str(error)}
        if body.get("error") != "silence":
            self.say("control_response", response=body)

    def unknown(self, request: Json) -> Json:
        asked = ["get_context_usage", "get_usage", "list_models", "get_settings", "get_plan"]
        if request["subtype"] in ["mcp_status", *([] if "knows-less" in self.faults else asked)]:
            return {}
        raise Refused("silence" if "no-unknown" in self.faults else "unsupported")

    def do_initialize(self, request: Json) -> Json:
        return {
            "commands": [],
            "models": [],
            **({} if "no-agents" in self.faults else {"agents": []}),
        }

    def do_set_model(self, request: Json) -> Json:
        if "deaf" in self.faults:
            return {}
        self.model = request.get("model", MODEL)
        return {"model": self.model}

    def do_set_permission_mode(self, request: Json) -> Json:
        if "refuses-mode" in self.faults:
            raise Refused("no such mode")
        self.mode = request["mode"]
        return {"mode": self.mode}

    def do_interrupt(self, request: Json) -> Json:
        if "not-stopped" in self.faults:
            raise Refused("not now")
        self.interrupted = self.turn_runs
        gone: list[str] = []
        if "keeps-queue" not in self.faults:
            gone = [one["uuid"] for one in self.waiting]
            self.waiting.clear()
        return {"still_queued": [], "cancelled": gone}

    # ---- turns -----------------------------------------------------------------------------------

    def take(self, message: Json) -> None:
        if message["uuid"] in self.seen and "runs-twice" not in self.faults:
            self.echo(message)
            return
        self.seen.append(message["uuid"])
        self.lifecycle(message, "started")
        tools = [] if "no-task" in self.faults else ["Task"]
        known = {"model": self.model, "permissionMode": self.mode, "tools": tools}
        self.say("system", subtype="init", cwd=str(Path.cwd()), **known)
        if "new-message" in self.faults:
            self.say("weather", wind=3)
        self.echo(message)
        self.turn_runs, self.interrupted = True, False
        try:
            self.turn(message["message"]["content"])
        except Interrupted:
            self.history.append({"role": "assistant", "content": [{"type": "text", "text": "-"}]})
            more = {"errors": [], "is_error": True, "terminal_reason": "aborted_streaming"}
            self.result("error_during_execution", **more)
        except Refused as error:
            self.assistant({"type": "text", "text": str(error)}, "msg_e", error=str(error))
            self.result(is_error="plain-error" not in self.faults, result=str(error))
        self.turn_runs = self.interrupted = False

    def echo(self, message: Json) -> None:
        if not self.is_hidden(message):
            body = {"message": message["message"], "parent_tool_use_id": None, "isReplay": True}
            self.say("user", **body | {"uuid": message["uuid"]})

    def turn(self, content: list[Json]) -> None:
        if content[0]["text"].startswith("/"):
            self.slash()
            return
        self.history.append({"role": "user", "content": content})
        said = self.converse(self.history, "")
        self.result(result=said)

    def slash(self) -> None:
        block = {"type": "text", "text": CONTEXT}
        if "no-slash" in self.faults:
            block["text"] = "what?"
        if "user-slash" in self.faults:
            tagged = f"<local-command-stdout>{CONTEXT}</local-command-stdout>"
            self.user(tagged, isReplay=True)
        else:
            self.assistant(block, "msg_s", model="<synthetic>", local_command_source="context")
        self.result(result=block["text"])

    def converse(self, history: list[Json], parent: str) -> str:
        """Ask the model until it wants no more tools; what it said last."""
        while True:
            blocks = self.ask(history, parent)
            history.append({"role": "assistant", "content": blocks})
            calls = [one for one in blocks if one["type"] == "tool_use"]
            if not calls:
                return "".join(one.get("text", "") for one in blocks)
            results = self.use(calls, parent)
            if not parent and "own-turn" not in self.faults:
                for message in self.waiting:
                    self.lifecycle(message, "started")
                    self.echo(message)
                    self.seen.append(message["uuid"])
                    results += message["message"]["content"]
                self.waiting.clear()
            history.append({"role": "user", "content": results})

    def ask(self, history: list[Json], parent: str) -> list[Json]:
        """One request; its events are said as they come."""
        came: list[Json | int | None] = []
        body = {"model": self.model, "stream": True, "messages": history, "tools": [{}]}
        threading.Thread(target=self.request, args=(body, came), daemon=True).start()
        blocks: list[Json] = []
        name, at = "", 0
        while True:
            self.until(lambda: len(came) > at)  # noqa: B023
            event, at = came[at], at + 1
            if event is None:
                return blocks
            if isinstance(event, int):
                raise Refused("authentication_failed")
            name = name or event.get("message", {}).get("id", "")
            if not parent and "no-stream" not in self.faults and event["type"] != "ping":
                self.say("stream_event", event=event, parent_tool_use_id=None)
            if _built(blocks, event):
                self.assistant(blocks[-1], name, parent)

    def request(self, body: Json, came: list[Any]) -> None:
        where = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
        api = http.client.HTTPConnection(str(where.hostname), where.port, timeout=WAIT_S)
        api.request("POST", "/v1/messages", json.dumps(body), {"content-type": "application/json"})
        answer = api.getresponse()

        def put(what: object) -> None:
            self.inbox.put({"type": "thread", "into": came, "what": what})

        if answer.status != 200:
            put(answer.status)
            return
        for line in answer:
            if line.startswith(b"data: "):
                put(json.loads(line[6:]))
        put(None)

    # ---- tools -----------------------------------------------------------------------------------

    def use(self, calls: list[Json], parent: str) -> list[Json]:
        asked = {one["id"]: "" for one in calls}
        results = []
        if "one-by-one" not in self.faults:
            asked = {one["id"]: self.may(one, parent) for one in calls}
        for call in calls:
            request = asked[call["id"]] or self.may(call, parent)
            results.append(self.use_one(call, request, parent))
        return results

    def may(self, call: Json, parent: str) -> str:
        """Ask for permission; the request to wait for."""
        free = self.mode == "acceptEdits" and call["name"] in ("Write", "Edit")
        if free or call["name"] == "Task" or "asks-nobody" in self.faults:
            return "nobody"
        name = str(uuid.uuid4())
        request = {"subtype": "can_use_tool", "tool_name": call["name"], "input": call["input"]}
        request = {**request, "tool_use_id": call["id"]}
        self.say("control_request", request_id=name, request=request)
        return name

    def use_one(self, call: Json, request: str, parent: str) -> Json:
        given: Json = call["input"]
        detail: Json = {}
        text, denied = "", False
        if request != "nobody":
            try:
                self.until(lambda: request in self.answers)
            except Interrupted:
                if "no-cancel" not in self.faults:
                    self.say("control_cancel_request", request_id=request)
                raise
            answer = self.answers[request]
            denied = answer["behavior"] == "deny"
            given = given if "ignores-edit" in self.faults else answer.get("updatedInput", given)
            text = "no" if "says-no" in self.faults else answer.get("message", "")
        if not denied or "runs-denied" in self.faults:
            text, detail = self.do(call, given)
        block = {"type": "tool_result", "tool_use_id": call["id"], "content": text}
        block["is_error"] = denied
        self.user([block], parent, **({"tool_use_result": detail} if detail else {}))
        return block

    def do(self, call: Json, given: Json) -> tuple[str, Json]:
        match call["name"]:
            case "Bash":
                process = subprocess.Popen(["sh", "-c", given["command"]])
                self.until(lambda: process.poll() is not None)
                return "", {"stdout": "", "stderr": ""}
            case "Read":
                return Path(given["file_path"]).read_text(), {}
            case "AskUserQuestion":
                mark = "; " if "other-mark" in self.faults else ", "
                told = {q: a.replace(", ", mark) for q, a in given["answers"].items()}
                return "; ".join(f'"{q}"="{a}"' for q, a in told.items()), {}
            case "ExitPlanMode":
                self.mode = "plan" if "stays-in-plan" in self.faults else "default"
                return "", {}
            case "Write" | "Edit":
                return "", self.write(call["name"], given)
            case _:
                prompt = [{"role": "user", "content": given["prompt"]}]
                below = "" if "stands-alone" in self.faults else call["id"]
                return self.converse(prompt, below), {}

    def write(self, tool: str, given: Json) -> Json:
        path = Path(given["file_path"])
        old = path.read_text() if path.exists() else ""
        new = given.get("content") or old.replace(given["old_string"], given["new_string"])
        path.write_text(new)
        if "no-patch" in self.faults:
            return {"filePath": str(path)}
        lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm=""))[3:]
        part = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": lines}
        kind = {"type": "create"} if tool == "Write" else {}
        return {**kind, "filePath": str(path), "structuredPatch": [part], "originalFile": old}


def _built(blocks: list[Json], event: Json) -> bool:
    """Put an event into the blocks it belongs to; whether the last one is complete now."""
    if event["type"] == "content_block_start":
        blocks.append({**event["content_block"], "partial": ""})
    elif event["type"] == "content_block_delta":
        delta = event["delta"]
        blocks[-1]["partial"] += delta.get("text", "") + delta.get("partial_json", "")
    elif event["type"] == "content_block_stop":
        whole = blocks[-1].pop("partial")
        if blocks[-1]["type"] == "text":
            blocks[-1]["text"] = whole
        else:
            blocks[-1]["input"] = json.loads(whole or "{}")
        return True
    return False


def main(words: list[str]) -> int:
    cut = words.index("--") if "--" in words else 0
    faults, arguments = set(words[:cut]), words[cut + 1 :]
    if arguments == ["--version"]:
        sys.stdout.write("9.8.7\n" if "newer" in faults else f"{VERSION}\n")
        return 0
    if "does-not-start" in faults:
        sys.stderr.write("error: unknown option '--replay-user-messages'\n")
        return 1
    return Cli(faults, arguments).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
