"""Teams: who may steer which sessions by control messages, and the questions that change it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from flybridge.errors import InvalidRequestError
from flybridge.frontends.control.refusals import not_found, rejected
from flybridge.model.audit import Record
from flybridge.runtime.methods.sessions import NoParams, Question
from flybridge.session.authorisation import Caller, who
from flybridge.store.teams import ANY, Key, Member, Rule, TeamFile, Teams, What
from flybridge.wire.control.signed import decode_key, encode_key

MAX_MEMBERS = 1000
MAX_RULES = 4000
MAX_KEYS = 100
TEAM = "flybridge.team"  # the label that says which team a session belongs to
Word = Annotated[str, Meta(min_length=1, max_length=256, pattern=r"^[!-~]+$")]


class MemberParams(msgspec.Struct, kw_only=True):
    team: Word
    name: Word
    principal: Word = ""  # empty: whoever asks


class RuleParams(msgspec.Struct, kw_only=True):
    effect: Literal["allow", "deny", "forget"]
    team: Word
    sender: Word = ANY
    sessions: tuple[Word, ...] = (ANY,)
    what: What = ANY


class KeyParams(msgspec.Struct, kw_only=True):
    name: Word
    public: Word


class NameParams(msgspec.Struct, kw_only=True):
    name: Word


class Policy:
    """Says who may do what, and who may not. ``changed`` is called once somebody may do less."""

    def __init__(
        self,
        file: TeamFile,
        audit: Callable[[Record], None] = lambda record: None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._file = file
        self._audit = audit
        self.changed = changed

    @property
    def teams(self) -> Teams:
        return self._file.teams

    def admit(self, caller: Caller, team: str, sender: str, what: str) -> Member:
        """The member that this caller is, if they may do that anywhere.

        Said before any session is looked for: whoever may do nothing learns nothing.

        Raises:
            ControlRefused: nobody of that name is known to be this caller, or they may not.
        """
        member = self.teams.member(team, sender, caller.principal)
        if member is None:
            raise rejected("unknown_sender", _not_a_member(team, sender, caller.principal))
        rules = self.teams.applying(member, what)
        nowhere = any(rule.effect == "deny" and rule.session == ANY for rule in rules)
        if nowhere or not any(rule.effect == "allow" for rule in rules):
            raise rejected("policy_denied", f"the team's rules do not allow {what}")
        return member

    def check(self, member: Member, what: str, names: frozenset[str]) -> None:
        """Let a member do that in the session with these names, or refuse.

        Raises:
            ControlRefused: a rule denies it, or none allows it, and then it is not to be seen.
        """
        rules = [
            rule
            for rule in self.teams.applying(member, what)
            if rule.session == ANY or rule.session in names
        ]
        if any(rule.effect == "deny" for rule in rules):
            raise rejected("policy_denied", f"the team's rules do not allow {what}")
        if not rules:
            raise not_found()

    # ---- the questions -----------------------------------------------------------------------

    def table(self) -> dict[str, Question]:
        return {
            "team.list": Question("admin", NoParams, self.list),
            "team.add": Question("admin", MemberParams, self.add),
            "team.remove": Question("admin", MemberParams, self.remove),
            "team.rule": Question("admin", RuleParams, self.rule),
            "team.pin": Question("admin", KeyParams, self.pin),
            "team.unpin": Question("admin", NameParams, self.unpin),
        }

    async def list(self, _: Caller, __: NoParams) -> object:
        return self.teams

    async def add(self, caller: Caller, params: MemberParams) -> object:
        member = Member(
            team=params.team, name=params.name, principal=params.principal or caller.principal
        )
        teams = self.teams
        if any((one.team, one.name) == (member.team, member.name) for one in teams.members):
            raise InvalidRequestError(f"there is a {member.name!r} in {member.team!r} already")
        if len(teams.members) >= MAX_MEMBERS:
            raise InvalidRequestError("there are too many members; remove some")
        self._file.save(msgspec.structs.replace(teams, members=(*teams.members, member)))
        self._note(caller, "team.add", member.team, f"{member.name} {member.principal}")
        return member

    async def remove(self, caller: Caller, params: MemberParams) -> object:
        wanted = (params.team, params.name)
        left = tuple(one for one in self.teams.members if (one.team, one.name) != wanted)
        if len(left) == len(self.teams.members):
            raise InvalidRequestError(f"nobody in {params.team!r} is called {params.name!r}")
        rules = tuple(one for one in self.teams.rules if (one.team, one.sender) != wanted)
        self._file.save(msgspec.structs.replace(self.teams, members=left, rules=rules))
        self._note(caller, "team.remove", params.team, params.name)
        self.changed()
        return {}

    async def rule(self, caller: Caller, params: RuleParams) -> object:
        """Add rules, or take away those that say exactly this."""
        names = {one.name for one in self.teams.members if one.team == params.team}
        if params.effect != "forget" and params.sender not in names | {ANY}:
            raise InvalidRequestError(f"nobody in {params.team!r} is called {params.sender!r}")
        about = [(params.team, params.sender, one, params.what) for one in params.sessions]
        rules = [one for one in self.teams.rules if _about(one) not in about]
        if params.effect != "forget":
            rules += [
                Rule(effect=params.effect, team=team, sender=sender, session=one, what=what)
                for team, sender, one, what in about
            ]
        if len(rules) > MAX_RULES:
            raise InvalidRequestError("there are too many rules; forget some")
        self._file.save(msgspec.structs.replace(self.teams, rules=tuple(rules)))
        said = f"{params.sender} {' '.join(params.sessions)} {params.what}"
        self._note(caller, f"team.{params.effect}", params.team, said)
        self.changed()
        return {}

    async def pin(self, caller: Caller, params: KeyParams) -> object:
        """Know a key from now on. What signed messages have to be meant for comes back."""
        teams = self.teams
        public = encode_key(decode_key(params.public))
        if any(one.name == params.name for one in teams.keys) or len(teams.keys) >= MAX_KEYS:
            raise InvalidRequestError("there is a key of that name already, or too many keys")
        gateway = teams.gateway or f"gw_{secrets.token_hex(10)}"
        keys = (*teams.keys, Key(name=params.name, public=public))
        self._file.save(msgspec.structs.replace(teams, gateway=gateway, keys=keys))
        self._note(caller, "team.pin", params.name, public)
        return {"gateway": gateway}

    async def unpin(self, caller: Caller, params: NameParams) -> object:
        left = tuple(one for one in self.teams.keys if one.name != params.name)
        if len(left) == len(self.teams.keys):
            raise InvalidRequestError(f"there is no key called {params.name!r}")
        self._file.save(msgspec.structs.replace(self.teams, keys=left))
        self._note(caller, "team.unpin", params.name, "")
        self.changed()
        return {}

    def _note(self, caller: Caller, event: str, target: str, detail: str) -> None:
        self._audit(
            Record(event=event, outcome="done", target=target, detail=detail, **who(caller))
        )


def _not_a_member(team: str, sender: str, principal: str) -> str:
    yours = "" if principal.startswith("uid:") else f" --principal {principal}"
    return (
        f"{sender!r} is not a member of team {team!r} for {principal}. "
        f"Add it with `flybridge team add {team} {sender}{yours}`."
    )


def _about(rule: Rule) -> tuple[str, str, str, What]:
    return rule.team, rule.sender, rule.session, rule.what
