"""The lock of the page's packages is whole: who builds on another system finds theirs in it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.repo.tree import ROOT

WEB = ROOT / "web"
MANIFEST: dict[str, Any] = json.loads((WEB / "package.json").read_text())
LOCK = (WEB / "package-lock.json").read_text()
PACKAGES: dict[str, dict[str, Any]] = json.loads(LOCK)["packages"]


def found(place: str, name: str) -> bool:
    """Whether a package at this place finds another one, as Node looks for it."""
    while True:
        if f"{place}/node_modules/{name}".removeprefix("/") in PACKAGES:
            return True
        if not place:
            return False
        place = place.rpartition("/node_modules/")[0]


def test_every_optional_package_is_in_the_lock() -> None:
    wanted = [
        (place, name)
        for place, package in PACKAGES.items()
        for name in package.get("optionalDependencies", {})
    ]
    assert len(wanted) > 20
    assert [one for one in wanted if not found(*one)] == []


@pytest.mark.parametrize("folder", ["web", "bench/node", "bench/web/lighthouse"])
def test_every_locked_package_has_a_hash_and_none_an_address(folder: str) -> None:
    lock = (ROOT / folder / "package-lock.json").read_text()
    packages = json.loads(lock)["packages"]
    assert [name for name, one in packages.items() if name and "integrity" not in one] == []
    assert "resolved" not in lock
    assert not re.search(r"https?://(?!\S*(?:fund|sponsor|opencollective|github))", lock)


def test_versions_are_exact_and_those_of_the_lock() -> None:
    for kind in ("dependencies", "devDependencies"):
        assert PACKAGES[""][kind] == MANIFEST[kind]
        assert [one for one in MANIFEST[kind].values() if not re.fullmatch(r"[\d.]+", one)] == []


def test_what_only_tests_need_is_not_installed_by_who_builds() -> None:
    needed = {"vite", "@vitejs/plugin-react", "react", "react-dom"}
    assert needed <= MANIFEST["dependencies"].keys()
    tests = {"vitest", "oxlint", "prettier", "typescript", "axe-core", "happy-dom"}
    assert tests <= MANIFEST["devDependencies"].keys()
    assert all(PACKAGES[f"node_modules/{name}"].get("dev") for name in tests)
