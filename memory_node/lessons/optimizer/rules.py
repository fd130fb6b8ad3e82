"""The deterministic optimizer: reads an attempt's object and places by rules. The same attempt, beside the same
entries, always leaves the same memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_node.domain.names import singular
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.optimizer.attempt import Attempt, Candidate, Deed, DeedKind, Proposal
from memory_node.lessons.whereabouts import Whereabouts, read_whereabouts

# What is done with a thing, where it is.
_HANDLING = (DeedKind.TAKE, DeedKind.PUT, DeedKind.CHANGE)
_WORD = re.compile(r"[a-z]+")


def whereabouts_of(attempt: Attempt) -> Whereabouts:
    """Return where an attempt shows that the thing of its task is found, over kinds."""
    done = [deed for deed in attempt.deeds if deed.worked]
    thing, asked = target_of(attempt), set(words_of(attempt.query))
    handled = {deed.thing for deed in done if deed.kind in _HANDLING}
    places = tuple(p for p in _found_at(done, thing, asked) if p not in handled)
    looked = dict.fromkeys(_looked_in_vain(done, thing))
    # Where the robot went to take, bring or treat something, it did not look for the thing.
    used = {place for place, deed in _with_places(done) if deed.kind in _HANDLING}
    vain = tuple(p for p in looked if p not in {*places, *handled, *used} and not is_named(p, asked))
    return Whereabouts(thing, places, vain)


def target_of(attempt: Attempt) -> str:
    """Return the kind of thing that a task is about: one that it names and that was taken, else one that it names and
    that was seen, else ""."""
    asked = set(words_of(attempt.query))
    taken = [deed.thing for deed in attempt.deeds if deed.worked and deed.kind is DeedKind.TAKE]
    named = [thing for thing in taken if is_named(thing, asked)]
    if named:
        return max(dict.fromkeys(named), key=named.count)
    if attempt.success and taken:
        return taken[-1]
    places = {deed.place for deed in attempt.deeds} | set(attempt.places)
    seen = [kind for deed in attempt.deeds for kind in deed.seen if kind not in places]
    return next((kind for kind in seen if is_named(kind, asked)), "")


def is_named(kind: str, words: set[str]) -> bool:
    """Return whether some words name a kind: "ButterKnife" by "butterknife", or by "butter" and "knife".

    Or a skill: "CoolObject" by "cool".
    """
    parts = {singular(part.lower()) for part in re.findall(r"[A-Z]?[a-z]+", kind)} - {"object"}
    return bool(kind) and (singular(kind.lower()) in words or (bool(parts) and parts <= words))


def words_of(text: str) -> list[str]:
    """Return the words of a text in the singular and in small letters."""
    return [singular(word) for word in _WORD.findall(text.lower())]


def _found_at(done: Sequence[Deed], thing: str, asked: set[str]) -> Iterator[str]:
    """Yield the kinds of places where the thing was, those where it was taken first.

    A thing that already lay at its destination does not show where to look. asked: the words of the task.
    """
    if not thing:
        return
    seen_at: list[str] = []
    taken_at: list[str] = []
    brought: set[str] = set()
    for place, deed in _with_places(done):
        if deed.kind is DeedKind.TAKE and deed.thing == thing and place not in brought:
            taken_at.append(place)
        elif deed.kind is DeedKind.PUT and deed.thing == thing:
            brought.add(place)
        elif thing in deed.seen and place not in brought and not is_named(place, asked):
            seen_at.append(place)
    yield from dict.fromkeys(place for place in (*taken_at, *seen_at) if place)


def _looked_in_vain(done: Sequence[Deed], thing: str) -> Iterator[str]:
    """Yield the kinds of places that were looked at before the thing was taken, and did not show it."""
    for place, deed in _with_places(done) if thing else ():
        if deed.kind is DeedKind.TAKE and deed.thing == thing:
            return
        if deed.kind in (DeedKind.TRAVEL, DeedKind.LOOK, DeedKind.OPEN) and place and thing not in deed.seen:
            yield place


def _with_places(done: Sequence[Deed]) -> Iterator[tuple[str, Deed]]:
    """Yield each deed with the kind of place at which it was."""
    place = ""
    for deed in done:
        if deed.place:
            place = deed.place
        yield place, deed


class RulesOptimizer:
    """Writes one note for each kind of thing, and rewords it with every attempt after.

    How a task is done is no part of it: that is a way, which plugmem.py writes.
    """

    name = "rules"
    is_quick = True

    def propose(self, attempt: Attempt, shown: Sequence[Lesson]) -> Proposal:
        """Return the note of an attempt, merged into the first shown entry that is about the same; see Optimizer."""
        note = whereabouts_of(attempt)
        known = [read_whereabouts(entry.text) for entry in shown]
        place = next((n for n, one in enumerate(known) if one is not None and one.thing == note.thing), None)
        if not (note.found_at or (note.vain and place is not None)):
            return Proposal(None, problem="the attempt does not show where its thing is found")
        earlier = known[place] if place is not None else None
        merged = earlier.merged(note) if earlier is not None else note
        return Proposal(Candidate(merged.text, place), _analysis(attempt, note, place))


def _analysis(attempt: Attempt, note: Whereabouts, place: int | None) -> str:
    """Return in words why this is what the attempt leaves."""
    how = "It worked" if attempt.success else "It failed"
    managed = "Nothing shown is about this." if place is None else f"Entry {place} is about this; both become one."
    return f"The task is about: {note.thing}. {how}, and its steps show where the thing was. {managed}"
