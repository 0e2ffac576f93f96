from __future__ import annotations

import re

import pytest

from flybridge import errors
from flybridge.errors import FlybridgeError

CLASSES = [
    thing
    for thing in vars(errors).values()
    if isinstance(thing, type) and issubclass(thing, FlybridgeError)
]

# class → the sentence people see; classes without a constructor say what they are told
TEXTS: list[tuple[FlybridgeError, str]] = [
    (errors.NotAllowedError("approve"), "this needs the right to approve"),
    (errors.NotAllowedError("input", why="view only"), "this needs the right to input: view only"),
    (
        errors.InvalidOptionError("a", option="x", reason="unknown_option", messages=["b", "c"]),
        "a: b; c",
    ),
    (errors.NotAuthenticatedError(), "log in first"),
    (
        errors.LoginIncompleteError(),
        "the login key of this browser is missing or wrong: sign in again",
    ),
    (errors.TooManyTriesError(7), "too many wrong tries; wait 7 s"),
    (
        errors.FolderNotTrustedError("/p", files=["/p/.mcp.json"]),
        "/p brings its own settings: /p/.mcp.json. Choose what to do with them: pass "
        "--folder restrict to start without them, pass --folder trust (in a terminal) to obey "
        "them, run `flybridge trust add` in a terminal, or, also for CI, set folder_settings to "
        "restrict or trust in your config.yaml",
    ),
    (
        errors.FolderNotTrustedError("/p", files=["/p/x"], agent="other", restrict="unsupported"),
        "/p brings its own settings: /p/x. Choose what to do with them: pass --folder trust (in a "
        "terminal) to obey them, run `flybridge trust add --agent other` in a terminal, or, also "
        "for CI, set folder_settings to trust in your config.yaml",
    ),
    (errors.SessionNotFoundError("ses_1"), "no session 'ses_1'"),
    (errors.SessionClosedError("ses_1"), "session ses_1 is closed"),
    (errors.RequestReusedError("r1"), "Request ID r1 was already used with different content."),
    (errors.PromptClosedError("prm_1"), "prompt prm_1 is no longer open"),
    (
        errors.PromptDecidedError("prm_1", choice="deny", by="ann"),
        "prompt prm_1 was already decided: deny by ann",
    ),
    (
        errors.StalePromptError("prm_1"),
        "the answer to prm_1 is bound to another input than the one asked for",
    ),
    (errors.StaleTurnError("trn_1"), "turn trn_1 is over"),
    (errors.StaleTurnError(""), "no turn is running"),
    (errors.AgentNotFoundError("cody"), "Unknown agent 'cody'."),
    (
        errors.AgentNotFoundError("cody", available=["claude", "demo"]),
        "Unknown agent 'cody'. Available: claude, demo.",
    ),
    (errors.AgentNotFoundError("claude", program="claude"), "claude: program 'claude' not found"),
    (
        errors.AgentKindError("boat", "there is none"),
        "agents of the kind 'boat' cannot be used: there is none",
    ),
    (
        errors.AgentUnavailableError("kayak", "boat", reason="no agent 'kayak' is configured"),
        "this session is read-only: no agent 'kayak' is configured",
    ),
    (errors.AgentStartError("claude", reason="no space"), "claude did not start: no space"),
    (
        errors.TransportRefusedError("claude", version="2.1.325", last="2.1.120"),
        "claude 2.1.325 does not connect to us: its maker closed --sdk-url after 2.1.120; use "
        "stdio, which carries everything",
    ),
    (errors.AgentExitedError("claude", status=3), "claude exited with status 3"),
    (errors.ConfigError("f.yaml: title", "too long"), "f.yaml: title: too long"),
]


def drawn_tree() -> dict[str, str]:
    """Class → its parent, as drawn at the head of errors.py."""
    parents: dict[str, str] = {}
    above = ["Exception"]
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"([│├└─ ]*)(\w+Error)\b", line):
            depth = len(match[1]) // 4 + 1
            parents[match[2]] = above[depth - 1]
            above[depth:] = [match[2]]
    return parents


def test_the_tree_at_the_head_of_the_file_is_the_real_one() -> None:
    real = {kind.__name__: getattr(kind.__base__, "__name__", "") for kind in CLASSES}
    assert drawn_tree() == real


def test_every_class_has_a_code_of_its_own() -> None:
    assert [kind.__name__ for kind in CLASSES if "code" not in vars(kind)] == []
    codes = [kind.code for kind in CLASSES]
    assert sorted(set(codes)) == sorted(codes)
    assert [code for code in codes if not re.fullmatch(r"[a-z]+(_[a-z]+)*", code)] == []


@pytest.mark.parametrize(("error", "text"), TEXTS, ids=lambda it: type(it).__name__)
def test_every_text_is_pinned(error: FlybridgeError, text: str) -> None:
    assert str(error) == text


def test_every_constructor_is_in_the_table_and_keeps_its_data() -> None:
    own = {kind for kind in CLASSES if "__init__" in vars(kind)}
    assert {type(error) for error, _ in TEXTS} == own
    silent = [error for error, _ in TEXTS if not vars(error)]
    assert {type(error) for error in silent} == {  # on purpose
        errors.NotAuthenticatedError,
        errors.LoginIncompleteError,
    }


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if "__init__" not in vars(kind)])
def test_a_class_without_a_constructor_says_what_it_is_told(kind: type[FlybridgeError]) -> None:
    assert str(kind("what happened")) == "what happened"
