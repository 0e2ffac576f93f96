"""Pages point only at what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.repo.tree import PACKAGE, ROOT, files, name
from tools import generate, pages

MAPS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md"]  # pages that name paths
CODE_KINDS = (".py", ".md", ".toml", ".lock", ".sh", ".ts", ".tsx", ".css")
# written like a path, and none of this repository
NOT_HERE = {
    ".flybridge/config.yaml": "a project's own file",
    "flybridge/config.yaml": "the user's own file",
    "blobs/": "in the state directory",
    "keepers/": "in the state directory",
    "test_<module>.py": "a pattern",
}
PAGES = [path for path in files(".md") if path.is_relative_to(ROOT)]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {generate.slug(heading) for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue  # somebody else's site: not asked at test time
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)
    assert broken == []


def is_path(token: str) -> bool:
    if "NAME" in token:  # stands for any name
        return False
    if not re.fullmatch(r"[\w.\-/]+", token) or token.startswith(("/", "..", "-")):
        return False
    return "/" in token or token.endswith(CODE_KINDS)


def exists(token: str) -> bool:
    if "/" in token:
        return any((base / token).exists() for base in (ROOT, PACKAGE))
    return any(path.name == token for path in files())


@pytest.mark.parametrize("page", [page for page in MAPS if (ROOT / page).exists()])
def test_every_path_that_a_page_names_exists(page: str) -> None:
    tokens = re.findall(r"`([^`\s]+)`", (ROOT / page).read_text())
    wrong = [one for one in tokens if is_path(one) and one not in NOT_HERE and not exists(one)]
    assert wrong == []


def test_the_check_of_paths_sees_a_wrong_one() -> None:
    assert is_path("wire/lines.py")
    assert is_path("decide.py")
    assert not is_path("--session")
    assert exists("wire/lines.py")
    assert exists("errors.py")
    assert not exists("wire/lines.rs")


def test_generated_pages_say_what_the_code_says() -> None:
    assert pages.stale(generate.FILES) == {}


def test_every_room_says_what_it_is_for_in_one_sentence() -> None:
    silent = [
        name(path)
        for path in PACKAGE.rglob("__init__.py")
        if not re.match(r'"""[^"]+\."""', path.read_text())
    ]
    assert silent == []
