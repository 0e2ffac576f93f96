"""The page is built into the package by the package itself, and only if it has to be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.repo.tree import ROOT
from tools import build_web

MODULES = ROOT / "web" / "node_modules"
PACKAGE = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE")
TINY = 'document.body.textContent = "tiny";\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project like ours with a page of one line; its packages are not installed."""
    root = tmp_path / "project"
    web = root / "web"
    (web / "src").mkdir(parents=True)
    for name in (*build_web.MADE_FROM, "tsconfig.json"):
        shutil.copy(ROOT / "web" / name, web / name)
    (web / "src" / "main.tsx").write_text(TINY)
    (root / build_web.BUILT).parent.mkdir(parents=True)
    return root


def with_packages(root: Path) -> Path:
    """The same, with the packages of this checkout."""
    modules = root / "web" / "node_modules"
    modules.mkdir()
    for one in MODULES.iterdir():
        if one.name != ".vite-temp":
            (modules / one.name).symlink_to(one)
    return root


def page(root: Path) -> Path:
    return root / build_web.BUILT / "index.html"


# ---- what is done again, and what is not -------------------------------------------------------


def test_a_digest_knows_every_source_and_no_test(tree: Path) -> None:
    web = tree / "web"
    before = build_web.digest(web)
    (web / "src" / "main.test.tsx").write_text("a test")
    assert build_web.digest(web) == before
    (web / "src" / "main.tsx").write_text(f"{TINY}// more\n")
    changed = build_web.digest(web)
    (web / "src" / "main.tsx").rename(web / "src" / "other.tsx")
    renamed = build_web.digest(web)
    (web / "vite.config.ts").write_text("")
    assert len({before, changed, renamed, build_web.digest(web)}) == 4


@pytest.mark.needs("page-tools")
def test_a_page_is_built_once_and_again_after_an_edit(tree: Path) -> None:
    build_web.build(with_packages(tree))
    first = page(tree).stat()
    build_web.build(tree)
    assert page(tree).stat() == first
    (tree / "web" / "src" / "main.tsx").write_text(TINY.replace("tiny", "edited"))
    build_web.build(tree)
    (script,) = (tree / build_web.BUILT / "assets").glob("*.js")
    assert "edited" in script.read_text()
    assert [one.name for one in (tree / build_web.BUILT).parent.iterdir()] == ["built"]


@pytest.mark.needs("page-tools")
def test_packages_alone_make_no_page(tree: Path) -> None:
    build_web.build(with_packages(tree), packages_only=True)
    assert not page(tree).exists()


@pytest.mark.needs("page-tools")
def test_a_page_that_cannot_be_built_leaves_the_old_one_and_says_where_it_is_wrong(
    tree: Path,
) -> None:
    build_web.build(with_packages(tree))
    before = page(tree).read_text()
    (tree / "web" / "src" / "main.tsx").write_text('import "./nowhere.ts";\n')
    with pytest.raises(build_web.NotBuilt, match=r"nowhere\.ts") as caught:
        build_web.build(tree)
    assert not isinstance(caught.value, build_web.NoPackages)
    assert page(tree).read_text() == before
    assert [one.name for one in (tree / build_web.BUILT).parent.iterdir()] == ["built"]


# ---- where there is no registry ----------------------------------------------------------------


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))


@pytest.mark.usefixtures("offline")
def test_without_a_registry_it_says_so_in_one_sentence(tree: Path) -> None:
    with pytest.raises(build_web.NoPackages) as caught:
        build_web.build(tree)
    first = str(caught.value).splitlines()[0]
    assert first == "The page is not built: its packages could not be installed."


def test_a_page_built_elsewhere_is_taken(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv(build_web.SWITCH, str(elsewhere))
    with pytest.raises(build_web.NotBuilt, match=r"holds no index\.html"):
        build_web.build(tree)
    (elsewhere / "index.html").write_text("elsewhere")
    build_web.build(tree)
    assert page(tree).read_text() == "elsewhere"


def test_none_is_built_where_none_is_wanted(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(build_web.SWITCH, "none")
    build_web.build(tree)
    assert not page(tree).exists()


# ---- the package -------------------------------------------------------------------------------


def wheel(root: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Build one as an installer does, where no Node is on the path."""
    for name in PACKAGE:
        shutil.copy(ROOT / name, root / name)
    shutil.copytree(ROOT / "tools", root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "src" / "flybridge" / "__init__.py").touch()
    (root / ".gitignore").write_text("node_modules/\n/src/flybridge/frontends/http/built*/\n")
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(root / "dist")],
        cwd=root,
        env={**os.environ, "PATH": "/nowhere", **env},
        capture_output=True,
        text=True,
        timeout=50,
    )


@pytest.mark.needs("page-tools")
def test_a_wheel_carries_the_page_and_runs_everywhere(tree: Path) -> None:
    done = wheel(with_packages(tree))
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (tree / "dist").iterdir()
    assert path.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(path).namelist()
    assert "flybridge/frontends/http/built/index.html" in names
    assert "flybridge/frontends/http/built/licenses.md" in names
    assert [
        name for name in names if name.startswith("flybridge/frontends/http/built/assets/index-")
    ]
    assert not [name for name in names if "node_modules" in name or name.startswith("web/")]


@pytest.mark.usefixtures("offline")
def test_a_wheel_without_a_page_is_refused_with_the_way_out(tree: Path) -> None:
    done = wheel(tree)
    assert done.returncode != 0
    assert "The page is not built: its packages could not be installed." in done.stderr
    assert build_web.SWITCH in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wheel_without_a_page_can_be_asked_for(tree: Path) -> None:
    done = wheel(tree, FLYBRIDGE_WEB_DIST="none")
    assert done.returncode == 0, done.stderr


def test_uv_looks_at_the_page_when_it_decides_whether_to_build_again() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    for name in ("web/*", "web/src/**/*", "hatch_build.py", "tools/build_web.py"):
        assert f'{{ file = "{name}" }}' in text
