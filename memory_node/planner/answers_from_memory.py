"""Answers questions about the home from memory, without motion: where things are, what is in them, in which state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.answer import AnswerStatus, ObjectAnswer
from memory_node.domain.scene import SceneObject
from memory_node.domain.states import STATE_CALLED
from memory_node.planner.goal import Goal
from memory_node.planner.memory_lookup import MemoryLookup

_SURE = 0.5


@dataclass(frozen=True)
class Told:
    """An answer in words; known: whether memory had one."""

    text: str
    known: bool


class Answers:
    """Answers from one planner run's view of memory."""

    def __init__(self, kinds: ObjectCatalogue, lookup: MemoryLookup) -> None:
        self._kinds = kinds
        self._lookup = lookup

    def to(self, goal: Goal) -> Told:
        """Return the answer to a TELL goal."""
        name = self._kinds[goal.target.object_class].best_name
        if goal.asked == "contents":
            return self._contents(goal, name)
        if goal.asked in ("count", "exists"):
            return self._count(goal, name)
        if goal.every and goal.asked in STATE_CALLED:
            several = self._lookup.of_classes(goal.target.candidates)
            if len(several) > 1:
                return self._states(several, goal.asked, name)
        found = self._located(goal)
        if found is None:
            return Told(f"I do not know where the {name} is.", known=False)
        if goal.asked in STATE_CALLED:
            return self._state(goal, name, found)
        is_doubtful = found.status is AnswerStatus.PROBABLY_GONE
        return Told(f"The {name} is {'probably no longer ' if is_doubtful else ''}{self._where(found)}.", known=True)

    def _located(self, goal: Goal) -> ObjectAnswer | None:
        target = goal.target
        for object_class in target.candidates:
            alike = self._lookup.of_classes((object_class,)) if target.thing_id else ()
            others = frozenset(one.id for one in alike if one.id != target.thing_id)
            found = self._lookup.locate(object_class, target.text, (), others)
            if found is not None:
                return found
        return None

    def _where(self, found: ObjectAnswer) -> str:
        support = self._lookup.support_of(found)
        place = ""
        if support is not None and support.class_name == self._kinds.recipient:
            place = f"with {support.attributes.get('name') or 'you'}"
        elif support is not None:
            inside = found.inside or (self._kinds[support.class_name].lidded and self._is_inside(found))
            place = f"{'in' if inside else 'on'} the {self._kinds[support.class_name].best_name}"
        room = f"in the {found.room_name}" if found.room_name else ""
        said = " ".join(part for part in (place, room) if part)
        return said or f"at ({found.position[0]:.1f}, {found.position[1]:.1f}) on the map"

    def _is_inside(self, found: ObjectAnswer) -> bool:
        itself = self._lookup.scene_object(found.object_id)
        return itself is not None and itself.inside

    def _contents(self, goal: Goal, name: str) -> Told:
        holder = self._located(goal)
        if holder is None:
            return Told(f"I do not know of any {name}.", known=False)
        held = self._lookup.supported_by(holder.object_id)
        if not held:
            return Told(f"I know of nothing in or on the {name}.", known=False)
        return Told(f"In or on the {name}: {_listed([self._called(one) for one in held])}.", known=True)

    def _count(self, goal: Goal, name: str) -> Told:
        found = self._lookup.of_classes(goal.target.candidates)
        if not found:
            return Told(f"I know of no {name}.", known=False)
        return Told(f"I know of {len(found)} {name}{'s' if len(found) > 1 else ''}.", known=True)

    def _state(self, goal: Goal, name: str, found: ObjectAnswer) -> Told:
        asked = STATE_CALLED[goal.asked]
        beliefs = {belief.state: belief.probability for belief in found.states}
        if beliefs.get(asked, 0.0) >= _SURE:
            return Told(f"Yes, the {name} is {goal.asked}.", known=True)
        if asked.contrary is not None and beliefs.get(asked.contrary, 0.0) >= _SURE:
            return Told(f"No, the {name} is not {goal.asked}.", known=True)
        return Told(f"I do not know whether the {name} is {goal.asked}.", known=False)

    def _states(self, things: Sequence[SceneObject], word: str, name: str) -> Told:
        """Answer for all things of a kind: "are the windows open?"."""
        sure = [{one.state for one in thing.states if one.probability >= _SURE} for thing in things]
        asked = STATE_CALLED[word]
        so = sum(asked in states for states in sure)
        unknown = sum(asked not in states and asked.contrary not in states for states in sure)
        told = f"Of the {len(things)} {name}s that I know, {so} {'is' if so == 1 else 'are'} {word}"
        told += f"; of {unknown} I do not know it." if unknown else "."
        return Told(told, known=unknown < len(things))

    def _called(self, one: SceneObject) -> str:
        return self._kinds[one.class_name].best_name


def _listed(names: Sequence[str]) -> str:
    counts = {name: names.count(name) for name in names}
    words = [f"{count} {name}s" if count > 1 else name for name, count in counts.items()]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
