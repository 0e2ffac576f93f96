from __future__ import annotations

import json
import time

from flybridge.agents.claude.wire.decode import decode
from flybridge.agents.claude.wire.messages import ApiRetry, CompactBoundary, RateLimitEvent, Status
from flybridge.agents.demo import system_messages as news
from tests.harness.agent_host import Said


def bare(message: dict[str, object]) -> dict[str, object]:
    return {key: part for key, part in message.items() if key not in ("uuid", "session_id")}


def test_retries_limits_and_compaction_are_what_a_host_knows(said: Said) -> None:
    news.retry(said.speaker, attempt=1, delay_ms=500, status=429, error="rate_limit")
    news.rate_limit(said.speaker, used=0.9, minutes=10)
    news.compacting(said.speaker)
    news.compacted(said.speaker)
    news.compact_boundary(said.speaker, trigger="auto", before=100, after=10)
    known = [type(decode(json.dumps(one).encode())) for one in said.messages]
    assert known == [ApiRetry, RateLimitEvent, Status, Status, CompactBoundary]


def test_a_limit_says_when_it_resets(said: Said) -> None:
    news.rate_limit(said.speaker, used=0.91, minutes=90)
    info = said.messages[0]["rate_limit_info"]
    assert (info["status"], info["rateLimitType"]) == ("allowed_warning", "five_hour")
    assert 80 * 60 < info["resetsAt"] - time.time() < 100 * 60


def test_work_in_the_background_has_a_beginning_and_an_end(said: Said) -> None:
    task = {"task_id": "b1", "run_id": "r1", "task_type": "local_bash", "description": "d"}
    news.background(said.speaker, [task])
    news.task_started(said.speaker, task, "toolu_1", background=True)
    news.task_ended(said.speaker, task, "toolu_1", stopped=False, summary="done")
    news.task_ended(said.speaker, task, "toolu_1", stopped=True, summary="stopped")
    changed, started, updated, notified, killed, stopped = said.messages
    assert changed["tasks"] == [task]
    assert bare(started) == {
        **{"type": "system", "subtype": "task_started"},
        **task,
        **{"tool_use_id": "toolu_1", "is_backgrounded": True},
    }
    assert (updated["patch"]["status"], notified["status"]) == ("completed", "completed")
    assert (killed["patch"]["status"], stopped["status"]) == ("killed", "stopped")
    assert notified["tool_use_id"] == "toolu_1"


def test_a_reset_names_the_message_that_asked_for_it(said: Said) -> None:
    news.conversation_reset(said.speaker, conversation="c2", message="u1")
    assert bare(said.messages[0]) == {
        "type": "conversation_reset",
        "new_conversation_id": "c2",
        "trigger": "clear",
        "user_message_uuid": "u1",
    }
