"""The HTTP interface as an OpenAPI 3.1 document, made from the routes and their structs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from flybridge.listeners.http.problems import Problem
from flybridge.listeners.http.route import API, PUBLIC, Route

_DIALECT = "https://spec.openapis.org/oas/3.1/dialect/base"
_ABOUT = (
    "Sessions of coding agents over HTTP. Every request needs a token (Authorization: Bearer) or "
    "both halves of a login, the cookie and the header Flybridge-Login-Key, unless it says "
    "otherwise; x-scope names the right it takes. What "
    "changes something takes an Idempotency-Key: the same request sent again is done once."
)


def document(routes: Iterable[Route], *, version: str, base_path: str = "") -> dict[str, Any]:
    """All routes below the interface's path; pages are for people and left out."""
    known = [one for one in routes if one.path.startswith(API)]
    types = _types(known)
    schemas, components = msgspec.json.schema_components(
        types, ref_template="#/components/schemas/{name}"
    )
    by_type = {id(kind): schema for kind, schema in zip(types, schemas, strict=True)}
    paths: dict[str, Any] = {}
    for route in known:
        path = route.path.removeprefix(API)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, by_type)
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": _DIALECT,
        "info": {"title": "Flybridge", "version": version, "description": _ABOUT},
        "servers": [{"url": f"{base_path}{API}"}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "login": {"type": "apiKey", "in": "cookie", "name": "flybridge-8420"},
                "loginKey": {"type": "apiKey", "in": "header", "name": "Flybridge-Login-Key"},
            },
        },
    }


def _types(routes: list[Route]) -> list[Any]:
    found: list[Any] = [Problem]
    for one in routes:
        for kind in (one.body, one.result):
            if kind is not None and kind is not bytes and not any(kind is had for had in found):
                found.append(kind)
    return found


def _operation(route: Route, by_type: dict[int, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "summary": route.summary,
        "x-scope": route.scope,
        "parameters": _parameters(route),
        "responses": {
            **{
                str(status): {"description": "Done", "content": _content(route, by_type)}
                for status in (route.status, *route.or_status)
            },
            "default": {
                "description": "Not done: code says why",
                "content": {"application/problem+json": {"schema": by_type[id(Problem)]}},
            },
        },
        "security": [] if route.scope == PUBLIC else [{"token": []}, {"login": [], "loginKey": []}],
    }
    if route.body is bytes:
        binary = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        told["requestBody"] = {"required": True, "content": binary}
    elif route.body is not None:
        json = {"application/json": {"schema": by_type[id(route.body)]}}
        told["requestBody"] = {"required": True, "content": json}
    return told


def _content(route: Route, by_type: dict[int, Any]) -> dict[str, Any]:
    if route.result is bytes:
        return {route.media_type: {"schema": {"type": "string", "format": "binary"}}}
    return {route.media_type: {"schema": by_type[id(route.result)]}}


def _parameters(route: Route) -> list[dict[str, Any]]:
    in_path = re.findall(r"{(\w+)}", route.path)
    found = [
        _parameter(field, "path" if field.name in in_path else "query")
        for field in msgspec.structs.fields(route.params)
    ]
    if route.body is not None and route.scope != PUBLIC:
        about = "Your own name for this request: sent again, it is done once."
        header = {"type": "string", "minLength": 1, "maxLength": 200}
        found.append(
            {"name": "Idempotency-Key", "in": "header", "description": about, "schema": header}
        )
    return found


def _parameter(field: msgspec.structs.FieldInfo, where: str) -> dict[str, Any]:
    schema, _ = msgspec.json.schema_components([field.type])
    told: dict[str, Any] = {"name": field.name, "in": where, "schema": dict(schema[0])}
    if where == "path":
        return told | {"required": True}
    if field.default not in (msgspec.NODEFAULT, None):
        told["schema"]["default"] = field.default
    return told | {"required": field.required}
