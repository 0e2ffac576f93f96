"""Find the probe of a kind of agent, which ``flybridge doctor --probe`` runs.

A kind names its probe by an object reference (``package.module:object``), because probes hold whole
conversations and so stand above everything that agents may import. It is imported only here.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from flybridge.agents.registry import Registry
from flybridge.errors import AgentKindError, InvalidRequestError
from flybridge.probes.report import Finding, Report


class RunProbe(Protocol):
    """Try a program offline, and compare it with what is known of its kind.

    ``begun`` is given the report before the first finding, ``told`` each finding as it comes.

    Raises:
        AgentNotFoundError: there is no such program.
    """

    def __call__(
        self,
        program: Sequence[str],
        *,
        path: str,
        agent: str,
        begun: Callable[[Report], None],
        told: Callable[[Finding], None],
    ) -> Report: ...


class AgentProbe(msgspec.Struct, frozen=True, kw_only=True):
    """The probe of one kind of agent; ``subjects`` are what its findings can be about."""

    run: RunProbe
    subjects: tuple[str, ...] = ()


def probe_of(kind: str, agent: str, registry: Registry) -> AgentProbe:
    """Return the probe of a kind.

    Raises:
        AgentKindError: the kind, or its probe, cannot be loaded.
        InvalidRequestError: this kind has none.
    """
    reference = registry.get(kind).probe
    if not reference:
        names = [
            name for name in registry.names() if (known := registry.find(name)) and known.probe
        ]
        raise InvalidRequestError(
            f"agents of the kind {kind!r} have no probe, so {agent} cannot be tried; "
            f"kinds that have one: {', '.join(names) or 'none'}"
        )
    try:
        probe = pkgutil.resolve_name(reference)
    except (Exception, SystemExit) as error:  # may be somebody else's code
        reason = f"its probe {reference} cannot be imported: {type(error).__name__}: {error}"
        raise AgentKindError(kind, reason) from error
    if not isinstance(probe, AgentProbe):
        raise AgentKindError(kind, f"its probe {reference} is no AgentProbe")
    return probe
