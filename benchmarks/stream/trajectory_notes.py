"""Baselines: notes of whole trajectories, all of them kept, as other papers do it."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.lessons.lesson import Lesson
from memory_node.lessons.method import Method
from memory_node.lessons.optimizer.attempt import Attempt, DeedKind
from memory_node.lessons.optimizer.attempt_reading import method_of
from memory_node.lessons.optimizer.candidate import Candidate
from memory_node.lessons.optimizer.proposal import Proposal

_MOST_STEPS = 12


class MempStyleNotes:
    """Procedures as Memp keeps them (Fang et al. 2025), in short: each success is added as the script that worked; an
    attempt that failed leaves nothing."""

    name = "memp"
    is_quick = True

    def propose(self, attempt: Attempt, shown: Sequence[Lesson]) -> Proposal:
        """Return the script of a success; see Optimizer."""
        if not attempt.success:
            return Proposal(None, problem="it failed")
        note = method_of(attempt)
        script = tuple(deed.way for deed in attempt.deeds if deed.worked and deed.kind in _ACTING)[:_MOST_STEPS]
        return Proposal(Candidate(Method(note.verbs, note.thing, script or note.way).text))


class RememStyleNotes:
    """Experience as ReMem keeps it (in UMEM's comparison), in short: every attempt is added with what came of it; of
    entries about the same task the newest takes the place of the one before."""

    name = "remem"
    is_quick = True

    def propose(self, attempt: Attempt, shown: Sequence[Lesson]) -> Proposal:
        """Return the note of one attempt, unmerged; see Optimizer."""
        note = method_of(attempt)
        if not (note.thing or note.way):
            return Proposal(None, problem="the attempt does not show what its task is about")
        same = next((place for place, entry in enumerate(shown) if entry.situation == attempt.query), None)
        return Proposal(Candidate(note.text, same))


_ACTING = (DeedKind.TAKE, DeedKind.PUT, DeedKind.CHANGE)
