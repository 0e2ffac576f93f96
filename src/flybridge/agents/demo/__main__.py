"""``python -m flybridge.agents.demo``: the demo agent on stdin and stdout."""

from __future__ import annotations

import sys

from flybridge.agents.demo.main import main

if __name__ == "__main__":
    sys.exit(main())
