from __future__ import annotations

import pytest

from flybridge import errors
from flybridge.frontends.control.refusals import not_found, refused_by, rejected


@pytest.mark.conforms("S2-4a")
@pytest.mark.parametrize(
    ("error", "result", "code"),
    [
        (errors.SessionNotFoundError("ses_x"), "not_found", "not_found"),
        (errors.SessionClosedError("ses_x"), "not_live", "session_closed"),
        (errors.NotLiveError("no"), "not_live", "not_live"),
        (errors.StaleTurnError("trn_1"), "not_live", "turn_ended"),
        (errors.BusyError("full"), "busy", "busy"),
        (errors.RequestReusedError("k"), "rejected", "request_id_reused"),
        (errors.NotAllowedError("input"), "rejected", "not_allowed"),
        (errors.InvalidRequestError("bad"), "rejected", "invalid_request"),
        (errors.StorageFullError("/some/path is full"), "internal_error", "storage_full"),
        (errors.KeeperError("gone"), "internal_error", "keeper"),
    ],
)
def test_an_error_of_the_house_has_a_result(
    error: errors.FlybridgeError, result: str, code: str
) -> None:
    found = refused_by(error)
    assert (found.result, found.code) == (result, code)


def test_what_is_ours_is_not_told_in_its_own_words() -> None:
    assert "/some/path" not in str(refused_by(errors.StorageFullError("/some/path is full")))
    assert str(refused_by(errors.SessionNotFoundError("ses_x"))) == str(not_found())


def test_a_rejection_has_a_code() -> None:
    assert (rejected("c", "words").result, rejected("c", "words").code) == ("rejected", "c")
