"""``python -m flybridge``."""

from __future__ import annotations

from flybridge.cli.main import main

main()
