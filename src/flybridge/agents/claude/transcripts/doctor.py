"""Would this transcript resume? What is wrong with it, what that does, and the lines put right.

What each fault does was tried on the real programs, 2.1.38 and 2.1.325: a transcript of theirs
was broken in that way and resumed, and what the model was then told was compared. A version
that was not tried is not known.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from flybridge.agents.claude.transcripts.tree import Tree
from flybridge.agents.claude.wire import transcript as t
from flybridge.agents.claude.wire.decode import CUT
from flybridge.agents.history import EFFECTS, IN_USE, Effect, Finding, worst
from flybridge.wire.lines import CutLine

OLD, NEW = "2.1.38", "2.1.325"
MAX_FINDINGS = 100
MAX_ROUNDS = 100
HEAD_CHARS = 60
PARALLEL_CALLS = "parallel_calls"


class Repaired(msgspec.Struct, frozen=True, kw_only=True):
    """``lines`` put right; ``done`` says how. Nothing to do: ``done`` is empty."""

    lines: tuple[bytes, ...]
    done: tuple[str, ...] = ()


def _effect(old: Effect, new: Effect) -> dict[str, Effect]:
    return {OLD: old, NEW: new}


# ---- what is wrong -------------------------------------------------------------------------------


def diagnose(lines: Sequence[bytes], *, ended: bool = True, folder: str = "") -> list[Finding]:
    """Every fault in these lines, the worst first.

    ``ended``: the last line had its newline. ``folder``: the project folder the file is in.
    """
    tree = Tree(lines)
    found = _nothing(tree) or [
        *_flaws(tree, lines, ended),
        *_links(tree),
        *_bodies(tree),
        *_twice(tree, lines),
        *_tools(tree),
        *_ends(tree),
    ]
    found += _place(tree, folder)
    return sorted(found, key=lambda one: EFFECTS.index(worst([one])))[:MAX_FINDINGS]


def _nothing(tree: Tree) -> list[Finding]:
    """Nobody said anything: there is nothing else to look at."""
    if tree.lines == 0:
        return [
            Finding(
                code="empty",
                text="The file is empty; its id can neither be resumed nor used again.",
                effect=_effect("stops", "stops"),
            )
        ]
    if any(node.type in t.SAID for node in tree.nodes):
        return []
    kept = f" It was: {tree.queued[0][:HEAD_CHARS]!r}." if tree.queued else ""
    return [
        Finding(
            code="no_user_line",
            text="Nothing was said in it: the agent was killed in its first answer, before it "
            f"wrote the prompt down.{kept} Start a new session and say it again.",
            effect=_effect("stops", "forgets" if tree.nodes else "stops"),
        )
    ]


def _flaws(tree: Tree, lines: Sequence[bytes], ended: bool) -> list[Finding]:
    found = []
    for flaw in tree.flaws:
        last = flaw.number == tree.lines
        if t.unglue(lines[flaw.number - 1]):
            found.append(
                Finding(
                    code="glued_lines",
                    text=f"Line {flaw.number} holds more than one: a newline is missing.",
                    effect=_effect("forgets", "harmless"),
                    line=flaw.number,
                    repair="write each on a line of its own",
                )
            )
        elif last and not ended:
            found.append(
                Finding(
                    code="cut_last_line",
                    text=f"The last line, {flaw.number}, breaks off: what it said is lost.",
                    effect=_effect("harmless", "harmless"),
                    line=flaw.number,
                    repair="leave it out",
                )
            )
        else:
            found.append(
                Finding(
                    code="not_json",
                    text=f"Line {flaw.number} cannot be read ({flaw.reason}).",
                    effect=_effect("harmless", "harmless"),
                    line=flaw.number,
                    repair="" if flaw.reason == CUT else "leave it out",
                )
            )
    if not ended and not (tree.flaws and tree.flaws[-1].number == tree.lines):
        found.append(
            Finding(
                code="no_last_newline",
                text="The last line has no newline: what comes next is written into it, and both "
                "are lost.",
                effect=_effect("forgets", "harmless"),
                line=tree.lines,
                repair="add the newline",
            )
        )
    return found


def _links(tree: Tree) -> list[Finding]:
    found = [
        Finding(
            code="missing_parent",
            text=f"Line {tree.numbers[at]} hangs on a line that is not there: everything before "
            "it may be forgotten.",
            effect=_effect("forgets", "harmless"),
            line=tree.numbers[at],
            repair="hang it on the line before",
        )
        for at in range(len(tree.nodes))
        if tree.is_orphan(at)
    ]
    return found + [
        Finding(
            code="loop",
            text=f"Line {tree.numbers[at]} hangs on itself, or on one that hangs on it.",
            effect=_effect("forgets", "harmless"),
            line=tree.numbers[at],
            repair="hang it on the line before",
        )
        for at in tree.loops()
    ]


def _bodies(tree: Tree) -> list[Finding]:
    return [
        Finding(
            code="no_message",
            text=f"Line {tree.numbers[at]} is by the {node.type} but holds no message.",
            effect=_effect("stops", "harmless"),
            line=tree.numbers[at],
            repair="leave it out, and hang what follows on the line it hung on",
        )
        for at, node in enumerate(tree.nodes)
        if node.type in t.SAID and t.body(node) is None
    ]


def _twice(tree: Tree, lines: Sequence[bytes]) -> list[Finding]:
    found = []
    for one in tree.twice:
        same = lines[one.number - 1] == lines[one.first - 1]
        found.append(
            Finding(
                code="duplicate_uuid",
                text=f"Line {one.number} repeats line {one.first}."
                if same
                else f"Line {one.number} has the uuid of line {one.first}, which is forgotten.",
                effect=_effect("harmless", "harmless") if same else _effect("forgets", "forgets"),
                line=one.number,
                repair="leave the repetition out" if same else "",
            )
        )
    return found


def _tools(tree: Tree) -> list[Finding]:
    found = [
        Finding(
            code="open_call",
            text=f"The call {tool} in line {line} has no result: the agent was killed meanwhile. "
            "Nobody knows how far it came.",
            effect=_effect("forgets", "harmless" if last else "forgets"),
            line=line,
        )
        for line, tool, last in tree.unanswered()
    ]
    found += [
        Finding(
            code="result_without_call",
            text=f"Line {line} is the result of {tool}, and no such call was made.",
            effect=_effect("forgets", "forgets"),
            line=line,
        )
        for line, tool in tree.uncalled()
    ]
    if beside := tree.beside():
        found.append(
            Finding(
                code=PARALLEL_CALLS,
                text=f"{beside} calls ran beside others; {OLD} forgets those when it resumes.",
                effect=_effect("forgets", "harmless"),
            )
        )
    return found


def _ends(tree: Tree) -> list[Finding]:
    found = []
    if branches := tree.branches():
        kept = tree.leaf.uuid if tree.leaf else ""
        others = "; ".join(f"{one.leaf} ({one.lost} lines, {one.head!r})" for one in branches[:5])
        found.append(
            Finding(
                code="two_ends",
                text=f"The conversation has {len(branches) + 1} ends: two programs wrote to it, or "
                f"somebody went back. {NEW} goes on from {kept}, {OLD} from the newest by the "
                f"clock. The others are not seen any more: {others}.",
                effect=_effect("forgets", "forgets"),
            )
        )
    if after := tree.after_newest():
        found.append(
            Finding(
                code="clock",
                text=f"{after} lines were written after the one with the newest time; {OLD} "
                "forgets them.",
                effect=_effect("forgets", "harmless"),
            )
        )
    if prompt := tree.unheard():
        found.append(
            Finding(
                code="no_answer",
                text=f"The last prompt, {prompt[:HEAD_CHARS]!r}, has no answer: the agent ended "
                "first. It is told that none was wanted; say it again.",
                effect=_effect("harmless", "harmless"),
            )
        )
    return found


def _place(tree: Tree, folder: str) -> list[Finding]:
    places = list(dict.fromkeys(node.cwd for node in tree.nodes if node.cwd))
    if not folder or not places or any(t.is_folder_of(folder, cwd) for cwd in places):
        return []
    return [
        Finding(
            code="wrong_folder",
            text=f"It is about {places[0]}, but not in the folder of that directory "
            f"({t.folder_for(places[0])}): {OLD} finds it from no directory of its own.",
            effect=_effect("stops", "harmless"),
        )
    ]


def in_use(pids: Sequence[int]) -> list[Finding]:
    """Somebody else works on it: nothing keeps a second program from writing to it too."""
    if not pids:
        return []
    names = ", ".join(map(str, pids[:5]))
    return [
        Finding(
            code=IN_USE,
            text=f"It is open in process {names}; two that go on with it at once make two ends.",
            effect=_effect("forgets", "forgets"),
        )
    ]


# ---- put right -----------------------------------------------------------------------------------


def repair(lines: Sequence[bytes], *, ended: bool = True) -> Repaired:
    """The same lines with every fault put right that can be without guessing.

    Lines are left out only if nobody can read them or they are there twice; the caller keeps
    a backup. What is right stays byte for byte. A line too long to be here whole stops it:
    what is not here cannot be written again.
    """
    if any(isinstance(line, CutLine) for line in lines):
        return Repaired(lines=tuple(lines))
    done: list[str] = []
    if not ended and lines:
        done.append("ended the last line")
    kept = _readable(lines, done)
    kept = _once(kept, done)
    kept = _speaking(kept, done)
    kept = _linked(kept, done)
    return Repaired(lines=tuple(kept), done=tuple(done))


def _readable(lines: Sequence[bytes], done: list[str]) -> list[bytes]:
    kept: list[bytes] = []
    for number, line in enumerate(lines, 1):
        found = t.read_line(line)
        if not isinstance(found, t.Odd):
            kept.append(line)
        elif apart := t.unglue(line):
            kept += apart
            done.append(f"took line {number} apart into {len(apart)}")
        else:
            done.append(f"left out line {number}: {found.reason}")
    return kept


def _once(lines: Sequence[bytes], done: list[str]) -> list[bytes]:
    seen: set[bytes] = set()
    kept: list[bytes] = []
    for line in lines:
        node = t.read_line(line)
        if isinstance(node, t.Node) and not node.is_sidechain:
            if line in seen:
                done.append(f"left out a repetition of {node.uuid}")
                continue
            seen.add(line)
        kept.append(line)
    return kept


def _speaking(lines: Sequence[bytes], done: list[str]) -> list[bytes]:
    """Without the lines that hold no message; what hung on them hangs one higher."""
    mute: dict[str, str | None] = {}
    nodes = [t.read_line(line) for line in lines]
    for node in nodes:
        if isinstance(node, t.Node) and node.type in t.SAID and t.body(node) is None:
            mute[node.uuid] = node.parent
            done.append(f"left out {node.uuid}: it holds no message")
    kept: list[bytes] = []
    for node, line in zip(nodes, lines, strict=True):
        if not isinstance(node, t.Node):
            kept.append(line)
        elif node.uuid not in mute or t.body(node) is not None:
            above = _above(node.parent, mute)
            kept.append(line if above == node.parent else t.with_parent(line, above))
    return kept


def _above(parent: str | None, mute: dict[str, str | None]) -> str | None:
    for _ in range(len(mute)):
        if parent not in mute:
            break
        parent = mute[parent]
    return parent


def _linked(lines: Sequence[bytes], done: list[str]) -> list[bytes]:
    """With a parent for every line. Each round breaks every ring there is, at its first line."""
    kept = list(lines)
    for _ in range(MAX_ROUNDS):
        tree = Tree(kept)
        wrong = {at for at in range(len(tree.nodes)) if tree.is_orphan(at)} | set(tree.loops())
        for at in sorted(wrong):
            before = tree.nodes[at - 1].uuid if at else None
            number = tree.numbers[at]
            kept[number - 1] = t.with_parent(kept[number - 1], before)
            done.append(f"hung {tree.nodes[at].uuid} on {before or 'nothing'}")
        if not wrong:
            break
    return kept
