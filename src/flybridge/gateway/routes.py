"""The HTTP routes of all front ends. A route that is not listed here does not exist."""

from __future__ import annotations

from flybridge.frontends.companion import routes as companion_routes
from flybridge.frontends.control import routes as control_routes
from flybridge.frontends.http import pages, web_page
from flybridge.frontends.http.routes import (
    access,
    blobs,
    gateway,
    history,
    prompts,
    session_io,
    sessions,
)
from flybridge.listeners.http.route import PUBLIC, Route

ROUTES: tuple[Route, ...] = (
    *sessions.ROUTES,
    *session_io.ROUTES,
    *prompts.ROUTES,
    *control_routes.ROUTES,
    *blobs.ROUTES,
    *history.ROUTES,
    *gateway.ROUTES,
    *access.ROUTES,
    *companion_routes.ROUTES,
    *pages.ROUTES,
    *web_page.ROUTES,
)
# Anybody may call these. A route with the scope "public" has to be listed here as well, so that no
# route is public by accident.
PUBLIC_ROUTES = frozenset(
    {
        "GET /",
        "GET /s/{name}",
        "GET /new",
        "GET /history",
        "GET /settings",
        "GET /help",
        "GET /access",
        "GET /devices",
        "GET /assets/{name}",
        "GET /login",
        "GET /static/{name}",
        "GET /api/v1/health",
        "GET /api/v1/docs",
        "GET /api/v1/proof",
        "POST /api/v1/login",
    }
)
if wrong := PUBLIC_ROUTES ^ {route.name for route in ROUTES if route.scope == PUBLIC}:
    raise AssertionError(f"public, or listed as public, but not both: {sorted(wrong)}")
