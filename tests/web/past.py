"""A conversation that was had without us, as Claude Code writes them down."""

from __future__ import annotations

import json

from tests.web.rig import Served

CONVERSATION = "0b0e0f5c-6a51-4c1f-9d53-6f0d7f9d2f11"
AT = "2026-11-01T10:00:00.000Z"


def write_down(gateway: Served) -> None:
    """One question and its answer, in the folder where the gateway looks for them."""
    folder = gateway.base / ".claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    shared = {
        "sessionId": CONVERSATION,
        "cwd": str(gateway.work),
        "timestamp": AT,
        "version": "2.1.38",
        "isSidechain": False,
        "userType": "external",
    }
    asked = {
        **shared,
        "type": "user",
        "uuid": "11111111-1111-4111-8111-111111111111",
        "parentUuid": None,
        "message": {"role": "user", "content": "Where is the lighthouse?"},
    }
    answered = {
        **shared,
        "type": "assistant",
        "uuid": "22222222-2222-4222-8222-222222222222",
        "parentUuid": asked["uuid"],
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-test",
            "content": [{"type": "text", "text": "On the northern pier."}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    }
    path = folder / f"{CONVERSATION}.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (asked, answered)))
