"""The tree in a transcript: which line hangs on which, and which way through it counts.

Nothing about the lines is taken for granted. A parent that is not there, or that comes round
to its own child, is passed over to the line before, as newer versions of the CLI do.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from flybridge.agents.claude.driver.convert.words import INTERRUPTED
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire import transcript as t
from flybridge.agents.claude.wire.decode import block

HEAD_CHARS = 60
NO_PROMPT = ("<", INTERRUPTED)  # commands and notifications, and the end of a turn


class Flaw(msgspec.Struct, frozen=True):
    """A line that cannot be used as it is; ``number`` counts from 1."""

    number: int
    reason: str


class Twice(msgspec.Struct, frozen=True):
    """A uuid that a second line uses."""

    number: int
    first: int
    uuid: str


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """An end of the tree that the conversation does not go to; ``lost`` lines lead there."""

    leaf: str
    at: str
    lost: int
    head: str  # its last words


class Tree:
    """All lines of one transcript; subagents' lines in the same file are left out.

    ``nodes`` are in the order of the file, ``numbers`` their line numbers. Of two lines with
    one uuid the last counts, in the place of the first: so it does for the CLI.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.nodes: list[t.Node] = []
        self.numbers: list[int] = []
        self.flaws: list[Flaw] = []
        self.twice: list[Twice] = []
        self.titles: list[t.Title] = []
        self.queued: list[str] = []
        self.lines = 0
        self._index: dict[str, int] = {}
        self._last_prompt = ""
        for number, line in enumerate(lines, 1):
            self.lines = number
            self._take(number, t.read_line(line))
        self._calls, self._results, self._mates = self._tools()
        self._up = [self._parent(at) for at in range(len(self.nodes))]
        self._tips = self._find_tips()
        self.leaf = self._find_leaf()
        self._direct = self._chain(self._index[self.leaf.uuid]) if self.leaf else []
        self._belonging = self._with_mates(self._direct)

    # ---- lines ---------------------------------------------------------------------------------

    def _take(self, number: int, line: t.Line) -> None:
        match line:
            case t.Node():
                if not line.is_sidechain:
                    self._add(number, line)
            case t.Odd(reason=reason):
                self.flaws.append(Flaw(number, reason))
            case t.Title():
                self.titles.append(line)
            case t.LastPrompt(leaf=leaf):
                self._last_prompt = leaf
            case t.Queued(operation="enqueue", text=said) if said:
                self.queued.append(said)
            case _:
                pass

    def _add(self, number: int, node: t.Node) -> None:
        known = self._index.get(node.uuid)
        if known is not None:
            self.twice.append(Twice(number, self.numbers[known], node.uuid))
            self.nodes[known], self.numbers[known] = node, number
            return
        self._index[node.uuid] = len(self.nodes)
        self.nodes.append(node)
        self.numbers.append(number)

    def _tools(self) -> tuple[dict[str, int], dict[str, list[int]], dict[str, list[int]]]:
        """Where each call stands, where its results stand, and which lines are one message."""
        calls: dict[str, int] = {}
        results: dict[str, list[int]] = {}
        mates: dict[str, list[int]] = {}
        for at, node in enumerate(self.nodes):
            message = t.body(node)
            if message is None:
                continue
            if node.type == "assistant" and message.id:
                mates.setdefault(message.id, []).append(at)
            for raw in t.parts(message.content):
                match block(raw):
                    case w.ToolUseBlock(id=tool):
                        calls[tool] = at
                    case w.ToolResultBlock(tool_use_id=tool):
                        results.setdefault(tool, []).append(at)
                    case _:
                        pass
        return calls, results, mates

    # ---- links ---------------------------------------------------------------------------------

    def _parent(self, at: int) -> int | None:
        node = self.nodes[at]
        name = node.parent or node.logical_parent
        found = self._index.get(name) if name else None
        if found is None and name and at and node.parent:
            return at - 1
        return found if found != at else (at - 1 if at else None)

    def is_orphan(self, at: int) -> bool:
        """Whether a line names a parent that is not there."""
        parent = self.nodes[at].parent
        return bool(parent) and parent not in self._index

    def loops(self) -> list[int]:
        """The first line of every ring of lines that hang on each other."""
        state = [0] * len(self.nodes)  # 0: not seen, 1: on this way, 2: done with
        found: list[int] = []
        for start in range(len(self.nodes)):
            path: list[int] = []
            here: int | None = start
            while here is not None and state[here] == 0:
                state[here] = 1
                path.append(here)
                here = self._index.get(self.nodes[here].parent or "")
            if here is not None and state[here] == 1:
                found.append(min(path[path.index(here) :]))
            for at in path:
                state[at] = 2
        return found

    def _chain(self, leaf: int) -> list[int]:
        """From a leaf to the root; where it would go round, on with the line before."""
        chain: list[int] = []
        seen: set[int] = set()
        here: int | None = leaf
        while here is not None and here not in seen:
            seen.add(here)
            chain.append(here)
            up = self._up[here]
            if up in seen:
                up = here - 1 if here and here - 1 not in seen else None
            here = up
        return chain

    def _find_tips(self) -> list[int]:
        """Lines that say something and that nothing which says something hangs on."""
        above: set[int] = set()
        tips: list[int] = []
        for at in range(len(self.nodes) - 1, -1, -1):
            speaks = self.nodes[at].type in t.SAID
            if speaks and at not in above:
                tips.append(at)
            up = self._up[at]
            if up is not None and (speaks or at in above):
                above.add(up)
        return tips[::-1]

    def _find_leaf(self) -> t.Node | None:
        """Newer versions say where they were; else it is the end written last."""
        named = self._index.get(self._last_prompt)
        if named is not None:
            below = self._below(named)
            reach = [tip for tip in self._tips if tip in below]
            if reach:
                return self.nodes[reach[-1]]
            above = [at for at in self._chain(named) if self.nodes[at].type in t.SAID]
            if above:
                return self.nodes[above[0]]
        return self.nodes[self._tips[-1]] if self._tips else None

    def _below(self, top: int) -> set[int]:
        """A line and everything that hangs on it."""
        children: dict[int, list[int]] = {}
        for at, up in enumerate(self._up):
            if up is not None:
                children.setdefault(up, []).append(at)
        found: set[int] = set()
        left = [top]
        while left:
            at = left.pop()
            if at not in found:
                found.add(at)
                left += children.get(at, ())
        return found

    # ---- the conversation ------------------------------------------------------------------------

    def way(self) -> list[t.Node]:
        """The lines of the conversation, in the order they were written."""
        return [self.nodes[at] for at in sorted(self._belonging)]

    def _with_mates(self, chain: list[int]) -> set[int]:
        """A way, and the calls beside it that are of one message with a line on it."""
        found = set(chain)
        for at in chain:
            message = t.body(self.nodes[at])
            if message and message.id and self.nodes[at].type == "assistant":
                found.update(self._mates[message.id])
        for tool, at in self._calls.items():
            if at in found:
                found.update(self._results.get(tool, ()))
        return found

    def branches(self) -> list[Branch]:
        """Other ends with words of a person or of the agent on the way to them."""
        found: list[Branch] = []
        told: set[int] = set()
        for tip in reversed(self._tips):
            lost: list[int] = []
            here: int | None = tip
            while here is not None and here not in self._belonging and here not in told:
                told.add(here)
                lost.append(here)
                here = self._up[here]
            words = [said for at in lost for said in self._words(at)]
            if words:
                node = self.nodes[tip]
                found.append(
                    Branch(
                        leaf=node.uuid,
                        at=node.timestamp or "",
                        lost=len(lost),
                        head=words[0][:HEAD_CHARS],
                    )
                )
        return found[::-1]

    def _words(self, at: int) -> list[str]:
        node = self.nodes[at]
        if node.is_meta:
            return []
        return [said for who, said in t.texts(node) if who in t.SAID]

    # ---- what a version makes of it --------------------------------------------------------------

    def unanswered(self) -> list[tuple[int, str, bool]]:
        """Calls of the conversation that have no result: (line number, tool id, at its end)."""
        last = self._last_message()
        return [
            (self.numbers[at], tool, at in last)
            for tool, at in self._calls.items()
            if at in self._belonging and tool not in self._results
        ]

    def _last_message(self) -> list[int]:
        """The lines of the agent's message that the conversation ends with, if it does."""
        returns = {at for places in self._results.values() for at in places}
        for at in sorted(self._belonging, reverse=True):
            message = t.body(self.nodes[at])
            if message is None or at in returns:
                continue
            is_agents = self.nodes[at].type == "assistant"
            return self._mates.get(message.id or "", []) if is_agents else []
        return []

    def unheard(self) -> str:
        """The prompt that the conversation ends with, if it does: nobody has answered it."""
        for at in sorted(self._belonging, reverse=True):
            if self.nodes[at].type in t.SAID and not self.nodes[at].is_meta:
                words = self._words(at) if self.nodes[at].type == "user" else []
                return "" if not words or words[0].startswith(NO_PROMPT) else words[0]
        return ""

    def uncalled(self) -> list[tuple[int, str]]:
        """Results in the conversation that no call asked for: (line number, tool id)."""
        return [
            (self.numbers[at], tool)
            for tool, places in self._results.items()
            for at in places
            if at in self._belonging and tool not in self._calls
        ]

    def beside(self) -> int:
        """How many calls are not on the direct way, or their results: older versions forget those.

        A call without any result is another matter.
        """
        direct = set(self._direct)
        return sum(
            at in self._belonging
            and tool in self._results
            and not (at in direct and direct.intersection(self._results[tool]))
            for tool, at in self._calls.items()
        )

    def after_newest(self) -> int:
        """How many lines follow the one of the newest time, which older versions take for the last.

        0 also when that line is on another branch.
        """
        said = [at for at in self._direct if self.nodes[at].type in t.SAID]
        everywhere = [at for at, node in enumerate(self.nodes) if node.type in t.SAID]
        newest = max(everywhere, key=lambda at: self.nodes[at].timestamp or "", default=-1)
        return said.index(newest) if newest in said else 0
