"""Work that goes on when the turn is over, and wakes the agent when it is done."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable

import msgspec

from flybridge.agents.demo import system_messages as news
from flybridge.agents.demo.stream import Json, Speaker

MAX_JOBS = 16


class Job(msgspec.Struct, frozen=True):
    """A command that runs by itself; ``report`` is said when it is done."""

    call_id: str
    description: str
    report: str
    id: str = msgspec.field(default_factory=lambda: f"b{uuid.uuid4().hex[:8]}")
    run: str = msgspec.field(default_factory=lambda: uuid.uuid4().hex[:12])

    def wire(self) -> Json:
        ids = {"task_id": self.id, "run_id": self.run}
        return {**ids, "task_type": "local_bash", "description": self.description}


class Jobs:
    """All that runs in the background; ``done`` hears of each that came to its end."""

    def __init__(self, speaker: Speaker, done: Callable[[Job], None]) -> None:
        self._speaker = speaker
        self._done = done
        self._running: dict[str, tuple[Job, asyncio.Task[None]]] = {}

    def start(self, job: Job, seconds: float) -> bool:
        """Let it run for so long; False if too much runs already."""
        if len(self._running) >= MAX_JOBS:
            return False
        self._running[job.id] = (job, asyncio.create_task(self._run(job, seconds)))
        self._tell()
        news.task_started(self._speaker, job.wire(), job.call_id, background=True)
        return True

    async def _run(self, job: Job, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self._end(job, stopped=False)
        self._done(job)

    def stop(self, job_id: str) -> None:
        """End it before its time; one that is not there is ended already."""
        if job_id in self._running:
            job, task = self._running[job_id]
            task.cancel()
            self._end(job, stopped=True)

    def stop_all(self) -> None:
        for job_id in list(self._running):
            self.stop(job_id)

    def _end(self, job: Job, *, stopped: bool) -> None:
        del self._running[job.id]
        summary = job.description if stopped else f'Background command "{job.description}" is done'
        task = job.wire()
        news.task_ended(self._speaker, task, job.call_id, stopped=stopped, summary=summary)
        self._tell()

    def _tell(self) -> None:
        news.background(self._speaker, [job.wire() for job, _ in self._running.values()])
