"""Compares what is believed of a home with the simulator's truth."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from memory_node.catalogue.class_name import folded
from memory_node.domain.states import ObjectState
from memory_node.sim.thing import HAND, Thing
from memory_node.sim.visibility import SEEN_STATES
from memory_node.sim.world import World, effects_on, works_on
from memory_node.world.state import Thing as Believed
from memory_node.world.state import WorldState

# A believed thing this far (m) from a true one of its class may be it: a drawer slides so far, with what is in it.
SAME_PLACE_M = 0.5
# Boxes that are this near (m) meet.
_MEETS_M = 0.05


@dataclass
class Score:
    """Counts of one set of things. right, claimed and true: of believed containers, and of believed states."""

    calls: int = 0
    containers: list[int] = field(default_factory=lambda: [0, 0, 0])
    states: list[int] = field(default_factory=lambda: [0, 0, 0])
    wrong_identities: int = 0
    phantoms: int = 0

    def add(self, other: Score) -> None:
        """Add another's counts."""
        self.calls += other.calls
        self.wrong_identities += other.wrong_identities
        self.phantoms += other.phantoms
        for mine, theirs in ((self.containers, other.containers), (self.states, other.states)):
            for index, value in enumerate(theirs):
                mine[index] += value

    def figures(self) -> dict[str, float | int]:
        """Return precision and recall, and the other counts."""
        return {
            "calls": self.calls,
            "container_precision": _share(self.containers[0], self.containers[1]),
            "container_recall": _share(self.containers[0], self.containers[2]),
            "state_precision": _share(self.states[0], self.states[1]),
            "state_recall": _share(self.states[0], self.states[2]),
            "wrong_identities": self.wrong_identities,
            "phantoms": self.phantoms,
        }


def _share(right: int, of: int) -> float:
    return round(right / of, 4) if of else 1.0


def matched(believed: WorldState, world: World, within_m: float = SAME_PLACE_M) -> dict[str, str]:
    """Return the key of the believed thing that each true one is taken for, by its id: of its class, the nearest within
    a distance."""
    held = believed.things.get(believed.held or "")
    found: dict[str, str] = {}
    carried = {thing.id for thing in world.with_contents(world.held)} if world.held is not None else set()
    if held is not None and world.held is not None:
        _match_carried(world.held, held, believed, world, found)
    pairs = sorted(
        (distance, thing.id, one.id)
        for thing in world
        if thing.id not in carried
        for one in believed.of_class(thing.class_name)
        if one.id != believed.held and (distance := _apart(thing, one)) <= within_m
    )
    taken: set[str] = set(found.values())
    for _, true_id, key in pairs:
        if true_id not in found and key not in taken:
            found[true_id] = key
            taken.add(key)
    return found


def _match_carried(thing: Thing, one: Believed, believed: WorldState, world: World, found: dict[str, str]) -> None:
    """Match what is in the hand, and what is on or in that: where it is carried to, no camera follows."""
    if folded(thing.class_name) != folded(one.object_class):
        return
    found[thing.id] = one.id
    left = believed.contents(one.id)
    for content in world.contents(thing.id):
        twin = next((other for other in left if folded(other.object_class) == folded(content.class_name)), None)
        if twin is not None:
            left.remove(twin)
            _match_carried(content, twin, believed, world, found)


def _apart(thing: Thing, believed: Believed) -> float:
    assert believed.position is not None
    return float(np.linalg.norm(thing.box.center - np.array(believed.position)))


def meets(thing: Thing, support: Thing, slack_m: float = _MEETS_M) -> bool:
    """Return whether a thing's box is in or on another's, as near as boxes are known.

    ALFRED tells places of things, and no sizes of furniture. Where the box that a home makes for a counter does not
    reach to a thing that is said to stand on it, no sight can tell that it does, and no place is counted. Where boxes
    overlap, as those of two cabinets or of a pan and the fork beside it, each is right. What is mostly above the box of
    a cabinet is not to be told to be in that either.
    """
    box, foot = support.box, thing.box.bottom_m
    if support.kind.lidded and thing.box.center[2] > box.top_m + slack_m:
        return False  # no door shuts before it
    surface_m = min(support.surface_heights_m, default=box.bottom_m) if support.kind.holds == "on" else box.bottom_m
    lowest_m = max(surface_m, box.bottom_m)
    is_level = lowest_m - slack_m <= foot <= box.top_m + slack_m
    return is_level and box.distance_m(thing.box.center[:2]) <= slack_m


def ending_unseen(world: World) -> Iterator[tuple[str, set[ObjectState]]]:
    """Yield the id of each thing that a source works on, with the states that it is about to end and nobody sees: how
    long a plate on a burner is still cold."""
    for source, thing in works_on(world):
        ended = {opposite for state in effects_on(source, thing) for opposite in state.opposites}
        yield thing.id, ended - SEEN_STATES


def _around(thing: Thing, world: World) -> Iterable[Thing]:
    """Yield the other things in whose boxes a thing is, or on which it stands."""
    carried = {one.id for one in world.with_contents(thing)}
    return (one for one in world if one.id not in carried and one.parent_id != HAND and meets(thing, one))


class Comparison:
    """Follows one life: which believed thing each true one was, over time."""

    def __init__(self) -> None:
        self._was: dict[str, str] = {}  # memory's id -> the true thing's id
        self._phantoms: set[str] = set()
        # Ids of true things that were moved unseen since they were compared last, and memory's of what they were then.
        self._unsure: set[str] = set()

    def score(
        self,
        believed: WorldState,
        world: World,
        known_states: dict[str, set[ObjectState]],
        counted: Collection[str],
        in_view: Collection[str],
        claimed: Collection[str],
        moved_unseen: Collection[str],
    ) -> Score:
        """Compare some true things, by their ids.

        known_states: by true thing, those that the robot could know: seen, or reported by its skills. in_view: keys of
        the believed things that would be in view where they are believed to be. claimed: keys of believed things whose
        place counts as said wrongly where no true thing is there. moved_unseen: ids of what somebody
        else has moved and the robot had not seen again before its last call.
        """
        found, score = matched(believed, world), Score(calls=1)
        self._unsure.update(moved_unseen, (key for key, was in self._was.items() if was in moved_unseen))
        for thing in (world[one] for one in counted if one in world):
            key = found.get(thing.id)
            self._containers(thing, key, believed, found, world, score)
            self._states(thing, key, believed, known_states, score)
        by_key = {key: true_id for true_id, key in found.items()}
        score.containers[1] += sum(bool(believed.container_of(key)) for key in claimed if key not in by_key)
        for key in in_view:
            memory_id = believed.things[key].memory_id
            if key not in by_key and memory_id not in self._phantoms:
                self._phantoms.add(memory_id)
                score.phantoms += 1
        for true_id, key in found.items():
            if true_id in counted:
                memory_id = believed.things[key].memory_id
                before = self._was.get(memory_id, true_id)
                are_two = before != true_id and memory_id not in self._unsure
                if are_two and _can_tell_apart(before, true_id, self._unsure):
                    score.wrong_identities += 1
                self._was[memory_id] = true_id
                self._unsure.discard(memory_id)
        self._unsure.difference_update(found.keys() & set(counted))
        return score

    @staticmethod
    def _containers(
        thing: Thing, key: str | None, believed: WorldState, found: dict[str, str], world: World, score: Score
    ) -> None:
        if thing.fixed:
            return
        if thing.parent_id == HAND:
            true, claimed = {HAND}, HAND if key is not None and key == believed.held else ""
        else:
            parent = next(world.supports(thing), None)
            if parent is not None and not meets(thing, parent):
                return
            there = {one.id for one in (parent, *_around(thing, world)) if one is not None and one.type.is_named}
            claimed = believed.container_of(key) if key is not None else ""
            true = {found.get(one, one) for one in there}
            # Where a home tells no place of a thing, what it meets may be named, and need not.
            is_told = parent is not None and parent.type.is_named
            true &= true if is_told else {claimed}
        score.containers[0] += claimed in true
        score.containers[1] += bool(claimed)
        score.containers[2] += bool(true)

    @staticmethod
    def _states(
        thing: Thing, key: str | None, believed: WorldState, known: dict[str, set[ObjectState]], score: Score
    ) -> None:
        claimed = believed.things[key].states if key is not None else frozenset()
        true = thing.states & known.get(thing.id, set())
        score.states[0] += len(claimed & thing.states)
        score.states[1] += len(claimed)
        score.states[2] += len(true | (claimed & thing.states))


def _can_tell_apart(one: str, other: str, moved_unseen: Iterable[str]) -> bool:
    """Return whether two things of a class are told apart by their places: pieces of one whole lie together, and what
    somebody moved may be either."""
    return one.partition("/")[0] != other.partition("/")[0] and not {one, other} & set(moved_unseen)
