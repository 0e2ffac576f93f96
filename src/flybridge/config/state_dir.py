"""Where one gateway and its clients meet: a folder that belongs to one user alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from flybridge.errors import GatewayError

SOCKET_PATH_BYTES = 107  # what the kernel takes, less the zero at the end
ELSEWHERE = "choose another with --state DIR"


class StateDir:
    """The state directory and the names inside it.

    Everything in it decides who may steer agents, so :meth:`prepare` and :meth:`check` refuse
    a directory that anybody else could read, replace or own.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # made absolute, because a gateway has another working directory; links are not resolved
        self.path = Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100

    @classmethod
    def resolve(
        cls,
        given: StateDir | str | os.PathLike[str] | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> StateDir:
        """``given``, else $FLYBRIDGE_STATE, else $XDG_STATE_HOME/flybridge, else the default."""
        if isinstance(given, StateDir):
            return given
        if given is not None:
            return cls(given)
        if own := environ.get("FLYBRIDGE_STATE"):
            return cls(own)
        base = environ.get("XDG_STATE_HOME", "")
        # the XDG rules say that a relative path is to be ignored
        home = Path(base) if base.startswith("/") else Path("~/.local/state")
        return cls(home / "flybridge")

    def __repr__(self) -> str:
        return f"StateDir({str(self.path)!r})"

    @property
    def socket(self) -> Path:
        return self.path / "gateway.sock"

    @property
    def control(self) -> Path:
        """The socket for control messages."""
        return self.path / "control.sock"

    @property
    def inbox(self) -> Path:
        """Where files are that control messages refer to, unless the configuration says so."""
        return self.path / "inbox"

    @property
    def teams(self) -> Path:
        return self.path / "teams"

    @property
    def lock(self) -> Path:
        return self.path / "gateway.lock"

    @property
    def journal(self) -> Path:
        return self.path / "journal.db"

    @property
    def blobs(self) -> Path:
        return self.path / "blobs"

    @property
    def keepers(self) -> Path:
        return self.path / "keepers"

    @property
    def tokens(self) -> Path:
        return self.path / "tokens"

    @property
    def ci_keys(self) -> Path:
        return self.path / "ci-keys"

    @property
    def trusted(self) -> Path:
        return self.path / "trusted"

    @property
    def devices(self) -> Path:
        return self.path / "devices"

    @property
    def audit(self) -> Path:
        return self.path / "audit.log"

    @property
    def sent(self) -> Path:
        """The audit log of control messages that were sent from here."""
        return self.path / "sent.log"

    @property
    def scratch(self) -> Path:
        return self.path / "tmp"

    @property
    def log(self) -> Path:
        return self.path / "gateway.log"

    def prepare(self) -> None:
        """Create the directory for this user alone, or make sure that it is one.

        Raises:
            GatewayError: it cannot be made, or somebody else could get at it.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.mkdir(mode=0o700, exist_ok=True)
        except FileExistsError:
            pass  # something else has its name, or its parent's: check() says what
        except OSError as error:
            raise GatewayError(_wrong(self.path, _reason(error), ELSEWHERE)) from error
        self.check()

    def check(self) -> None:
        """Make sure that the directory is this user's alone.

        Raises:
            FileNotFoundError: there is none yet.
            GatewayError: it is a link, somebody else's, or open to others.
        """
        try:
            found = self.path.lstat()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise GatewayError(_wrong(self.path, _reason(error), ELSEWHERE)) from error
        if stat.S_ISLNK(found.st_mode):
            fix = "point --state at the directory itself"
            raise GatewayError(_wrong(self.path, "is a symbolic link", fix))
        if not stat.S_ISDIR(found.st_mode):
            raise GatewayError(_wrong(self.path, "is not a directory", "move it away"))
        if found.st_uid != os.geteuid():
            why = f"belongs to user {found.st_uid}, not to you ({os.geteuid()})"
            raise GatewayError(_wrong(self.path, why, ELSEWHERE))
        if found.st_mode & 0o077:
            why = f"is open to others (mode {stat.S_IMODE(found.st_mode):04o})"
            raise GatewayError(_wrong(self.path, why, f"run: chmod 700 {self.path}"))

    @contextmanager
    def socket_address(self, socket: Path | None = None) -> Iterator[str]:
        """A socket's path (the gateway's own, unless another is given), short enough to bind or
        connect to while the context lasts.

        A path that is too long for the kernel is reached through a descriptor of its folder,
        so that nobody has to change the working directory.
        """
        socket = socket or self.socket
        if len(os.fsencode(socket)) <= SOCKET_PATH_BYTES:
            yield str(socket)
            return
        folder = os.open(self.path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            yield f"/proc/self/fd/{folder}/{socket.name}"
        finally:
            os.close(folder)


def _wrong(path: Path, why: str, fix: str) -> str:
    return f"the state directory {path} {why}; {fix}"


def _reason(error: OSError) -> str:
    return f"cannot be used: {error.strerror}"
