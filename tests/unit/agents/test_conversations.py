from __future__ import annotations

from collections.abc import Callable

from flybridge.agents.conversations import AgentConversations
from flybridge.model.ids import SessionId
from flybridge.session.ports import Past


class Kept:
    """The records of one kind, which knows one conversation of each agent."""

    def __init__(self) -> None:
        self.claimed: list[str] = []

    def past(self, agent: str, conversation: str, cwd: str = "") -> Past | None:
        return Past(conversation=f"{agent}/{conversation}", cwd=cwd)

    def other_writer(
        self, agent: str, conversation: str, but: SessionId, *, guess: bool = True
    ) -> str:
        return f"somebody has {conversation}" if guess else ""

    def claim(
        self, agent: str, conversation: str, session: SessionId, *, guess: bool = True
    ) -> Callable[[], None]:
        self.claimed.append(conversation)
        return lambda: self.claimed.remove(conversation)


def test_each_agent_is_asked_about_at_the_provider_of_its_kind() -> None:
    kept, session = Kept(), SessionId("ses_1")
    both = AgentConversations({"mine": kept})
    past = both.past("mine", "c1", "/w")
    assert past is not None
    assert (past.conversation, past.cwd) == ("mine/c1", "/w")
    assert both.other_writer("mine", "c1", session) == "somebody has c1"
    assert both.other_writer("mine", "c1", session, guess=False) == ""
    release = both.claim("mine", "c1", session)
    assert kept.claimed == ["c1"]
    release()
    assert kept.claimed == []


def test_an_agent_of_a_kind_without_records_has_no_past_and_is_not_guarded() -> None:
    both, session = AgentConversations({"mine": Kept()}), SessionId("ses_1")
    assert both.past("courier", "c1") is None
    assert both.other_writer("courier", "c1", session) == ""
    both.claim("courier", "c1", session)()
