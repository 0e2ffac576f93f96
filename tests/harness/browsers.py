"""Where the browser is that tests drive: the system's own, or the one that CHROMIUM names."""

from __future__ import annotations

import os
import shutil


def chromium() -> str | None:
    """Its path, or None where there is none."""
    named = os.environ.get("CHROMIUM", "chromium")
    return shutil.which(named) or shutil.which("chromium-browser")
