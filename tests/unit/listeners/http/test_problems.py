from __future__ import annotations

import inspect

import msgspec
import pytest

from flybridge import errors
from flybridge.errors import (
    AgentNotFoundError,
    BusyError,
    FlybridgeError,
    NotAuthenticatedError,
    PromptDecidedError,
    StorageError,
    TooManyTriesError,
)
from flybridge.listeners.http.problems import STATUS, HttpError, problem_of


def all_errors() -> list[type[FlybridgeError]]:
    found = [one for _, one in inspect.getmembers(errors, inspect.isclass)]
    return [one for one in found if issubclass(one, FlybridgeError)]


@pytest.mark.parametrize("kind", all_errors(), ids=lambda kind: kind.__name__)
def test_every_error_of_ours_has_a_status(kind: type[FlybridgeError]) -> None:
    assert kind.code in STATUS


def test_the_table_has_no_codes_that_nobody_raises() -> None:
    assert STATUS.keys() == {one.code for one in all_errors()}


def test_a_refusal_is_explained_with_what_it_is_about() -> None:
    problem, _ = problem_of(PromptDecidedError("prm_1", choice="deny", by="me"))
    assert (problem.status, problem.code) == (409, "already_decided")
    assert problem.data == {"prompt": "prm_1", "choice": "deny", "by": "me"}
    assert problem.type == "urn:flybridge:problem:already_decided"


@pytest.mark.parametrize(
    "error",
    [
        StorageError("/home/me/.local/state/flybridge/journal.db: disk I/O error"),
        AgentNotFoundError("claude", program="/home/me/bin/claude"),
        RuntimeError("secret /home/me"),
    ],
)
def test_no_path_and_no_secret_is_told(error: Exception) -> None:
    problem, _ = problem_of(error)
    assert b"/home" not in msgspec.json.encode(problem)
    assert problem.detail


def test_who_has_to_wait_is_told_how_long() -> None:
    problem, headers = problem_of(TooManyTriesError(42))
    assert (problem.status, headers) == (429, {"retry-after": "42"})
    assert problem_of(BusyError("full"))[1] == {"retry-after": "1"}


def test_all_failures_to_authenticate_look_the_same() -> None:
    first, _ = problem_of(NotAuthenticatedError())
    second, _ = problem_of(NotAuthenticatedError())
    assert first == second
    assert first.data == {}


def test_what_only_http_knows_has_its_headers() -> None:
    problem, headers = problem_of(HttpError(416, "no_such_range", "no", content_range="bytes */5"))
    assert (problem.status, problem.code) == (416, "no_such_range")
    assert headers == {"content-range": "bytes */5"}
