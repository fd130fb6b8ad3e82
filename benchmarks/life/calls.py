"""What a skill call is about in the home, and the faults by which calls fail although their preconditions hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from benchmarks.life.day_form import Fault, FaultKeys
from benchmarks.life.home import whole_of
from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure, SkillResult
from memory_node.domain.skill_library import GOAL_OF_SKILL, SKILLS
from memory_node.sim.robot import HomeRobot
from memory_node.sim.thing import Thing
from memory_node.sim.visibility import horizontal_distance
from memory_node.sim.world import World, basin_of, tap_of

# An appliance is toggled and a light is switched, which is the same to a fault and to a judge.
_SAME = {"SwitchOn": "ToggleOn", "SwitchOff": "ToggleOff"}
# A spout reaches so far beyond the arm.
_SPOUT_M = 0.3


def plain(skill: str) -> str:
    """Return a skill's name, the same for Switch and Toggle."""
    return _SAME.get(skill, skill)


@dataclass(frozen=True)
class MeantCall:
    """A call in the home's ids.

    first: its first argument; the class that Explore looks for is no thing. things: all that it names, and the
    appliance of a composite. places: at, to, in or from which it is done, named or not.
    """

    skill: str
    first: str = ""
    first_class: str = ""
    things: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()


def meant_by(robot: HomeRobot, call: SkillCall) -> MeantCall:
    """Return what a call means where the robot is now; what it does not resolve is left out."""
    world, skill = robot.world, plain(call.skill)
    if skill == "Explore":
        return MeantCall(skill, first_class=call.arguments[0] if call.arguments else "")
    named = [_resolved(robot, text, index) for index, text in enumerate(call.arguments)]
    things = [thing for thing in named if thing is not None]
    first = named[0] if named else None
    things += _appliances(robot, call, named)
    ids = frozenset(one.id for one in things)
    first_id, first_class = (first.id, first.class_name) if first is not None else ("", "")
    places = frozenset(_places(world, [*things, *_source(robot, skill, things)]))
    return MeantCall(skill, first_id, first_class, ids, places)


def _places(world: World, things: Sequence[Thing]) -> Iterator[str]:
    """Yield the ids of things, of what they are on or in, and of the taps and basins that belong to them."""
    for thing in things:
        yield thing.id
        yield from (support.id for support in world.supports(thing))
        beside = _belongs_to(world, thing)
        if beside is not None:
            yield beside.id


def things_of(meant: MeantCall, result: SkillResult) -> frozenset[str]:
    """Return the things of a call that has ended: those that it named, and those of its result."""
    made = (change.object_id for change in result.changes)
    return meant.things | frozenset(with_wholes([one for one in (result.object_id, *made) if one]))


def with_wholes(ids: Iterable[str]) -> Iterator[str]:
    """Yield ids, and for a piece the id of the thing that it was cut from, too."""
    for one in ids:
        yield one
        yield whole_of(one)


def _resolved(robot: HomeRobot, text: str, index: int) -> Thing | None:
    if robot.place(text) is not None:
        return None
    try:
        return robot.resolve(text) if index == 0 else robot.resolve_other(text)
    except SkillFailure:
        return None


def _appliances(robot: HomeRobot, call: SkillCall, named: Sequence[Thing | None]) -> Iterator[Thing]:
    """Yield at what a composite is done where the call does not say it."""
    if call.skill not in SKILLS or not SKILLS[call.skill].composite or len(named) > 1:
        return
    usual = robot.world.types.catalogue.usual_treatment(GOAL_OF_SKILL[call.skill])
    for name in usual.at if usual is not None else ():
        found = _resolved(robot, name, 1)
        if found is not None:
            yield found
            return


def _source(robot: HomeRobot, skill: str, things: Sequence[Thing]) -> list[Thing]:
    """Return the nearest of what a vessel can be filled at from here, where the call does not say it."""
    if skill != "FillObject" or len(things) > 1:
        return []
    here, most_m = robot.body.pose.position, robot.config.reach_m + _SPOUT_M
    pours = (one for one in robot.world if one.can(Property.WATERS) or one.can(Property.BREWS))
    near = [one for one in pours if horizontal_distance(one.box, here) <= most_m]
    return sorted(near, key=lambda one: (horizontal_distance(one.box, here), one.id))[:1]


def _belongs_to(world: World, thing: Thing) -> Thing | None:
    """Return the tap of a basin, and the basin of a tap."""
    if thing.type.can(Property.DRAINS):
        return tap_of(world, thing)
    return basin_of(world, thing) if thing.type.can(Property.WATERS) else None


@dataclass
class _Active:
    """A fault that has begun. tried: in this instruction. is_off: until the next event."""

    fault: Fault
    tried: int = 0
    is_off: bool = False


class HomeFaults:
    """The faults that have begun and not ended; local_time: of the home."""

    def __init__(self, local_time: Callable[[], datetime]) -> None:
        self._local_time = local_time
        self._active: list[_Active] = []

    def begin(self, fault: Fault) -> None:
        """Let a fault begin."""
        self._active.append(_Active(fault))

    def mend(self, keys: Fault) -> None:
        """End the faults that have all of some keys."""
        self._active = [one for one in self._active if not is_mended_by(one.fault, keys)]

    def begin_instruction(self) -> None:
        """Count tries anew."""
        for one in self._active:
            one.tried = 0

    def begin_event(self) -> None:
        """End what other calls have put right for a while."""
        for one in self._active:
            one.is_off = False

    def hinders(self, call: MeantCall) -> FailureReason | None:
        """Return why a call fails now, None where nothing hinders it."""
        for one in self._meant(call):
            one.tried += 1
            if not one.fault.tries or one.tried <= one.fault.tries:
                return one.fault.reason
        return None

    def hinders_always(self, call: MeantCall) -> Fault | None:
        """Return the fault by which a call fails now however often it is tried, None where there is none."""
        return next((one.fault for one in self._meant(call) if not one.fault.tries), None)

    def _meant(self, call: MeantCall) -> Iterator[_Active]:
        now = self._local_time()
        for one in self._active:
            if not one.is_off and _is_on(one.fault, now) and _fits(one.fault, call):
                yield one

    def note_success(self, call: MeantCall) -> None:
        """Take note of a call that may put a fault right."""
        for one in self._active:
            if one.fault.unless is not None and _fits(one.fault.unless, call):
                one.is_off = True


def is_mended_by(fault: Fault, keys: Fault) -> bool:
    """Return whether a fault has all keys that are given."""
    return all(getattr(fault, name) == getattr(keys, name) for name in keys.model_fields_set)


def _is_on(fault: Fault, now: datetime) -> bool:
    """Return whether a fault holds at this time of day; its span may go over midnight, which an end left out is."""
    minute = now.hour * 60 + now.minute
    begin, end = fault.from_minute or 0, 24 * 60 if fault.to_minute is None else fault.to_minute
    return begin <= minute < end if begin < end else minute >= begin or minute < end


def _fits(keys: FaultKeys, call: MeantCall) -> bool:
    thing_fits = not keys.thing or keys.thing in with_wholes([call.first])
    class_fits = not keys.class_name or folded(keys.class_name) == folded(call.first_class)
    place_fits = not keys.place or keys.place in call.places
    return plain(keys.skill) == plain(call.skill) and thing_fits and class_fits and place_fits
