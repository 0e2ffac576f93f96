"""The abuse cases of the threat model, by number, and which tests try them.

A test says which cases it tries by its name (``test_abuse_26_…``; below tests/abuse
``test_26_…`` will do), by ``@pytest.mark.abuse(26, 31)``, or in its docstring: "Abuse case 26."
``python -m tests.abuse.cases`` prints the table.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CASES = {
    1: "a page of another site opens a WebSocket",
    2: "a rebound name",
    3: "names that look like ours",
    4: "origins that look like ours",
    5: "a form posts to us",
    6: "an image or script gets something from us",
    7: "the page is framed",
    8: "an address that others reach, without TLS",
    9: "somebody else has our port",
    10: "forged words of a proxy",
    11: "requests that two readers read differently",
    12: "WebSocket frames against the rules",
    13: "an address of the page that names another gateway",
    14: "credentials that are none",
    15: "a token in an address",
    16: "guessing",
    17: "sockets that never say who they are",
    18: "something said before that",
    19: "a token that was revoked",
    20: "a password that was changed",
    21: "claims to be somebody",
    22: "a login that was chosen by somebody else",
    23: "files that others can read or replace",
    24: "secrets where they can be read",
    25: "a pairing code used twice",
    26: "an agent that approves for itself",
    27: "an agent's own connection used as a person's",
    28: "a stranger in an agent's place",
    29: "an agent with a person's cookie",
    30: "text that says yes",
    31: "an answer without the right to it, by every door",
    32: "an answer to another prompt",
    33: "a device that knows no prompts",
    34: "another input than was shown",
    35: "an input that cannot be read",
    36: "a broader rule than was shown",
    37: "more prompts than anybody can read",
    38: "somebody else's session",
    39: "somebody who was removed meanwhile",
    40: "a program chosen from outside",
    41: "a repository that allows itself things",
    42: "one request, a hundred times at once",
    43: "a request's name taken by another",
    44: "a replay after its name was forgotten",
    45: "an interrupt that comes too late",
    46: "files by reference",
    47: "files by reference, from afar",
    48: "times that are lies",
    49: "JSON that is not plain",
    50: "forged messages of a relay",
    51: "a message inside a tool's output",
    52: "other ends of lines",
    53: "junk",
    54: "an agent that breaks its own protocol",
    55: "an agent that takes too much, or does not die",
    56: "secrets on stderr",
    57: "scripts in an answer",
    58: "pictures from elsewhere in an answer",
    59: "control characters in an answer",
    60: "an answer that looks like our dialog",
    61: "newlines in what is logged",
    62: "secrets in what is logged",
    63: "an audit log that was changed",
    64: "too much of everything",
    65: "a dependency that nobody pinned",
    66: "an agent's input or output that others open through /proc",
    67: "an agent that kills its keeper",
}
# what is still to come, of all of it or of a part
LATER: dict[int, str] = {}
_NAME = re.compile(r"abuse_(\d+)")
_HERE = re.compile(r"^test_(\d+)_")
_WORDS = re.compile(r"Abuse cases? ([\d, and]+)")


@functools.cache
def found(root: Path = ROOT) -> dict[int, list[str]]:
    """Case → the tests that try it, or a part of it, as ``path::name``."""
    by_case: dict[int, list[str]] = defaultdict(list)
    for path in sorted((root / "tests").rglob("test_*.py")):
        if "node_modules" in path.parts:
            continue
        for node in ast.parse(path.read_text()).body:  # tests are not nested
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for case in sorted(set(_cases(node, path.parent.name == "abuse"))):
                    by_case[case].append(f"{path.relative_to(root).as_posix()}::{node.name}")
    return by_case


def _cases(node: ast.FunctionDef | ast.AsyncFunctionDef, here: bool) -> Iterator[int]:
    if not node.name.startswith("test_"):
        return
    named = _NAME.search(node.name) or (_HERE.search(node.name) if here else None)
    if named:
        yield int(named[1])
    for words in _WORDS.findall(ast.get_docstring(node) or ""):
        yield from map(int, re.findall(r"\d+", words))
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.abuse":
            yield from (int(ast.literal_eval(one)) for one in mark.args)


def table(root: Path = ROOT) -> str:
    """Every case, and what tries it, or why nothing does yet."""
    tests = found(root)
    rows = ["| # | case | tests |", "|---|---|---|"]
    for number, title in CASES.items():
        names = {one.partition("::")[0]: 0 for one in tests.get(number, [])}
        for one in tests.get(number, []):
            names[one.partition("::")[0]] += 1
        shown = [f"{path} ({count})" for path, count in names.items()]
        if number in LATER or not shown:
            shown.append(f"later: {LATER.get(number)}")
        rows.append(f"| {number} | {title} | {', '.join(shown)} |")
    return "\n".join((*rows, ""))


if __name__ == "__main__":
    sys.stdout.write(table())
