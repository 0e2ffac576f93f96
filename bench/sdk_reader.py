"""claude-agent-sdk reading the same fake CLI: how much CPU it takes for a message.

Run by the Python that has it: ``sdk_reader.py FAKE_CLI PROMPT``. Prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

from claude_agent_sdk import (  # type: ignore[import-not-found]  # not in our environment
    ClaudeAgentOptions,
    query,
)


async def read(cli: str, prompt: str) -> dict[str, float]:
    options = ClaudeAgentOptions(cli_path=cli, include_partial_messages=True)
    count, began, cpu = 0, 0.0, 0.0
    async for _ in query(prompt=prompt, options=options):
        if not count:
            began, cpu = time.perf_counter(), time.process_time()
        count += 1
    took = time.perf_counter() - began
    return {"messages": count, "elapsed_s": took, "cpu_s": time.process_time() - cpu}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(read(sys.argv[1], sys.argv[2]))) + "\n")
