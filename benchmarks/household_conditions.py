"""ALFRED-L's goal conditions, read leniently: `ON(apple, table): 1, STATE(tomato, clean): 1` and so on."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from benchmarks.alfred_home import position_from_thor
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.names import singular
from memory_node.domain.states import ObjectState
from memory_node.sim.thing import Thing
from memory_node.sim.visibility import horizontal_distance
from memory_node.sim.world import World

_CONDITION = re.compile(r"(?P<name>[A-Za-z_]+)\s*\((?P<arguments>(?:[^()]|\([^()]*\))*)\)\s*(?::\s*(?P<value>[01]))?")
_POINT = re.compile(r"\(?\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*\)?")
_ON, _SWITCHED_ON, _SWITCHED_OFF = ("on", "inside", "in"), ("toggleon", "switchon"), ("toggleoff", "switchoff")
_S = ObjectState
_STATES: dict[str, tuple[ObjectState, ...]] = {
    **dict.fromkeys(("clean", "cleaned", "washed", "rinsed"), (_S.CLEANED,)),
    **dict.fromkeys(("sliced", "chopped", "cut"), (_S.SLICED,)),
    **dict.fromkeys(("cooked", "heated", "hot", "warm", "boiled"), (_S.COOKED, _S.HEATED)),
    **dict.fromkeys(("cold", "cooled", "chilled"), (_S.COLD,)),
    **dict.fromkeys(("open", "opened"), (_S.OPENED,)),
    **dict.fromkeys(("closed", "close"), (_S.CLOSED,)),
    **dict.fromkeys(("filled", "full"), (_S.FILLED,)),
    **dict.fromkeys(("empty", "emptied", "used_up"), (_S.USED_UP,)),
    **dict.fromkeys(("broken",), (_S.BROKEN,)),
    **dict.fromkeys(("on",), (_S.ON,)),
    **dict.fromkeys(("off",), (_S.OFF,)),
    **dict.fromkeys(("dirty",), (_S.DIRTY,)),
}
_PLACE_WITHIN_M, _BESIDE_WITHIN_M = 0.75, 0.6


@dataclass(frozen=True)
class Condition:
    """What must be true at some moment. classes: what the subject may be; malformed: why it never can be true."""

    text: str
    predicate: str = ""
    classes: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    states: tuple[ObjectState, ...] = ()
    point: tuple[float, float, float] | None = None
    malformed: str = ""

    def holds(self, world: World) -> bool:
        """Return whether it is true in the world now."""
        return not self.malformed and any(
            self._holds_of(world, thing) for thing in world if thing.class_name in self.classes
        )

    def _holds_of(self, world: World, thing: Thing) -> bool:
        if self.states:
            return bool(thing.states & set(self.states))
        if self.point is not None:
            apart = np.linalg.norm(thing.box.center[:2] - np.array(self.point[:2]))
            return bool(apart <= _PLACE_WITHIN_M) and world.held_id != thing.id
        if any(support.class_name in self.others for support in world.supports(thing)):
            return True
        beside = [other for other in world if other.class_name in self.others and not other.kind.is_receptacle]
        return world.held_id != thing.id and any(
            horizontal_distance(other.box, thing.box.center) <= _BESIDE_WITHIN_M
            for other in beside
            if other is not thing
        )


class ConditionReader:
    """Reads conditions against the classes that a world has."""

    def __init__(self, kinds: ObjectCatalogue) -> None:
        self._kinds = kinds

    def read(self, text: str, world: World) -> list[Condition]:
        """Return the conditions of a goal; what cannot be read is a malformed condition."""
        present = {thing.class_name for thing in world}
        conditions = [self._condition(match, present) for match in _CONDITION.finditer(text)]
        left = _CONDITION.sub("", text).strip(" ,;.\n")
        if left or not conditions:
            conditions.append(Condition(left or text, malformed="not a condition"))
        return conditions

    def mentioned(self, text: str) -> list[str]:
        """Return the best class of every argument in a goal's text: what a home needs for it."""
        names: list[str] = []
        for match in _CONDITION.finditer(text):
            for argument in match.group("arguments").split(","):
                names += self._kinds.spoken_names.classes(_head(argument))[:1]
        return list(dict.fromkeys(names))

    def _condition(self, match: re.Match[str], present: set[str]) -> Condition:
        text, predicate = match.group(0), match.group("name").lower()
        subject, _, other = match.group("arguments").partition(",")
        classes = self._classes(subject, present)
        if not classes:
            return Condition(text, malformed=f"the home has no {subject.strip()!r}")
        if predicate in _SWITCHED_ON + _SWITCHED_OFF:
            state = _S.ON if predicate in _SWITCHED_ON else _S.OFF
            return Condition(text, predicate, classes, states=(state,))
        if predicate == "state":
            states = _STATES.get(other.strip().lower(), ())
            problem = "" if states else f"{other.strip()!r} is no state"
            return Condition(text, predicate, classes, states=states, malformed=problem)
        if predicate not in _ON:
            return Condition(text, malformed=f"{match.group('name')!r} is no known predicate")
        if not any(self._kinds[name].pickupable for name in classes):
            return Condition(text, malformed=f"{subject.strip()!r} cannot be moved")
        point = _POINT.search(other)
        if point:
            x, y, z = position_from_thor([float(value) for value in point.groups()])
            return Condition(text, predicate, classes, point=(float(x), float(y), float(z)))
        others = self._classes(other, present)
        problem = "" if others else f"the home has no {other.strip()!r}"
        return Condition(text, predicate, classes, others, malformed=problem)

    def _classes(self, words: str, present: set[str]) -> frozenset[str]:
        """Return the home's classes that the words may mean, with the pieces that they may be cut into."""
        named = set(self._kinds.spoken_names.classes(_head(words)))
        named |= {self._kinds[name].slices for name in named if self._kinds[name].slices}
        found = named & present or self._kinds.alike(named) & present
        return frozenset(found | {name for name in named if self._kinds.whole(name) in present})


def _head(words: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", words.strip())
    return " ".join(singular(word) for word in re.findall(r"[a-z]+", spaced.lower()))
