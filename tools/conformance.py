"""Write the page that says which test shows each thing other people's documents claim.

    python -m tools.conformance            write it
    python -m tools.conformance --check    say what is wrong with it, and exit 1 if anything is

A document is one file in tests/conformance: a title, an introduction and its rows. A test says
which rows it shows with ``@pytest.mark.conforms("PN-7", "rule 14")``; that is read off the
source, nothing is imported. A row without a test is an error, unless it belongs to a later
release; so is a mark that names no row.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from tools import pages

ROOT = Path(__file__).parents[1]
PAGE = Path("docs/reference/conformance.md")
MARK = "conforms"
NOTE = "<!-- Written by tools/conformance.py from tests/conformance and the tests' own marks. -->"
INTRODUCTION = """\
Flybridge follows documents that others wrote about the agents it runs. This page lists what
they say, row by row, and the tests that show that it holds, or what was measured where it does
not. Tests under `tests/agents` run the real programs, in the versions {versions}, offline:
through keeper, journal and client, or alone where only the program itself is in question. The
oldest and the newest of them run in every test, the others where they differ from both (listed
in `tests/agents/rig.py`). A version in brackets says that a test runs that one only. `make
test-all` runs them all, and `make check` fails when a row has no test.
"""


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One claim. ``via`` borrows the tests of other rows that say the same in more detail;
    ``also`` names tests of single parts (``file::test``), which need not know of this page."""

    name: str
    says: str
    measured: str = ""  # what is true instead
    later: str = ""  # what only a later release has: no test is claimed for it
    via: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


class Document(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    order: int
    title: str
    intro: str
    row: tuple[Row, ...]


class Test(msgspec.Struct, frozen=True, kw_only=True):
    """A test that says what it shows. ``versions``: of the real programs it runs; () for none."""

    file: str
    name: str
    rows: tuple[str, ...]
    versions: tuple[str, ...] = ()


# ---- what there is -----------------------------------------------------------------------------


def documents(root: Path) -> list[Document]:
    found = [
        msgspec.convert(tomllib.loads(path.read_text()), Document)
        for path in sorted((root / "tests" / "conformance").glob("*.toml"))
    ]
    return sorted(found, key=lambda one: one.order)


def pinned(root: Path) -> tuple[str, ...]:
    """The versions of the real program, oldest first."""
    text = (root / "tests" / "agents" / "package.json").read_text()
    versions = re.findall(r"claude-code@([\d.]+)", text)
    return tuple(sorted(versions, key=lambda one: [int(part) for part in one.split(".")]))


def tests(root: Path) -> list[Test]:
    """Every marked test, by file and place.

    Raises:
        ValueError: a mark says something that cannot be read off the source.
    """
    versions = pinned(root)
    return [
        found
        for path in sorted((root / "tests").rglob("test_*.py"))
        if "node_modules" not in path.parts
        for found in _marked(path.relative_to(root).as_posix(), path.read_text(), versions)
    ]


def _marked(file: str, source: str, versions: tuple[str, ...]) -> Iterator[Test]:
    if f"mark.{MARK}" not in source:
        return
    real = versions if file.startswith("tests/agents/") else ()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            marks = [one for one in node.decorator_list if isinstance(one, ast.Call)]
            rows = tuple(row for one in marks if _is(one, MARK) for row in _words(one, file))
            if rows:
                only = [_choice(one, versions) for one in marks if _is(one, "parametrize")]
                kept = next((one for one in only if one), real)
                yield Test(file=file, name=node.name, rows=rows, versions=kept)


def _is(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == name


def _words(call: ast.Call, file: str) -> Iterator[str]:
    for argument in call.args:
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            raise ValueError(f"{file}:{call.lineno}: {MARK} takes plain strings only")
        yield argument.value


def _choice(call: ast.Call, versions: tuple[str, ...]) -> tuple[str, ...]:
    """The versions that a test was limited to, if that is what this parameter does."""
    if len(call.args) != 2 or not isinstance(call.args[1], ast.List):
        return ()
    values = [one.value for one in call.args[1].elts if isinstance(one, ast.Constant)]
    return tuple(one for one in versions if one in values)


# ---- what is wrong -----------------------------------------------------------------------------


def shown(documents: Sequence[Document], tests: Sequence[Test]) -> dict[str, list[Test]]:
    """Row → the tests that show it."""
    rows = [row for document in documents for row in document.row]
    direct = {row.name: [one for one in tests if row.name in one.rows] for row in rows}
    found: dict[str, list[Test]] = {}
    for row in rows:
        every = [*direct[row.name], *(one for name in row.via for one in direct.get(name, []))]
        every += [_named(one) for one in row.also]
        found[row.name] = [one for at, one in enumerate(every) if one not in every[:at]]
    return found


def _named(test: str) -> Test:
    file, _, name = test.partition("::")
    return Test(file=file, name=name, rows=())


def _exists(root: Path, test: str) -> bool:
    file, _, name = test.partition("::")
    path = root / file
    return (
        path.is_file() and re.search(rf"^(async )?def {name}\(", path.read_text(), re.M) is not None
    )


def problems(root: Path) -> list[str]:
    """What has to be put right before the page can be believed."""
    there, marked, versions = documents(root), tests(root), pinned(root)
    rows = [row for document in there for row in document.row]
    names = [row.name for row in rows]
    found = [f"two rows are called {one}" for one in sorted(set(names)) if names.count(one) > 1]
    for test in marked:
        unknown = [one for one in test.rows if one not in names]
        found += [f"{test.file}: {test.name}: no row is called {one!r}" for one in unknown]
    by_row = shown(there, marked)
    for row in rows:
        found += [f"{row.name}: no row is called {one!r}" for one in row.via if one not in names]
        found += [f"{row.name}: no such test: {one}" for one in row.also if not _exists(root, one)]
        if not row.later:
            found += _about(row, by_row[row.name], versions)
    return found


def _about(row: Row, by: Sequence[Test], versions: tuple[str, ...]) -> Iterator[str]:
    if not by:
        yield f"{row.name}: no test shows it"
        return
    seen = {version for test in by for version in test.versions}
    missing = [one for one in dict.fromkeys((versions[0], versions[-1])) if one not in seen]
    if seen and missing and not row.measured:
        yield f"{row.name}: no test shows it on {', '.join(missing)}, and no word says why"


# ---- the page ----------------------------------------------------------------------------------


def _listed(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def page(root: Path) -> str:
    there, marked, versions = documents(root), tests(root), pinned(root)
    by_row = shown(there, marked)
    parts = ["# Conformance", NOTE, INTRODUCTION.format(versions=_listed(versions)).rstrip()]
    parts.append(_summary(there, by_row))
    for document in there:
        lines = ["| | it says | shown by |", "|---|---|---|"]
        lines += [_line(row, by_row, versions) for row in document.row]
        parts += [f"## {document.title}", document.intro.strip(), "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _summary(documents: Sequence[Document], by_row: Mapping[str, Sequence[Test]]) -> str:
    lines = ["| document | rows | measured otherwise | later | tests |", "|---|---|---|---|---|"]
    for one in documents:
        used = {(test.file, test.name) for row in one.row for test in by_row[row.name]}
        otherwise = sum(bool(row.measured) for row in one.row)
        later = sum(bool(row.later) for row in one.row)
        link = f"[{one.title}](#{_slug(one.title)})"
        lines.append(f"| {link} | {len(one.row)} | {otherwise} | {later} | {len(used)} |")
    return "\n".join(lines)


def _line(row: Row, by_row: Mapping[str, Sequence[Test]], versions: tuple[str, ...]) -> str:
    words = [f"**later:** {row.later}"] if row.later else []
    words += [f"**measured otherwise:** {row.measured}"] if row.measured else []
    words += [_link(test, versions) for test in by_row[row.name]]
    return f"| {row.name} | {_cell(row.says)} | {'<br>'.join(map(_cell, words))} |"


def _link(test: Test, versions: tuple[str, ...]) -> str:
    up = "../" * (len(PAGE.parts) - 1)
    only = "" if test.versions in ((), versions) else f" ({', '.join(test.versions)})"
    return f"[`{test.name}`]({up}{test.file}){only}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


# ---- the command -------------------------------------------------------------------------------


def stale(root: Path) -> str:
    """How the page differs from what it should be."""
    return pages.difference(root / PAGE, page(root))


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        sys.stderr.write(__doc__ or "")
        return 2
    wrong = problems(ROOT)
    for line in wrong:
        sys.stdout.write(f"conformance: {line}\n")
    if not arguments:
        (ROOT / PAGE).write_text(page(ROOT))
    elif text := stale(ROOT):
        sys.stdout.write(f"{PAGE} is not what the tests say; make docs\n{text}\n")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
