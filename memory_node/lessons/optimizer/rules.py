"""The deterministic optimizer: the same attempt, beside the same entries, always leaves the same memory."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.lessons.optimizer.attempt import Attempt, Deed
from memory_node.lessons.optimizer.attempt_reading import is_named, note_of, repairs_of, words_of
from memory_node.lessons.optimizer.candidate import Candidate
from memory_node.lessons.optimizer.entry import MemoryEntry
from memory_node.lessons.optimizer.method_note import MethodNote, RepairNote, read_note
from memory_node.lessons.optimizer.proposal import Proposal


class RulesOptimizer:
    """Writes one note for each kind of task with each kind of thing, and rewords it with every attempt after."""

    name = "rules"
    is_quick = True

    def propose(self, attempt: Attempt, shown: Sequence[MemoryEntry]) -> Proposal:
        """Return the note of an attempt, merged into the first shown entry that is about the same; see Optimizer."""
        note = note_of(attempt)
        if not (note.thing or note.way or note.repairs):
            return Proposal(None, problem="the attempt does not show what its task is about")
        known = [read_note(entry.value) for entry in shown]
        place = next(
            (n for n, one in enumerate(known) if one is not None and _fits(one, shown[n], note, attempt)), None
        )
        earlier = known[place] if place is not None else None
        merged = earlier.merged(note) if earlier is not None else note
        return Proposal(Candidate(merged.text, place), _analysis(attempt, note, place))

    def repairs_at_once(self, deed: Deed) -> tuple[RepairNote, ...]:
        """Return the library's remedy of a failure, which the note of the whole attempt will say, too; see
        Optimizer."""
        return repairs_of([deed])


def _fits(known: MethodNote, entry: MemoryEntry, note: MethodNote, attempt: Attempt) -> bool:
    """Return whether a shown note is about the kind of task of an attempt. For a failed attempt only its task text
    shows the kind: it must contain each verb of the entry's own task.
    """
    asked = set(words_of(attempt.query))
    said = [verb for verb in known.verbs if is_named(verb, set(words_of(entry.query)))]
    return known.same_kind(note) and (attempt.success or all(is_named(verb, asked) for verb in said))


def _analysis(attempt: Attempt, note: MethodNote, place: int | None) -> str:
    """Return in words why this is what the attempt leaves."""
    about = f"The task is about: {note.thing}." if note.thing else "The task does not show what it is about."
    if attempt.success:
        what = f"It worked: {'; '.join(note.way)}." if note.way else "It worked without the hand."
    else:
        what = f"It failed: {note.traps[0]}." if note.traps else "It failed, and its steps do not show why."
    managed = "Nothing shown is about this." if place is None else f"Entry {place} is about this; both become one."
    return " ".join((about, what, managed))
