"""The state directory and its journal, looked at without touching them."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import time
from pathlib import Path

from flybridge.cli.doctor.text import Check, Status
from flybridge.config.state_dir import SOCKET_PATH_BYTES, StateDir
from flybridge.errors import GatewayError
from flybridge.store.schema import MIGRATIONS

LITTLE_BYTES = 1 << 30
TOO_LITTLE_BYTES = 64 << 20
PAGE_BYTES = 512  # the smallest a database can be
CHECK_S = 2.0
STEPS = 10_000  # of SQLite's machine between two looks at the clock
NETWORK = re.compile(r"nfs|cifs|smb|9p|ceph|lustre|gluster|afs|sshfs|beegfs|gpfs|davfs")


def check_state(state: StateDir) -> Check:
    try:
        state.check()
    except FileNotFoundError:
        return _about_disk(state, "made with the first session", {"exists": False})
    except GatewayError as error:
        why, _, fix = str(error).rpartition("; ")
        return Check(
            area="state",
            status="problem",
            text=why or str(error),
            fix=fix,
            data={"path": str(state.path)},
        )
    return _about_disk(state, "yours alone", {"exists": True})


def _about_disk(state: StateDir, said: str, data: dict[str, object]) -> Check:
    """Where it is: how much room, on which kind of file system, how long its name."""
    place = _nearest(state.path)
    room = os.statvfs(place)
    free = room.f_bavail * room.f_frsize
    kind = file_system_of(place)
    length = len(os.fsencode(state.socket))
    status: Status = "ok"
    fixes: list[str] = []
    if free < LITTLE_BYTES:
        status = "problem" if free < TOO_LITTLE_BYTES else "note"
        fixes.append("make room: a full disk stops every session")
    if NETWORK.search(kind):
        status = "note" if status == "ok" else status
        fixes.append(f"{kind} is a network file system, where locks may fail: use a local one")
    if length > SOCKET_PATH_BYTES:
        status = "note" if status == "ok" else status
        fixes.append("the socket's path is too long for other programs: choose a shorter one")
    more = {
        "path": str(state.path),
        "free_bytes": free,
        "file_system": kind,
        "socket_path_bytes": length,
    }
    return Check(
        area="state",
        status=status,
        text=f"{state.path}, {said}, {size(free)} free",
        fix="; ".join(fixes),
        data=data | more,
    )


def _nearest(path: Path) -> Path:
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def file_system_of(path: Path) -> str:
    """The kind of file system a path is on, from the kernel's own list; nothing if unknown."""
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return ""
    found, best = "", -1
    for line in lines:
        before, _, after = line.partition(" - ")
        where = Path(before.split()[4].encode().decode("unicode_escape"))
        if path.resolve().is_relative_to(where) and len(where.parts) >= best:
            found, best = after.split()[0], len(where.parts)
    return found


def size(count: int) -> str:
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if count >= factor:
            return f"{count / factor:.0f} {unit}"
    return f"{count / 1024:.0f} KiB"


# ---- the journal ---------------------------------------------------------------------------------


def check_journal(state: StateDir, gateway: Check) -> Check:
    """Whether it can be read. A gateway that runs holds it alone, and answers for it."""
    path = state.journal
    if "pid" in gateway.data:
        sessions = gateway.data.get("sessions")
        held = f"held by the gateway, {_sessions(sessions)}" if sessions is not None else ""
        return Check(area="journal", text=held or "held by a gateway that does not answer")
    try:
        found = path.lstat()
    except FileNotFoundError:
        return _without(path)
    except OSError as error:
        return _damaged(path, str(error.strerror))
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        return _damaged(path, "not a plain file of yours")
    if found.st_size < PAGE_BYTES:
        return _damaged(path, f"cut off after {found.st_size} bytes")
    log = path.with_name(path.name + "-wal")
    unclean = log.exists() and log.stat().st_size > 0
    try:
        version, sessions = _look(path, whole=not unclean)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if unclean:  # half of what it holds may stand in its log
            text = "was not closed; the next gateway takes the rest from its log"
            return Check(area="journal", status="note", text=text)
        return _damaged(path, str(error))
    data: dict[str, object] = {"version": version, "sessions": sessions, "bytes": found.st_size}
    if version > len(MIGRATIONS):
        text = f"written by a newer Flybridge (version {version} of the file)"
        fix = f"upgrade Flybridge; this one reads up to {len(MIGRATIONS)}"
        return Check(area="journal", status="problem", text=text, fix=fix, data=data)
    text = f"opens, {_sessions(sessions)}, {size(found.st_size)}"
    if unclean:
        text += "; was not closed, the next gateway takes the rest from its log"
    return Check(area="journal", text=text, data=data)


def _sessions(count: object) -> str:
    return "1 session" if count == 1 else f"{count} sessions"


def _without(path: Path) -> Check:
    if path.with_name(path.name + "-wal").exists():
        return _damaged(path, "missing, but its write-ahead log is there")
    return Check(area="journal", text="none yet")


def _damaged(path: Path, why: str) -> Check:
    fix = f"put it back from a backup, or move {path.name}* away and begin with an empty one"
    return Check(area="journal", status="problem", text=f"{path}: {why}", fix=fix)


def _look(path: Path, *, whole: bool) -> tuple[int, int]:
    """Its version and how many sessions it holds; ``whole``: walk it, as far as time allows.

    ``immutable`` keeps SQLite from making so much as a lock file beside it.
    """
    place = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(place, uri=True, timeout=0)
    try:
        (version,) = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
        (sessions,) = connection.execute("SELECT count(*) FROM sessions").fetchone()
        if whole:
            _walk(connection)
    except TypeError:
        raise sqlite3.DatabaseError("has no version") from None
    finally:
        connection.close()
    return int(version), int(sessions)


def _walk(connection: sqlite3.Connection) -> None:
    until = time.monotonic() + CHECK_S
    connection.set_progress_handler(lambda: time.monotonic() > until, STEPS)
    try:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return  # so far, so good
        raise
    if verdict != "ok":
        raise sqlite3.DatabaseError(" ".join(str(verdict).split())[:200])
