"""Offers of a permission prompt, as one line each."""

from __future__ import annotations

from flybridge.cli.rendering.safe_text import one_line
from flybridge.model.offers import Offer

_REACH = {
    "once": "this once",
    "session": "in this session",
    "project": "in this project, also later",
    "user": "everywhere, also later",
}
_PLACES = {
    "local": "this project, for you",
    "project": "this project, for everybody",
    "user": "all your projects",
}


def offer_text(offer: Offer) -> str:
    """Return what accepting an offer keeps, and where; "" if people cannot choose it."""
    if not offer.text:
        return ""
    reach = _REACH[offer.scope]
    if offer.durable and offer.scope in ("once", "session"):
        reach += ", also later"
    asked = f" (asked for: {_PLACES[offer.place]})" if offer.place in _PLACES else ""
    return one_line(f"{offer.text} — {reach}{asked}", strict=True)
