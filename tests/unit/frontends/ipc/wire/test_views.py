"""The component data: one struct for each, with the names a web page has."""

from __future__ import annotations

import json

import msgspec
import pytest

from flybridge.frontends.ipc.wire import views as v


@pytest.mark.conforms("ipc: component types")
def test_names_are_in_camel_case() -> None:
    gauge = v.ContextGauge(model="m", used_tokens=1, total_tokens=2, percentage=50.0)
    assert json.loads(msgspec.json.encode(gauge)) == {
        "model": "m",
        "usedTokens": 1,
        "totalTokens": 2,
        "percentage": 50.0,
        "categories": [],
    }
    assert "availableModels" in json.loads(msgspec.json.encode(v.SettingsPanel()))
    state = json.loads(msgspec.json.encode(v.SessionState()))
    assert {"sessionId", "cumulativeCost", "pendingControlRequests", "toolUseMap"} <= set(state)
