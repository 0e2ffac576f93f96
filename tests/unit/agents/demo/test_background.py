from __future__ import annotations

import asyncio

from flybridge.agents.demo.background import MAX_JOBS, Job, Jobs
from tests.harness.agent_host import Said
from tests.harness.waiting import WAIT_S

ENDED = ["task_updated", "task_notification", "background_tasks_changed"]
STARTED = ["background_tasks_changed", "task_started"]


async def test_a_job_wakes_somebody_when_it_is_done(said: Said) -> None:
    done: asyncio.Queue[Job] = asyncio.Queue()
    jobs = Jobs(said.speaker, done.put_nowait)
    job = Job("toolu_1", "timer", "ding")
    assert jobs.start(job, 0)
    assert await asyncio.wait_for(done.get(), WAIT_S) is job
    assert said.subtypes == STARTED + ENDED
    assert [len(m["tasks"]) for m in said.messages if "tasks" in m] == [1, 0]


async def test_a_stopped_job_wakes_nobody(said: Said) -> None:
    done: list[Job] = []
    jobs = Jobs(said.speaker, done.append)
    job = Job("toolu_1", "timer", "ding")
    jobs.start(job, 0)
    await asyncio.sleep(0)  # it has begun, and would be done with the next look at the clock
    jobs.stop("another")
    jobs.stop(job.id)
    jobs.stop(job.id)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    assert [type(one) for one in await asyncio.gather(*others, return_exceptions=True)] in (
        [],
        [asyncio.CancelledError],
    )
    assert said.subtypes == STARTED + ENDED
    assert said.messages[3]["status"] == "stopped"
    assert done == []


async def test_there_are_only_so_many_at_once(said: Said) -> None:
    jobs = Jobs(said.speaker, lambda job: None)
    started = [jobs.start(Job("toolu_1", "timer", "ding"), 3600) for _ in range(MAX_JOBS + 1)]
    assert started == [True] * MAX_JOBS + [False]
    jobs.stop_all()
    assert said.messages[-1]["tasks"] == []
