"""What hatchling asks before it makes a wheel of us: the page is built, and goes along.

Who installs a wheel needs no Node. An editable install is good without a page, so there one that
cannot be built is only said.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, str(Path(self.root)))
        try:
            from tools import build_web
        finally:
            del sys.path[0]
        try:
            build_web.build(Path(self.root))
        except build_web.NotBuilt as error:
            if version != "editable":
                hint = f"Install a wheel, or name a built page or none with {build_web.SWITCH}."
                raise SystemExit(f"{error}\n{hint}") from None
            self.app.display_warning(str(error))
