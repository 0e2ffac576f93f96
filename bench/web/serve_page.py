"""`flybridge serve` with the page in $BENCH_PAGE, which nobody builds anew while it is measured.

A launcher of the benchmark's own, so that the product needs no switch for it.
"""

from __future__ import annotations

import os
from pathlib import Path

from flybridge.cli.main import main
from flybridge.listeners.http.web_files import WebFiles

if __name__ == "__main__":
    WebFiles.__init__.__defaults__ = (Path(os.environ["BENCH_PAGE"]),)
    main()
