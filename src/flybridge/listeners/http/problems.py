"""What went wrong, as HTTP says it: RFC 9457, with our own stable codes in one table.

What a caller did wrong is explained to them. What went wrong on our side is named, and the rest
is in the log: a path, a program's words or a piece of memory is nobody's business out there.
All failures to authenticate look the same.
"""

from __future__ import annotations

from http import HTTPStatus

import msgspec

from flybridge.auth.gate import Refused
from flybridge.errors import FlybridgeError, NotAuthenticatedError, RefusedError, TooManyTriesError

MEDIA_TYPE = b"application/problem+json"
MAX_DETAIL = 500
STATUS: dict[str, int] = {
    "internal": 500,
    "protocol": 400,
    "protocol_local": 500,
    "protocol_remote": 400,
    "refused": 409,
    "invalid_request": 400,
    "invalid_option": 400,
    "not_allowed": 403,
    "not_authenticated": 401,
    "login_incomplete": 401,
    "too_many_tries": 429,
    "pairing_over": 410,
    "session_not_found": 404,
    "folder_not_trusted": 409,
    "session_closed": 409,
    "not_live": 409,
    "agent_unavailable": 409,
    "request_id_reused": 422,
    "busy": 409,
    "already_closed": 409,
    "already_decided": 409,
    "stale_prompt": 409,
    "stale_turn": 409,
    "not_supported": 422,
    "agent": 502,
    "agent_not_found": 422,
    "agent_kind": 502,
    "agent_start": 502,
    "transport_refused": 422,
    "agent_exited": 502,
    "query_failed": 502,
    "keeper": 503,
    "storage_failed": 503,
    "storage_full": 503,
    "storage_version": 503,
    "storage_corrupt": 503,
    "gateway": 503,
    "gateway_running": 503,
    "gateway_unreachable": 503,
    "config": 500,
}
_SPOKEN = ("query_failed",)  # beside what was refused: here the words are the agent's answer


class Problem(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The body of every answer that is not a success."""

    type: str
    title: str
    status: int
    code: str
    detail: str = ""
    data: dict[str, str | int] = {}  # what the code is about: a session, a prompt, a scope


class HttpError(Exception):
    """A refusal that only HTTP knows: a wrong path, method, size or form."""

    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.refused = Refused(status, code, message)
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def problem_of(error: Exception) -> tuple[Problem, dict[str, str]]:
    """What to say about an error, and in which headers."""
    if isinstance(error, HttpError):
        return of_refusal(error.refused), error.headers
    if not isinstance(error, FlybridgeError):
        return _problem(500, "internal", "see the gateway's log"), {}
    problem = _problem(STATUS.get(error.code, 500), error.code, _detail(error))
    if isinstance(error, RefusedError) and not isinstance(error, NotAuthenticatedError):
        problem.data = {
            key: one for key, one in vars(error).items() if isinstance(one, str | int) and one
        }
    return problem, _headers(error)


def of_refusal(refused: Refused) -> Problem:
    return _problem(refused.status, refused.code, refused.message)


def _problem(status: int, code: str, detail: str) -> Problem:
    return Problem(
        type=f"urn:flybridge:problem:{code}",
        title=HTTPStatus(status).phrase,
        status=status,
        code=code,
        detail=detail[:MAX_DETAIL],
    )


def _detail(error: FlybridgeError) -> str:
    if isinstance(error, RefusedError) or error.code in _SPOKEN:
        return str(error)
    said = (type(error).__doc__ or "").strip().partition("\n")[0]
    return said or "see the gateway's log"


def _headers(error: FlybridgeError) -> dict[str, str]:
    if isinstance(error, TooManyTriesError):
        return {"retry-after": str(error.wait_s)}
    if isinstance(error, NotAuthenticatedError):
        return {"www-authenticate": 'Bearer realm="flybridge"'}
    return {"retry-after": "1"} if error.code == "busy" else {}
