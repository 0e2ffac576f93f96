"""What the CLI tells besides answers: retries, limits, compaction, work in the background."""

from __future__ import annotations

import time
from collections.abc import Sequence

from flybridge.agents.demo.stream import Json, Speaker


def retry(speaker: Speaker, *, attempt: int, delay_ms: int, status: int, error: str) -> None:
    _system(
        speaker,
        "api_retry",
        attempt=attempt,
        max_retries=2,
        retry_delay_ms=delay_ms,
        error_status=status,
        error=error,
    )


def rate_limit(speaker: Speaker, *, used: float, minutes: int) -> None:
    """A warning of the account's limit, which is far from being reached: this is a demo."""
    resets = int(time.time()) + minutes * 60
    window = {"utilization": used, "resetsAt": resets, "status": "allowed_warning"}
    info = {**window, "rateLimitType": "five_hour", "isUsingOverage": False}
    speaker.say({"type": "rate_limit_event", "rate_limit_info": info})


def compacting(speaker: Speaker) -> None:
    _system(speaker, "status", status="compacting")


def compacted(speaker: Speaker) -> None:
    _system(speaker, "status", status=None, compact_result="success")


def compact_boundary(speaker: Speaker, *, trigger: str, before: int, after: int) -> None:
    meta = {"trigger": trigger, "pre_tokens": before, "post_tokens": after}
    _system(speaker, "compact_boundary", compact_metadata=meta)


def background(speaker: Speaker, tasks: Sequence[Json]) -> None:
    """All that runs in the background now."""
    _system(speaker, "background_tasks_changed", tasks=tasks)


def task_started(speaker: Speaker, task: Json, call_id: str, *, background: bool) -> None:
    _system(speaker, "task_started", **task, tool_use_id=call_id, is_backgrounded=background)


def task_ended(speaker: Speaker, task: Json, call_id: str, *, stopped: bool, summary: str) -> None:
    """Its last state, then the words the model would be woken with."""
    ids = {"task_id": task["task_id"], "run_id": task["run_id"]}
    patch = {"status": "killed" if stopped else "completed", "end_time": int(time.time() * 1000)}
    _system(speaker, "task_updated", **ids, patch=patch)
    _system(
        speaker,
        "task_notification",
        **ids,
        tool_use_id=call_id,
        status="stopped" if stopped else "completed",
        output_file="",
        summary=summary,
    )


def conversation_reset(speaker: Speaker, *, conversation: str, message: str) -> None:
    speaker.say(
        {
            "type": "conversation_reset",
            "new_conversation_id": conversation,
            "trigger": "clear",
            "user_message_uuid": message,
        }
    )


def _system(speaker: Speaker, subtype: str, **more: object) -> None:
    speaker.say({"type": "system", "subtype": subtype, **more})
