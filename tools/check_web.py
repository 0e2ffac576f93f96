"""Check the sources of the page: types, lint, format. `make check`; with ``--fix``, `make fmt`.

    python -m tools.check_web [--fix]

Where the packages could not be installed, it says so and ends with status 0.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.node import node

WEB = Path(__file__).parents[1] / "web"
MODULES = WEB / "node_modules"
CHECKS = {
    "not formatted: make fmt": ("prettier/bin/prettier.cjs", "--check", "--log-level=warn", "."),
    "lint": ("oxlint/bin/oxlint", "--deny-warnings"),
    "types": ("typescript/bin/tsc", "--noEmit"),
}
FIXES = {
    "format": ("prettier/bin/prettier.cjs", "--write", "--log-level=warn", "."),
    "lint": ("oxlint/bin/oxlint", "--fix", "--quiet"),
}


def main(args: list[str]) -> int:
    program = node()
    chosen = FIXES if "--fix" in args else CHECKS
    if program is None or not all((MODULES / one[0]).is_file() for one in chosen.values()):
        sys.stderr.write("the page could not be checked: its packages are not installed\n")
        return 0
    running = {
        name: subprocess.Popen(
            [str(program), str(MODULES / script), *more],
            cwd=WEB,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for name, (script, *more) in chosen.items()
    }
    failed = False
    for name, process in running.items():
        said, _ = process.communicate()
        if process.returncode:
            sys.stdout.write(f"{said}web: {name}\n")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
