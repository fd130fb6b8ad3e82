"""Which furniture takes the part of what a home has none of, where nobody can be asked: a table for the desk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.asking_back import Slot
from memory_node.planner.language.surroundings import HomeClasses, lacks

# Words, memory's classes, the part of the goal, classes -> how probable each is; empty where nothing tells.
Prefer = Callable[[str, HomeClasses, Slot, Collection[str]], Mapping[str, float]]
# Words, classes -> those of them whose meaning is close to the words, closest first.
Similar = Callable[[str, Collection[str]], Sequence[str]]
_SLOTS = {"target": Slot.TARGET, "destination": Slot.DESTINATION, "light": Slot.LIGHT}


class StandIns:
    """Adds to goals what stands in for furniture that memory, which knows furniture of this home, has none of.

    The label space says what is alike. The trained readers say which of these people call so; without them the class
    whose meaning is closest to the words comes first. The thing that is named is still looked for before.
    """

    def __init__(self, kinds: ObjectCatalogue, prefer: Prefer, similar: Similar) -> None:
        self._kinds = kinds
        self._prefer = prefer
        self._similar = similar

    def added(self, goal: Goal, home: HomeClasses, text: str) -> Goal:
        """Return the goal with stand-ins. text: the words that it was read from."""
        parts = {name: getattr(goal, name) for name in _SLOTS}
        with_stand_ins = {
            name: replace(part, stand_ins=_each_once(part.stand_ins, self._for(part, home, text, _SLOTS[name])))
            for name, part in parts.items()
            if part is not None and self._lacks(part, home)
        }
        return goal.changed(**with_stand_ins) if with_stand_ins else goal

    def _lacks(self, mention: Mention, home: HomeClasses) -> bool:
        carried = any(self._kinds[name].pickupable for name in mention.candidates)
        return lacks(home, mention, self._kinds) and not carried

    def _for(self, mention: Mention, home: HomeClasses, text: str, slot: Slot) -> tuple[str, ...]:
        able = sorted(self._kinds.alike(mention.candidates) & home.fixtures)
        shares = self._prefer(text, home, slot, able)
        close = {name: -rank for rank, name in enumerate(self._similar(mention.text, able))}
        return tuple(sorted(able, key=lambda name: (-shares.get(name, 0.0), -close.get(name, -len(able)))))


def _each_once(*rows: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for row in rows for name in row))
