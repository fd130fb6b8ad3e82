"""What a robot does that knows everything: calls on true things, round the faults that it knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from benchmarks.life.calls import meant_by, plain
from benchmarks.life.day_form import FaultKeys, Want
from benchmarks.life.placing import is_person, room_called
from benchmarks.life.robot_life import RobotLife
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import SkillCall, SkillResult
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ObjectState
from memory_node.sim.placement import fits, free_spot
from memory_node.sim.thing import Thing
from memory_node.sim.visibility import horizontal_distance

_MOST_TRIES = 12
# By skill, the state in which it would do nothing, and the skill that ends that.
_UNDOES = {
    "ToggleOn": ("on", "ToggleOff"),
    "ToggleOff": ("off", "ToggleOn"),
    "OpenObject": ("opened", "CloseObject"),
    "CloseObject": ("closed", "OpenObject"),
}


class OutOfCallsError(Exception):
    """The person interrupts the robot."""


class CannotError(Exception):
    """Nothing that is allowed leads there."""


class ScriptedHands:
    """limit: so many calls before it is interrupted, None for no limit; want: of the step, tells what not to do."""

    def __init__(self, life: RobotLife, limit: int | None, want: Want | None) -> None:
        self._life = life
        self._limit = limit
        self._want = want or Want()
        self._world = life.world

    @property
    def held(self) -> Thing | None:
        """What the hand holds."""
        return self._world.held

    def call(self, skill: str, *things: str) -> SkillResult:
        """Make one call, again while it fails by a fault that ends by itself.

        Raises:
            CannotError: it fails.
            OutOfCallsError: it was the last one.
        """
        call = SkillCall(skill, things)
        for _ in range(_MOST_TRIES):
            if self._limit is not None and len(self._life.trace.results) >= self._limit:
                raise OutOfCallsError
            result = self._life.execute(call)
            self._life.remember(result.changes)
            if result.success:
                return result
            if not result.reason.by_chance or self.is_hindered(call):
                break
        raise CannotError(f"{call}: {result.reason} {result.message}")

    def is_hindered(self, call: SkillCall) -> bool:
        """Return whether a call would fail for good."""
        return self._life.faults.hinders_always(meant_by(self._life.robot, call)) is not None

    def is_allowed(self, skill: str, *things: str) -> bool:
        """Return whether a call is none of those that are not wanted."""
        for text in self._want.no_calls:
            name, *ids = text.split()
            if plain(name) == plain(skill) and set(ids) <= set(things):
                return False
        return True

    # --- ways

    def go(self, thing: Thing) -> None:
        """Stand before a thing; what shuts it in is opened."""
        if thing.id == self._world.held_id:
            return
        closed = self._world.closed_around(thing)
        if closed is not None:
            self.open(closed)
        here = self._life.robot.body.pose.position
        near = horizontal_distance(thing.box, here) <= self._life.robot.config.reach_m
        if not near or self._world.layout.hides(here[:2], thing.box.center[:2]):
            self.call("GoToObject", thing.id)

    def open(self, thing: Thing) -> None:
        """Open a thing."""
        if not thing.is_open:
            self.go(thing)
            self.do("OpenObject", thing.id)

    def do(self, skill: str, *things: str) -> None:
        """Make a call, after the one that puts its fault right, if any."""
        meant = meant_by(self._life.robot, SkillCall(skill, things))
        fault = self._life.faults.hinders_always(meant)
        if fault is not None and fault.unless is not None:
            self._put_right(fault.unless)
            for name in things:
                if name in self._world:
                    self.go(self._world[name])
        self.call(skill, *things)

    def _put_right(self, keys: FaultKeys) -> None:
        thing = self._world[keys.thing]
        self.go(thing)
        undo = _UNDOES.get(plain(keys.skill))
        if undo is not None and ObjectState(undo[0]) in thing.states:  # it counts from when the call succeeds
            self.call(undo[1], thing.id)
        self.call(keys.skill, thing.id)

    def fetch(self, thing: Thing) -> None:
        """Take a thing into the hand."""
        if thing.id == self._world.held_id:
            return
        self.free_hand()
        self.go(thing)
        self.do("PickupObject", thing.id)

    def free_hand(self) -> None:
        """Put down what the hand holds: where it was, or else wherever it may lie."""
        held = self.held
        if held is None:
            return
        before = self._life.taken_from
        places = [one for one in self._world if before is not None and one.id == before.parent_id]
        places += [one for one in self._world if one.fixed and one.kind.holds == "on" and not is_person(one)]
        self.put(held, places)

    def put(self, thing: Thing, places: Iterable[Thing]) -> None:
        """Put a thing on or in the first of some places where there is room and no fault."""
        for place in places:
            opening = self._is_shut(place) and not self._can_open(place)
            if opening or not self.is_allowed("PutObject", thing.id, place.id) or not self._has_room(thing, place):
                continue
            if self._never("PutObject", thing.id, place.id):
                continue
            self.fetch(thing)
            if self._is_shut(place):
                self.open(place)
            self.go(place)
            self.do("PutObject", thing.id, place.id)
            return
        raise CannotError(f"there is nowhere to put {thing.id}")

    def _is_shut(self, place: Thing) -> bool:
        return place.kind.holds == "in" and not place.is_open

    def _can_open(self, place: Thing) -> bool:
        return self.is_allowed("OpenObject", place.id) and not self._never("OpenObject", place.id)

    def _never(self, skill: str, *things: str) -> bool:
        """Return whether a call fails, and nothing puts that right."""
        fault = self._life.faults.hinders_always(meant_by(self._life.robot, SkillCall(skill, things)))
        return fault is not None and fault.unless is None

    def _has_room(self, thing: Thing, place: Thing) -> bool:
        if place in self._world.with_contents(thing) or not place.kind.is_receptacle or not fits(thing, place):
            return False
        others = [one for one in self._world.contents(place.id) if one is not thing]
        return free_spot(thing, place, others) is not None

    def places_in(self, room_name: str) -> list[Thing]:
        """Return the furniture of a room on which things can be put."""
        room = room_called(self._world, room_name)
        if room is None:
            return []
        return [
            one
            for one in self._world
            if one.fixed and one.kind.holds == "on" and not is_person(one) and room.contains(*one.box.center[:2])
        ]

    # --- what is done to things

    def treat(self, thing: Thing, goal: GoalKind, skill: str) -> None:
        """Clean, heat or cool a thing at the first appliance where that is possible."""
        usual = self._world.types.catalogue.treatments_of(goal)
        places = [one for treatment in usual for name in treatment.at for one in self._world.of_class(name)]
        # The skill itself drives there.
        self._at_one_of(self._preferred(places), skill, thing, lambda place: self.do(skill, thing.id, place.id))

    def fill(self, thing: Thing) -> None:
        """Fill a vessel at the first tap or coffee machine where that is possible."""
        taps = [one for one in self._world if one.can(Property.WATERS) or one.can(Property.BREWS)]

        def pour(tap: Thing) -> None:
            self.go(tap)
            self.do("FillObject", thing.id, tap.id)

        self._at_one_of(self._preferred(taps), "FillObject", thing, pour)

    def slice(self, thing: Thing, tools: Sequence[str] | None) -> None:
        """Cut a thing; tools: ids of the things that may be touched, None for any."""
        knives = [one for one in self._world if one.can(Property.CUTS) and (tools is None or one.id in tools)]
        if not knives:
            raise CannotError("no knife may be used")
        self.fetch(knives[0])
        self.go(thing)
        self.do("SliceObject", thing.id)
        self.free_hand()

    def _at_one_of(self, places: Sequence[Thing], skill: str, thing: Thing, act: Callable[[Thing], None]) -> None:
        for place in places:
            if not self.is_allowed(skill, thing.id, place.id) or self._never(skill, thing.id, place.id):
                continue
            self.fetch(thing)
            act(place)
            return
        raise CannotError(f"{skill} of {thing.id} is possible nowhere")

    def _preferred(self, places: Iterable[Thing]) -> list[Thing]:
        """Return places, those first that a wanted call names, then the nearest."""
        named = {thing for text in self._want.calls for thing in text.split()[1:]}
        here = self._life.robot.body.pose.position
        return sorted(
            dict.fromkeys(places),
            key=lambda one: (one.id not in named, self._world.grid.distance(here, one.box.center)),
        )


def wanted_calls(want: Want) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the calls that must succeed, each as a skill and ids."""
    for text in want.calls:
        skill, *things = text.split()
        yield skill, tuple(things)
