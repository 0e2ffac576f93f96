"""All routes. What is not here cannot be asked for."""

from __future__ import annotations

from flybridge.frontends.http import pages
from flybridge.frontends.http import web_page
from flybridge.frontends.http.routes import access
from flybridge.frontends.http.routes import blobs
from flybridge.frontends.control import routes as control
from flybridge.frontends.companion import routes as devices
from flybridge.frontends.http.routes import gateway
from flybridge.frontends.http.routes import history
from flybridge.frontends.http.routes import prompts
from flybridge.frontends.http.routes import sessions
from flybridge.frontends.http.routes import session_io as talking
from flybridge.listeners.http.route import PUBLIC, Route

ROUTES: tuple[Route, ...] = (
    *sessions.ROUTES,
    *talking.ROUTES,
    *prompts.ROUTES,
    *control.ROUTES,
    *blobs.ROUTES,
    *history.ROUTES,
    *gateway.ROUTES,
    *access.ROUTES,
    *devices.ROUTES,
    *pages.ROUTES,
    *web_page.ROUTES,
)
# Whoever may come this far is anybody. A route is public only if it is listed here, too.
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
if {one.name for one in ROUTES if one.scope == PUBLIC} != PUBLIC_ROUTES:
    raise AssertionError("a public route is listed as one, and nothing else is")
