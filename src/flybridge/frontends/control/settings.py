"""The control front end as configured: who may steer, within which bounds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from flybridge.config import Config
from flybridge.config.state_dir import StateDir
from flybridge.frontends.control.service import Control, ControlSpec
from flybridge.frontends.control.teams import Policy
from flybridge.model.audit import Record
from flybridge.runtime.sessions import Sessions
from flybridge.store.teams import TeamFile
from flybridge.wire.control.messages import MAX_REF_BYTES, Limits


def make_control(
    sessions: Sessions,
    state: StateDir,
    config: Config,
    now_ms: Callable[[], int],
    audit: Callable[[Record], None],
) -> Control:
    """The receiver of a gateway's control messages.

    Raises:
        StorageError: the file of teams is not ours to read.
    """
    wanted = config.control
    state.inbox.mkdir(mode=0o700, exist_ok=True)
    spec = ControlSpec(
        base=Path(wanted.folder) if wanted.folder else state.inbox,
        team=wanted.team,
        limits=Limits(
            soft_bytes=wanted.soft_bytes,
            hard_bytes=wanted.hard_bytes,
            ref_bytes=MAX_REF_BYTES,
            max_age_s=wanted.max_age_s,
            skew_s=wanted.skew_s,
        ),
        log_text=wanted.log_text,
    )
    policy = Policy(TeamFile(state.teams), audit)
    return Control(sessions, policy, spec, now_ms=now_ms, audit=audit)
