from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.cli.doctor.isolation import (
    check_hidepid,
    check_isolation,
    check_old_agents,
    check_other_users,
    check_yama,
)
from flybridge.cli.doctor.text import Check
from flybridge.config.state_dir import StateDir


@pytest.mark.parametrize(
    ("content", "status", "scope"),
    [
        ("0\n", "note", 0),
        ("1\n", "ok", 1),
        ("2\n", "ok", 2),
        ("3\n", "ok", 3),
        (None, "note", None),
    ],
)
def test_a01_yama_is_reported(
    tmp_path: Path, content: str | None, status: str, scope: int | None
) -> None:
    path = tmp_path / "ptrace_scope"
    if content is not None:
        path.write_text(content)
    check = check_yama(str(path))
    assert (check.status, check.data) == (status, {"ptrace_scope": scope})
    assert (status == "note") == ("pidfd_getfd" in check.text) == ("Unix user" in check.fix)


@pytest.mark.parametrize(
    ("options", "uid", "status", "value"),
    [
        ("rw,relatime", 1000, "ok", "off"),
        ("rw,hidepid=0", 1000, "ok", "off"),
        ("rw,hidepid=invisible", 1000, "note", "invisible"),
        ("rw,hidepid=2,gid=4", 1000, "note", "invisible"),
        ("rw,hidepid=noaccess", 0, "ok", "noaccess"),
        ("rw,hidepid=ptraceable", 1000, "note", "ptraceable"),
    ],
)
def test_a01_hidepid_is_reported(
    tmp_path: Path, options: str, uid: int, status: str, value: str
) -> None:
    path = tmp_path / "mounts"
    path.write_text(f"/dev/vda / ext4 rw 0 0\nproc /proc proc {options} 0 0\n")
    check = check_hidepid(str(path), uid=uid)
    assert (check.status, check.data) == (status, {"hidepid": value})


def test_a02_users_that_the_configuration_admits_are_reported() -> None:
    (check,) = check_other_users(["ann", 1001], ["www-data"])
    assert check.text == "ann may sign in, 1001 may sign in, www-data forwards connections"
    assert check.data == {"users": ["ann", 1001], "forwarders": ["www-data"]}
    assert check_other_users([], []) == []


def test_a01_the_last_mount_of_proc_counts(tmp_path: Path) -> None:
    path = tmp_path / "mounts"
    path.write_text("proc /proc proc rw 0 0\nproc /proc proc rw,hidepid=2 0 0\n")
    assert check_hidepid(str(path), uid=1).data == {"hidepid": "invisible"}
    assert check_hidepid(str(tmp_path / "none"), uid=1).data == {"hidepid": "off"}


async def test_a_gateway_that_does_not_answer_is_said(short_tmp: Path) -> None:
    check = await check_old_agents(StateDir(short_tmp / "s"))
    assert (check.status, check.area) == ("note", "old agents")


async def test_without_a_gateway_agents_are_not_asked_about(short_tmp: Path) -> None:
    checks = await check_isolation(StateDir(short_tmp / "s"), Check(area="gateway", text="none"))
    assert [check.area for check in checks] == ["yama", "hidepid"]
