"""What a skill call is about in the home: its things, and the places at which it is done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.life.placing import whole_of
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import SkillCall, SkillFailure, SkillResult
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
    return MeantCall(
        skill, first_id, first_class, ids, frozenset(_places(world, things)) | _source(robot, skill, things)
    )


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


def _source(robot: HomeRobot, skill: str, things: Sequence[Thing]) -> frozenset[str]:
    """Return the nearest of what a vessel can be filled at from here, where the call does not say it."""
    if skill != "FillObject" or len(things) > 1:
        return frozenset()
    here = robot.body.pose.position
    pours = (one for one in robot.world if one.can(Property.WATERS) or one.can(Property.BREWS))
    near = [(horizontal_distance(one.box, here), one.id) for one in pours]
    near = [pair for pair in near if pair[0] <= robot.config.reach_m + _SPOUT_M]
    return frozenset({min(near)[1]} if near else ())


def _belongs_to(world: World, thing: Thing) -> Thing | None:
    """Return the tap of a basin, and the basin of a tap."""
    if thing.type.can(Property.DRAINS):
        return tap_of(world, thing)
    return basin_of(world, thing) if thing.type.can(Property.WATERS) else None
