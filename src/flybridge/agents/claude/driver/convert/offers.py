"""Translate the permission suggestions of Claude Code into offers.

The kind of a suggestion decides what it is allowed to do, as in the answer that is sent back: of
a key that occurs twice the last one counts. A suggestion that cannot be read, or whose kind or
behaviour is not known, becomes an offer of unknown effect.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.convert.tools import describe
from flybridge.agents.claude.options import BYPASS
from flybridge.agents.claude.wire.decode import fields, text
from flybridge.model.commands import Place
from flybridge.model.offers import Offer, OfferRule

MAX_OFFERS = 64
MAX_TEXT = 16 * 1024  # of one offer: what is longer is not offered to people
_BEHAVIOURS = frozenset({"allow", "deny", "ask"})
_PLACES: dict[str, Place] = {
    "session": "session",
    "localSettings": "local",
    "projectSettings": "project",
    "userSettings": "user",
}


class _Rule(msgspec.Struct, rename="camel"):
    tool_name: str
    rule_content: str | None = None


_rules = msgspec.json.Decoder(tuple[_Rule, ...])
_names = msgspec.json.Decoder(tuple[str, ...])
_BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def offers_of(suggestions: Sequence[Raw]) -> tuple[Offer, ...]:
    """Return an offer for each suggestion, by index; what follows after too many has none."""
    return tuple(
        _bounded(_offer_of(fields(raw), str(index)))
        for index, raw in enumerate(suggestions[:MAX_OFFERS])
    )


def _offer_of(known: dict[str, Raw], name: str) -> Offer:
    match text(known.get("type", UNSET)):
        case "addRules" | "replaceRules" | "removeRules" as kind:
            return _of_rules(kind, known, name)
        case "addDirectories" | "removeDirectories" as kind:
            return _of_folders(kind, known, name)
        case "setMode":
            return _of_mode(text(known.get("mode", UNSET)), name)
        case _:
            return Offer(id=name)


def _of_rules(kind: str, known: dict[str, Raw], name: str) -> Offer:
    behaviour = text(known.get("behavior", UNSET))
    rules = _rules_in(known)
    if rules is None or behaviour not in _BEHAVIOURS:
        return Offer(id=name)
    label = _label(kind, behaviour) if rules else _label_of_none(kind, behaviour)
    if text(known.get("mode", UNSET)) == BYPASS:
        label = ""  # the driver leaves it out of the answer
    return Offer(
        id=name,
        label=label,
        scope="session",
        widens=kind != "addRules" and behaviour != "allow",  # restrictions are removed
        durable=False,
        allows=kind == "addRules" and behaviour == "allow",
        rules=rules,
        placed=True,
        place=_place_in(known),
    )


def _label(kind: str, behaviour: str) -> str:
    """Return what happens to the rules that are named after it."""
    if kind == "addRules":
        return f"Always {behaviour}"
    if kind == "removeRules":
        return f"Remove {behaviour} rules:"
    return f"Replace all {behaviour} rules with:"


def _label_of_none(kind: str, behaviour: str) -> str:
    """Return what happens if no rules are named: all of them are replaced by none, or nothing."""
    return f"Remove all {behaviour} rules" if kind == "replaceRules" else ""


def _of_folders(kind: str, known: dict[str, Raw], name: str) -> Offer:
    folders = _folders_in(known)
    if folders is None:
        return Offer(id=name)
    adds = kind == "addDirectories"
    label = "Always allow the folder" if adds else "No longer allow the folder"
    return Offer(
        id=name,
        label=label if folders else "",
        scope="session",
        widens=False,
        durable=False,
        allows=adds,
        folders=folders,
        placed=True,
        place=_place_in(known),
    )


def _of_mode(mode: str, name: str) -> Offer:
    """Return the offer to switch the mode; the one that stops all prompts is never carried out."""
    labels = {"": "", BYPASS: "", "acceptEdits": "Allow, and accept all edits"}
    return Offer(
        id=name,
        label=labels.get(mode, f"Allow, and switch to mode {mode}"),
        scope="session",
        widens=True,
        durable=False,
        mode=mode,
    )


def _bounded(offer: Offer) -> Offer:
    if len(offer.text) + len(offer.mode) <= MAX_TEXT:
        return offer
    return msgspec.structs.replace(
        offer, label="", mode=offer.mode[:MAX_TEXT], rules=(), folders=()
    )


def _rules_in(known: dict[str, Raw]) -> tuple[OfferRule, ...] | None:
    """Return the rules of a suggestion; None if they cannot be read."""
    try:
        rules = _rules.decode(known.get("rules", Raw(b"[]")))
    except _BROKEN:
        return None
    return tuple(
        OfferRule(rule.tool_name, rule.rule_content, describe(rule.tool_name, UNSET)[0])
        for rule in rules
    )


def _folders_in(known: dict[str, Raw]) -> tuple[str, ...] | None:
    """Return the folders of a suggestion; None if they cannot be read."""
    try:
        return _names.decode(known.get("directories", Raw(b"[]")))
    except _BROKEN:
        return None


def _place_in(known: dict[str, Raw]) -> Place:
    return _PLACES.get(text(known.get("destination", UNSET)), "session")
