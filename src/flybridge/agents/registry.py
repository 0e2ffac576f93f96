"""List every kind of agent: the only place that knows which there are.

Two kinds are built in. Other packages add more by entry points of the group ``flybridge.agents``:
the name is the kind, the object an :class:`~flybridge.agents.kinds.AgentKind`. A package is
imported only when its kind is asked for; one that cannot be imported is logged, shown by
``flybridge doctor`` and otherwise treated as if its kind did not exist.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeVar

import msgspec

from flybridge.agents.claude.kinds import CLAUDE, DEMO
from flybridge.agents.history import History
from flybridge.agents.kinds import AgentKind, AgentSettings, Records
from flybridge.errors import AgentKindError
from flybridge.model.options import OptionSchema
from flybridge.session.ports import Agent, Conversations

GROUP = "flybridge.agents"
BUILT_IN = (CLAUDE, DEMO)
_log = logging.getLogger(__name__)
_Given = TypeVar("_Given")
_Part = TypeVar("_Part")


class Published(Protocol):
    """An entry point, as :mod:`importlib.metadata` has them."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> str: ...
    def load(self) -> object: ...


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A kind that cannot be used, and why."""

    kind: str
    text: str


def installed() -> Iterable[Published]:
    """Return the entry points of all installed packages, without importing any of them."""
    from importlib.metadata import entry_points  # slow, and most people have no such package

    return entry_points(group=GROUP)


def package_of(published: Published) -> str:
    """Return the name of the package that brings an entry point, for people."""
    dist = getattr(published, "dist", None)
    return str(getattr(dist, "name", "") or published.value.partition(":")[0])


class Registry:
    """Find kinds by name. Entry points are read once, when the first kind is not built in."""

    def __init__(
        self,
        built_in: Iterable[AgentKind] = BUILT_IN,
        find: Callable[[], Iterable[Published]] = installed,
    ) -> None:
        self.built_in = {kind.name: kind for kind in built_in}
        self._find = find
        self._published: dict[str, list[Published]] | None = None
        self._loaded: dict[str, AgentKind | AgentKindError] = {}

    def names(self) -> list[str]:
        """Return every kind that is built in or published, whether or not it can be loaded."""
        return sorted({*self.built_in, *self._by_name()})

    def knows(self, name: str) -> bool:
        """Return whether a kind is built in or published."""
        return name in self.built_in or name in self._by_name()

    def get(self, name: str) -> AgentKind:
        """Return a kind, importing the package that publishes it.

        Raises:
            AgentKindError: no package provides it, two do, or it cannot be loaded.
        """
        if name in self.built_in:
            return self.built_in[name]
        if name not in self._loaded:
            try:
                self._loaded[name] = self._load(name)
            except AgentKindError as error:
                self._loaded[name] = error
                _log.error("agent kind %s: %s", name, error.reason)
        kind = self._loaded[name]
        if isinstance(kind, AgentKindError):
            raise AgentKindError(kind.kind, kind.reason)
        return kind

    def find(self, name: str) -> AgentKind | None:
        """Return a kind, or None if it cannot be used; the log says why."""
        if not self.knows(name):
            return None
        try:
            return self.get(name)
        except AgentKindError:
            return None

    def build(self, name: str, settings: AgentSettings) -> Agent:
        """Build an agent of a kind, whatever the code of its package does.

        Raises:
            AgentKindError: the kind cannot be used, its package fails, or what it builds is no
                agent of that kind.
        """
        kind = self.get(name)
        try:
            agent = kind.build(settings)
            built, options = agent.kind, agent.options
        except (Exception, SystemExit) as error:  # may be somebody else's code
            raise _failed(name, f"agent {settings.name!r} cannot be built", error) from error
        if built != name:  # it would be trusted and recorded as an agent of the other kind
            reason = f"agent {settings.name!r} was built as one of the kind {built!r}"
            raise AgentKindError(name, reason)
        if not isinstance(options, OptionSchema):
            raise AgentKindError(name, f"agent {settings.name!r} has no schema of options")
        return agent

    def conversations(self, name: str, records: Records) -> Conversations | None:
        """Return what reads the records of a kind; None if it keeps none or cannot be used."""
        kind = self.find(name)
        return _made(name, kind.conversations, records) if kind is not None else None

    def history(self, name: str, environ: Mapping[str, str]) -> History | None:
        """Return what lists the conversations of a kind; None if there are none or it fails."""
        kind = self.find(name)
        return _made(name, kind.history, environ) if kind is not None else None

    def problems(self) -> list[Problem]:
        """Load everything, and return what is wrong with any of it."""
        problems: list[Problem] = []
        for name, published in self._by_name().items():
            if name in self.built_in:
                packages = _packages(published)
                text = f"{packages} publishes a kind that is built in, which is ignored"
                problems.append(Problem(kind=name, text=text))
                continue
            try:
                self.get(name)
            except AgentKindError as error:
                problems.append(Problem(kind=name, text=error.reason))
        return problems

    def _by_name(self) -> dict[str, list[Published]]:
        if self._published is None:
            self._published = {}
            for published in self._find():
                same = self._published.setdefault(published.name, [])
                # one package may be found twice: as it is installed, and in its working tree
                known = {(package_of(other), other.value) for other in same}
                if (package_of(published), published.value) not in known:
                    same.append(published)
        return self._published

    def _load(self, name: str) -> AgentKind:
        published = self._by_name().get(name, [])
        if not published:
            raise AgentKindError(name, f"there is none; there are {', '.join(self.names())}")
        if len(published) > 1:
            packages = _packages(published)
            raise AgentKindError(name, f"{packages} both publish it: uninstall one of them")
        package = package_of(published[0])
        try:
            kind = published[0].load()
        except (Exception, SystemExit) as error:  # somebody else's code
            reason = f"{package} cannot be imported: {type(error).__name__}: {error}"
            raise AgentKindError(name, reason) from error
        if not isinstance(kind, AgentKind):
            raise AgentKindError(name, f"{package} publishes {published[0].value}, no AgentKind")
        if kind.name != name:
            raise AgentKindError(name, f"{package} publishes it under another name: {kind.name!r}")
        return kind


def _made(name: str, make: Callable[[_Given], _Part] | None, given: _Given) -> _Part | None:
    """Call an optional part of a kind; a failure is logged, and leaves that part out."""
    if make is None:
        return None
    try:
        return make(given)
    except (Exception, SystemExit) as error:  # may be somebody else's code
        _log.error("%s", _failed(name, "its records cannot be read", error))
        return None


def _failed(name: str, what: str, error: BaseException) -> AgentKindError:
    _log.debug("agent kind %s: %s", name, what, exc_info=error)
    return AgentKindError(name, f"{what}: {type(error).__name__}: {error}")


def _packages(published: Iterable[Published]) -> str:
    return " and ".join(sorted(package_of(entry) for entry in published))


REGISTRY = Registry()
