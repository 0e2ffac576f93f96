"""Read and mend the conversations that Claude Code keeps on this machine, for people."""

from __future__ import annotations

import msgspec

from flybridge.agents.claude.history import MAX_HEAD_BYTES, ClaudeHistory, Transcript, Whole
from flybridge.agents.claude.owners import owners_of
from flybridge.agents.claude.search import search
from flybridge.agents.claude.transcripts import doctor
from flybridge.agents.claude.transcripts.conversation import read, summarise
from flybridge.agents.history import (
    IN_USE,
    ConversationText,
    Finding,
    FoundPlace,
    FoundPlaces,
    KeptConversation,
    Repair,
    Summary,
)
from flybridge.errors import StorageError
from flybridge.store.folders import resolved


class ClaudeRecords:
    """Implement every part of :mod:`flybridge.agents.history` over Claude's transcripts."""

    def __init__(self, history: ClaudeHistory) -> None:
        self._history = history

    def newest(self, *, limit: int, before_ms: int = 0, cwd: str = "") -> list[KeptConversation]:
        conversations: list[KeptConversation] = []
        folders = {cwd, str(resolved(cwd))}  # the agent records where a link leads
        for transcript in self._history.newest():
            if before_ms and transcript.modified_ms >= before_ms:
                continue
            kept = self._kept(transcript)
            if not cwd or kept.cwd in folders:
                conversations.append(kept)
            if len(conversations) >= limit:
                break
        return conversations

    def search(self, words: str, *, limit: int, max_bytes: int) -> FoundPlaces:
        found = search(
            self._history, self._history.newest(), words, max_hits=limit, max_bytes=max_bytes
        )
        # at most as many conversations as there are hits are looked at
        transcripts = {hit.transcript.session: hit.transcript for hit in found.hits}
        folders = {session: self._kept(one).cwd for session, one in transcripts.items()}
        places = [
            FoundPlace(
                conversation=hit.transcript.session,
                uuid=hit.uuid,
                at=hit.at,
                who=hit.who,
                excerpt=hit.excerpt,
                cwd=folders[hit.transcript.session],
                subagent=hit.transcript.agent,
            )
            for hit in found.hits
        ]
        return FoundPlaces(
            places=places, files=found.files, stopped=found.stopped, skipped=found.skipped
        )

    def find(self, start: str) -> KeptConversation:
        return self._kept(self._history.find(start))

    def read(self, kept: KeptConversation) -> ConversationText:
        return read(self._history.read(_transcript(kept)).lines)

    def examine(self, kept: KeptConversation, *, resuming: bool = False) -> list[Finding]:
        transcript = _transcript(kept)
        findings = self._examine(transcript, self._history.read(transcript))
        if resuming:
            findings = [found for found in findings if found.code != doctor.PARALLEL_CALLS]
        return findings

    def repair(self, kept: KeptConversation) -> Repair:
        transcript = _transcript(kept)
        whole = self._history.read(transcript)
        findings = self._examine(transcript, whole)
        if not any(found.repair for found in findings):
            return Repair()
        if any(found.code == IN_USE for found in findings):
            return Repair(error="not repaired: a program has it open")
        mended = doctor.repair(whole.lines, ended=whole.ended)
        if not mended.done:
            return Repair(error="not repaired: a line of it is too long to be read")
        backup = self._history.replace(transcript, whole, mended.lines)
        return Repair(done=mended.done, backup=str(backup))

    def _examine(self, transcript: Transcript, whole: Whole) -> list[Finding]:
        findings = doctor.diagnose(whole.lines, ended=whole.ended, folder=transcript.folder)
        owners = owners_of(self._history.config, transcript.session, transcript=transcript)
        return doctor.in_use([owner.pid for owner in owners]) + findings

    def _kept(self, transcript: Transcript) -> KeptConversation:
        problem = ""
        try:
            about = self._about(transcript)
        except StorageError as error:  # gone meanwhile, or not ours to read
            about, problem = Summary(), str(error)
        told = msgspec.structs.asdict(about)
        del told["session"]  # the file's name is what it is found by
        return KeptConversation(
            conversation=transcript.session,
            modified_ms=transcript.modified_ms,
            size=transcript.size,
            folder=transcript.folder,
            problem=problem,
            **told,
        )

    def _about(self, transcript: Transcript) -> Summary:
        ends = self._history.ends(transcript)
        about = summarise(ends.head, ends.tail)
        if not about.prompt and not ends.whole:  # a picture, or a long text, comes first
            ends = self._history.ends(transcript, MAX_HEAD_BYTES)
            about = summarise(ends.head, ends.tail)
        return about


def _transcript(kept: KeptConversation) -> Transcript:
    return Transcript(
        session=kept.conversation,
        folder=kept.folder,
        size=kept.size,
        modified_ms=kept.modified_ms,
    )
