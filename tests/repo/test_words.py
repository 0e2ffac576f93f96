"""Nothing of the machine or the workplace it was written on goes into the repository."""

from __future__ import annotations

import re

from tests.repo.tree import files, name

# in pieces, so that this file does not hold them either
FORBIDDEN = {
    "a path of one machine": r"(?<![\w.~-])/(?:wo" r"rk|ro" r"ot)/",
    "a package server": r"pypi\.or" r"g|pythonhosted\.or" r"g|registry\.npm" r"js|yarnpkg\.co" r"m",
    "a choice of package server": r"--(?:extra-)?index-ur" r"l|--trusted-hos" r"t",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KE" r"Y",
}
# file → what it may say, and why
ALLOWED: dict[str, str] = {}


def test_no_file_names_a_machine_a_server_or_a_secret() -> None:
    found = []
    for path in files():
        text = path.read_bytes().decode(errors="replace")
        for what, pattern in FORBIDDEN.items():
            if name(path) not in ALLOWED:
                found += [f"{name(path)}: {what}: {one[0]}" for one in re.finditer(pattern, text)]
    assert not found, "\n".join(found)


def test_every_text_file_ends_with_one_newline_and_has_no_stray_spaces() -> None:
    kinds = (".py", ".md", ".toml", ".yaml", ".txt")
    found = []
    for path in files(*kinds):
        data = path.read_bytes()
        if data and (not data.endswith(b"\n") or data.endswith(b"\n\n") or b"\r\n" in data):
            found.append(f"{name(path)}: its end")
        if path.suffix != ".txt" and re.search(rb"[ \t]\n", data):
            found.append(f"{name(path)}: spaces at the end of a line")
    assert not found, "\n".join(found)
