from __future__ import annotations

import time

import msgspec
from msgspec import Raw

from flybridge.cli.chat.asking import SETTLE_S, Asking
from flybridge.cli.chat.prompts import Answer
from flybridge.model import events as ev
from flybridge.model.commands import AnswerPermission
from flybridge.model.ids import ItemId, PromptId
from tests.harness.screen_model import Sheet


class Desk:
    """A prompt on a sheet of paper, and the answers that were given."""

    def __init__(self, *, inline: bool = False) -> None:
        self.paper = Sheet()
        self.answers: list[Answer] = []
        self.asking = Asking(
            self.paper,
            size=lambda: (80, 40),
            changed=lambda: None,
            decide=self.answers.append,
            helper=lambda parent: {"t": "Look around"}.get(parent, ""),
            inline=inline,
        )
        self.asking.us = "uid:1"

    def rest(self) -> None:
        """As if the prompt had been there for a while."""
        self.asking._shown_at = self.asking.typed_at = time.monotonic() - 2 * SETTLE_S


def asked(prompt: str = "p", parent: str = "") -> ev.PermissionRequested:
    return ev.PermissionRequested(
        prompt=PromptId(prompt),
        tool="Bash",
        input=Raw(b'{"command":"ls"}'),
        digest="d",
        parent=ItemId(parent),
    )


def closed(how: str, prompt: str = "p", by: str = "uid:1") -> ev.PermissionClosed:
    return ev.PermissionClosed(prompt=PromptId(prompt), how=how, by=by)  # type: ignore[arg-type]


async def test_a_prompt_has_no_keys_before_it_was_looked_at() -> None:
    desk = Desk()
    desk.asking.opened(asked())
    desk.asking.show_next()
    assert not desk.asking.has_keys(typing=False)
    desk.rest()
    assert not desk.asking.has_keys(typing=True)
    assert desk.asking.has_keys(typing=False)


async def test_an_answer_given_here_is_by_you() -> None:
    desk = Desk()
    desk.asking.opened(asked())
    desk.asking.show_next()
    desk.asking.press("y")
    (answer,) = desk.answers
    assert isinstance(answer, AnswerPermission)
    assert desk.asking.sending
    assert desk.asking.closed(closed("allowed"))
    assert desk.paper.text.endswith("┗━ allowed by you\n")
    assert desk.asking.box is None


async def test_an_answer_given_elsewhere_says_by_whom() -> None:
    for by, said in (("uid:1", "by you, elsewhere"), ("token:ci", "by token:ci")):
        desk = Desk()
        desk.asking.opened(asked())
        desk.asking.show_next()
        desk.asking.closed(closed("denied", by=by))
        assert desk.paper.text.endswith(f"┗━ denied {said}\n")


async def test_what_somebody_else_made_of_it_is_told() -> None:
    desk = Desk()
    desk.asking.opened(asked())
    desk.asking.show_next()
    desk.asking.press("y")  # too late
    changed = Raw(b'{"command":"ls -l"}')
    event = msgspec.structs.replace(closed("allowed", by="token:ci"), edited=True, input=changed)
    desk.asking.closed(event)
    assert desk.paper.text.endswith("┗━ allowed by token:ci, with changes\n   command: ls -l\n")


async def test_a_subagents_prompt_names_it() -> None:
    desk = Desk(inline=True)
    desk.asking.opened(asked(parent="t"))
    desk.asking.show_next()
    assert "asked by the subagent: Look around" in desk.paper.text


async def test_prompts_come_one_after_the_other() -> None:
    desk = Desk()
    for name in ("a", "b"):
        desk.asking.opened(asked(name))
    desk.asking.show_next()
    assert desk.asking.box is not None
    assert desk.asking.box.prompt == "a"
    assert not desk.asking.closed(closed("allowed", "b"))
    desk.asking.closed(closed("allowed", "a"))
    desk.asking.show_next()
    assert desk.asking.box is None


async def test_an_answer_that_did_not_get_through_can_be_given_again() -> None:
    desk = Desk()
    desk.asking.opened(asked())
    desk.asking.show_next()
    desk.asking.press("n")
    desk.asking.failed()
    desk.rest()
    assert desk.asking.has_keys(typing=False)
    desk.asking.press("n")
    assert len(desk.answers) == 2


async def test_a_log_that_began_anew_has_no_prompts() -> None:
    desk = Desk()
    desk.asking.opened(asked())
    desk.asking.show_next()
    desk.asking.clear()
    desk.asking.show_next()
    assert desk.asking.box is None
