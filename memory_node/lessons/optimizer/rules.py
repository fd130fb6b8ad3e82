"""The deterministic optimizer: the same attempt, beside the same entries, always leaves the same memory."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.lessons.lesson import Lesson
from memory_node.lessons.method import Method, read_method
from memory_node.lessons.optimizer.attempt import Attempt
from memory_node.lessons.optimizer.attempt_reading import is_named, method_of, words_of
from memory_node.lessons.optimizer.candidate import Candidate, Proposal


class RulesOptimizer:
    """Writes one note for each kind of task with each kind of thing, and rewords it with every attempt after."""

    name = "rules"
    is_quick = True

    def propose(self, attempt: Attempt, shown: Sequence[Lesson]) -> Proposal:
        """Return the note of an attempt, merged into the first shown entry that is about the same; see Optimizer."""
        note = method_of(attempt)
        if not note.says_something:
            return Proposal(None, problem="the attempt shows nothing that the skill library does not declare")
        known = [read_method(entry.text) for entry in shown]
        place = next(
            (n for n, one in enumerate(known) if one is not None and _fits(one, shown[n], note, attempt)), None
        )
        earlier = known[place] if place is not None else None
        merged = earlier.merged(note) if earlier is not None else note
        return Proposal(Candidate(merged.text, place), _analysis(attempt, note, place))


def _fits(known: Method, entry: Lesson, note: Method, attempt: Attempt) -> bool:
    """Return whether a shown note is about the kind of task of an attempt. For a failed attempt only its task text
    shows the kind: it must contain each verb of the entry's own task.
    """
    asked = set(words_of(attempt.query))
    said = [verb for verb in known.verbs if is_named(verb, set(words_of(entry.situation)))]
    return known.same_kind(note) and (attempt.success or all(is_named(verb, asked) for verb in said))


def _analysis(attempt: Attempt, note: Method, place: int | None) -> str:
    """Return in words why this is what the attempt leaves."""
    about = f"The task is about: {note.thing}." if note.thing else "The task does not show what it is about."
    if attempt.success:
        what = f"It worked: {'; '.join(note.way)}." if note.way else "It worked without the hand."
    else:
        what = "It failed, and its steps show where the thing was."
    managed = "Nothing shown is about this." if place is None else f"Entry {place} is about this; both become one."
    return " ".join((about, what, managed))
