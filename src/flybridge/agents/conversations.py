"""Route questions about an agent's own records to the provider of its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flybridge.model.ids import SessionId
from flybridge.session.ports import Conversations, Past


class AgentConversations:
    """A :class:`~flybridge.session.ports.Conversations` over the providers of several kinds.

    An agent without a provider keeps no records: it has no past, and nothing is guarded.
    """

    def __init__(self, providers: Mapping[str, Conversations]) -> None:
        self._providers = providers  # by the name of the agent

    def past(self, agent: str, conversation: str, cwd: str = "") -> Past | None:
        provider = self._providers.get(agent)
        return provider.past(agent, conversation, cwd) if provider is not None else None

    def other_writer(
        self, agent: str, conversation: str, but: SessionId, *, guess: bool = True
    ) -> str:
        provider = self._providers.get(agent)
        if provider is None:
            return ""
        return provider.other_writer(agent, conversation, but, guess=guess)

    def claim(
        self, agent: str, conversation: str, session: SessionId, *, guess: bool = True
    ) -> Callable[[], None]:
        provider = self._providers.get(agent)
        if provider is None:
            return lambda: None
        return provider.claim(agent, conversation, session, guess=guess)
