"""Pieces of a Markdown document that holds other people's text: all of it stays in its place.

Headings of level 1 to 4 belong to whoever writes the document. In the text of others a heading
becomes one of level 5 or 6, and HTML becomes letters. Fences are moved to the margin: further in,
only a whole Markdown parser could tell where they end, and what follows a fence that ended sooner
than we thought could pass for ours. Control characters are spelled out, so that a document can
be read in a terminal.
"""

from __future__ import annotations

import re

from flybridge.cli.rendering.safe_text import one_line, visible

OWN_LEVELS = 4
_fence = re.compile(r"((?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*)([ \t]*)(`{3,}(?!.*`)|~{3,})(.*)")
_heading = re.compile(r"( {0,3})(#{1,6})(?=[ \t]|$)")
_inner = re.compile(r"((?:[ \t]*(?:[-*+>]|\d{1,9}[.)]))+[ \t]*)(#{1,4}(?:[ \t]|$))")
_underline = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_runs = re.compile("`+")
_spans = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_tag = re.compile(r"<(?=[A-Za-z/!?])")


def safe(text: str) -> str:
    """Text in which everything can be seen; tabs stay, they mean something in code."""
    return "\t".join(visible(part) for part in text.split("\t"))


def fenced(text: str, kind: str = "") -> str:
    """A block of code that nothing inside it can end."""
    inside = safe(text).rstrip("\n")
    longest = max((len(run) for run in _runs.findall(inside)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{inside}\n{fence}"


def code(text: str) -> str:
    """The same within a line."""
    inside = one_line(text)
    longest = max((len(run) for run in _runs.findall(inside)), default=0)
    marks = "`" * (longest + 1)
    pad = " " if inside.startswith("`") or inside.endswith("`") or not inside.strip() else ""
    return f"{marks}{pad}{inside}{pad}{marks}"


def words(text: str) -> str:
    """Plain words on one line: no marks in them mean anything."""
    return re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", one_line(text))


def cell(text: str) -> str:
    """Anything as a cell of a table."""
    return re.sub(r"(?<!\\)\|", r"\\|", text.replace("\n", " "))


def document(text: str) -> str:
    """A whole text of Markdown, put where it can do no harm to what is around it."""
    out: list[str] = []
    fence, margin = "", 0
    for line in safe(text).strip("\n").split("\n"):
        if fence:
            inside = _dedented(line, margin)
            out.append(inside)
            fence = "" if _closes(inside, fence) else fence
        elif found := _fence.match(line):
            fence, margin = found[3], len(found[1] + found[2])
            out.append(fence + found[4])
        else:
            out.append(_line(line, bool(out) and bool(out[-1].strip())))
    return "\n".join([*out, fence] if fence else out)


def _dedented(line: str, margin: int) -> str:
    return line[min(margin, len(line) - len(line.lstrip(" \t"))) :]


def _closes(line: str, fence: str) -> bool:
    """Exactly as Markdown has it: at most three spaces, then nothing but the fence."""
    mark = line.rstrip(" \t")
    inner = mark.lstrip(" ")
    return len(mark) - len(inner) <= 3 and len(inner) >= len(fence) and not inner.strip(fence[0])


def _line(line: str, after_text: bool) -> str:
    if found := _heading.match(line):
        level = min(len(found[2]) + OWN_LEVELS, 6)
        return f"{found[1]}{'#' * level}{_untagged(line[found.end() :])}"
    if found := _inner.match(line):
        return f"{found[1]}\\{_untagged(line[len(found[1]) :])}"
    if after_text and _underline.match(line):  # would make a heading of the line before
        return f"\\{line.lstrip()}"
    return _untagged(line)


def _untagged(line: str) -> str:
    """HTML as letters; in code it is letters already."""
    parts, at = [], 0
    for span in _spans.finditer(line):
        parts += [_tag.sub(r"\\<", line[at : span.start()]), span[0]]
        at = span.end()
    return "".join(parts) + _tag.sub(r"\\<", line[at:])


def quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def details(summary: str, body: str) -> str:
    """Text that is folded away until somebody wants it."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def shortened(text: str, lines: int, chars: int) -> tuple[str, str]:
    """The beginning of a text, and a note about the rest, if there is any."""
    whole = text.rstrip("\n")
    rows = whole.split("\n")
    kept = "\n".join(rows[:lines])[:chars]
    if len(kept) >= len(whole):
        return whole, ""
    shown = kept.count("\n") + 1 if kept else 0
    more = len(rows) - shown
    note = f"{more:,} more lines" if more > 0 else f"{len(whole) - len(kept):,} more characters"
    return kept, f"… {note}"
