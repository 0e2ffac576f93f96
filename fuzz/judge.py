"""``python -m fuzz.judge 100``: schemathesis over our OpenAPI document, against a real server.

It is no dependency of ours (CONTRIBUTING.md says why): install it beside the others first. The
document is taken without its security, so that it does not guess at credentials, and without
the two operations that would end the login or never end.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.abuse.clients import API
from tests.abuse.rig import serving
from tests.harness import leftovers

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance"
CHECKS += ",response_schema_conformance"


def without_security(document: dict[str, Any]) -> dict[str, Any]:
    document["components"].pop("securitySchemes")
    document["paths"].pop("/logout")
    document["paths"]["/sessions/{session}/stream"].pop("get")
    for operations in document["paths"].values():
        for one in operations.values():
            one.pop("security", None)
    return document


def main() -> int:
    if importlib.util.find_spec("schemathesis") is None:
        sys.stderr.write("schemathesis is not installed: pip install schemathesis\n")
        return 2
    os.environ.setdefault(leftovers.MARK, "judge")
    count = sys.argv[1] if len(sys.argv) > 1 else "20"
    with tempfile.TemporaryDirectory(prefix="fb-") as folder, serving(Path(folder)) as server:
        owner = server.login()
        session = server.open(owner, "judged")
        server.say(owner, session, "hello", "k")
        document = without_security(server.http(owner).call("GET", "/openapi.json").json)
        path = server.base / "openapi.json"
        path.write_text(json.dumps(document))
        words = ["--url", f"http://127.0.0.1:{server.port}{API}", "--checks", CHECKS, "-n", count]
        words += [part for item in owner.headers.items() for part in ("-H", ": ".join(item))]
        argv = [sys.executable, "-m", "schemathesis.cli", "run", str(path), *words]
        return subprocess.run(argv, cwd=server.base, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
