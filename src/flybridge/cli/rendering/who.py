"""Who did something, as people call them: you, or a name."""

from __future__ import annotations

import pwd

from flybridge.cli.rendering.safe_text import one_line

UID = "uid:"
PAST = "past"  # whoever spoke in a conversation before it came to us


def name_of(principal: str) -> str:
    """A user of this machine by name; anybody else as the gateway calls them."""
    number = principal.removeprefix(UID)
    if principal.startswith(UID) and number.isdecimal() and len(number) <= 10:
        try:
            return one_line(pwd.getpwuid(int(number)).pw_name)
        except (KeyError, OverflowError):
            return f"user {number}"
    return "you, before" if principal == PAST else one_line(principal)


def by(principal: str, *, here: bool, us: str) -> str:
    """``here``: it was done in this very chat; ``us``: who the gateway takes us for."""
    if here:
        return "by you"
    if not principal:
        return ""
    return "by you, elsewhere" if principal == us else f"by {name_of(principal)}"
