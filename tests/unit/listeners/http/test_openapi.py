from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest

import flybridge
from flybridge.gateway.routes import ROUTES
from flybridge.listeners.http.openapi import document
from flybridge.listeners.http.route import API
from tools import openapi as tool
from tools import pages

DOCUMENT: dict[str, Any] = json.loads(
    msgspec.json.encode(document(ROUTES, version=flybridge.__version__))
)


def test_every_route_of_the_interface_is_described() -> None:
    described = {
        f"{method.upper()} {API}{path}"
        for path, methods in DOCUMENT["paths"].items()
        for method in methods
    }
    assert described == {one.name for one in ROUTES if one.path.startswith(API)}


def test_every_reference_leads_somewhere() -> None:
    known = DOCUMENT["components"]["schemas"]
    text = json.dumps(DOCUMENT)
    wanted = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert wanted
    assert wanted <= known.keys()
    assert set(re.findall(r'"\$ref": "([^#][^"]*)"', text)) == set()


@pytest.mark.parametrize("path", DOCUMENT["paths"])
def test_an_operation_says_what_it_needs_takes_and_gives(path: str) -> None:
    names = set(re.findall(r"{(\w+)}", path))
    for one in DOCUMENT["paths"][path].values():
        in_path = {given["name"] for given in one["parameters"] if given["in"] == "path"}
        assert in_path == names
        assert all(given["required"] for given in one["parameters"] if given["in"] == "path")
        assert one["x-scope"]
        assert "default" in one["responses"]
        assert (one["security"] == []) == (one["x-scope"] == "public")


def test_operations_have_names_of_their_own() -> None:
    names = [
        one["operationId"] for methods in DOCUMENT["paths"].values() for one in methods.values()
    ]
    assert len(set(names)) == len(names)


def test_what_is_checked_in_is_what_the_code_says() -> None:
    assert pages.stale(tool.FILES) == {}
