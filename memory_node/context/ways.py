"""A subgoal in words, taken apart, and sequences that worked adapted to it: its things replace their things."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.guidance import StepObservation
from memory_node.context.task_memory import Entry, EntryKind
from memory_node.domain.skill import SkillCall
from memory_node.lessons.plugmem import PLACE, THING, fits

_PART = re.compile(r"(?:(?P<role>to|in|with) )?(?P<name>[A-Z]\w*)")
_ROLES = {None: "target", "to": "destination", "in": "container", "with": "light"}


@dataclass(frozen=True)
class Subgoal:
    """kind: its first word. The other parts are classes, "" where it names none."""

    kind: str
    target: str = ""
    destination: str = ""
    container: str = ""
    light: str = ""

    @classmethod
    def parse(cls, text: str) -> Subgoal:
        """Return the parts of a goal's words; a text of another form has only a kind."""
        kind, _, rest = text.partition(" ")
        parts: dict[str, str] = {}
        for match in _PART.finditer(rest):
            parts.setdefault(_ROLES[match["role"]], match["name"])
        return cls(kind, **parts)

    @property
    def classes(self) -> frozenset[str]:
        """All classes that it names."""
        return frozenset({self.target, self.destination, self.container, self.light} - {""})


# Most things of a class that a reply may name.
_MOST_NAMED = 6


def fitted(entry: Entry, subgoal: Subgoal, kinds: ObjectCatalogue) -> list[SkillCall]:
    """Return an entry's sequence with this subgoal's things instead of its own, over classes; [] where a part of it has
    no thing, or one with which that cannot be done. Steps are left out whose role the subgoal does not name."""
    parts = _parts(entry, subgoal)
    if not parts or not fits(entry.steps, subgoal.target, kinds):
        return []
    if parts.get(PLACE) and not fits(entry.steps, parts[PLACE], kinds, PLACE):
        return []
    calls = [call.renamed(parts) for call in entry.steps]
    return [call for call in calls if all(call.arguments)]


def _parts(entry: Entry, subgoal: Subgoal) -> dict[str, str]:
    """Return the subgoal's thing for each role of an entry; of one over classes for what it took first, and where it
    put something last. {} where it took nothing.
    """
    if any(THING in call.arguments for call in entry.steps):
        return {THING: subgoal.target, PLACE: subgoal.destination}
    taken = next((call.arguments[0] for call in entry.steps if call.skill == "PickupObject" and call.arguments), "")
    if not taken:
        return {}
    put = next((call.arguments for call in reversed(entry.steps) if call.skill == "PutObject"), ())
    parts = {taken: subgoal.target}
    if len(put) > 1 and subgoal.destination:
        parts[put[1]] = subgoal.destination
    return parts


def left_of(way: Sequence[SkillCall], done: Iterable[SkillCall]) -> Sequence[SkillCall]:
    """Return the rest of a sequence: each finished step removes everything up to its next occurrence."""
    at = 0
    for call in done:
        later = [index for index in range(at, len(way)) if way[index] == call]
        at = later[0] + 1 if later else at
    return way[at:]


def calls_towards(observation: StepObservation, entries: Sequence[Entry]) -> Iterator[SkillCall]:
    """Yield the calls that entries name for the current subgoal, over the names of such things as are known."""
    subgoal = Subgoal.parse(observation.subgoal)
    for entry in entries:
        if entry.kind is EntryKind.PLACE:
            yield from (SkillCall("Explore", (name,)) for name in sorted(entry.classes & subgoal.classes))
        if entry.kind is EntryKind.WAY:
            for call in fitted(entry, subgoal, observation.beliefs.world.kinds):
                named = [_named(text, observation) for text in call.arguments]
                yield from (SkillCall(call.skill, names) for names in itertools.product(*named))


def _named(text: str, observation: StepObservation) -> list[str]:
    names = [name for name, kind in observation.classes.items() if text in (name, kind)]
    return names[-_MOST_NAMED:] or [text]
