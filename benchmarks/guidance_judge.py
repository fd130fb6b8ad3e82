"""Judges guidance after the fact in a copy of the simulated home: is its goal on a shortest way to the next step?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.alfred_home import ALFRED_REACH_M
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_declaration import ArgumentKind
from memory_node.domain.skill_library import SKILLS
from memory_node.sim.execution import RobotConfig
from memory_node.sim.robot import HomeRobot
from memory_node.sim.world import World

# Sequences with more preparations are not searched; guidance that needs one counts as wrong.
_LONGEST = 2


@dataclass(frozen=True)
class GuidedMoment:
    """What was guided: the home as it was, where the robot stood, what the executor was about to do, the guidance."""

    world: World
    pose: Pose
    proposed: SkillCall
    goal: SkillCall


def is_precise(moment: GuidedMoment) -> bool:
    """Return whether the guided call lies on a shortest way, in skills, from the state of then to the proposed call.

    The home's own skills decide, none of which fails by chance: after the guided call one preparation less must be
    needed than before it. The proposed call itself is right where it can be done at once.
    """
    here = (moment.world, moment.pose)
    if moment.goal == moment.proposed:
        return _tried(here, moment.proposed) is not None
    there = _tried(here, moment.goal)
    if there is None:
        return False
    left = next((n for n in range(_LONGEST + 1) if _leads(there, moment.proposed, n)), None)
    return left is not None and not any(_leads(here, moment.proposed, n) for n in range(left + 1))


def _leads(state: tuple[World, Pose], proposed: SkillCall, preparations: int) -> bool:
    """Return whether the proposed call can be done after exactly so many preparations."""
    if preparations == 0:
        return _tried(state, proposed) is not None
    after = (_tried(state, call) for call in _preparations(state[0], proposed))
    return any(reached is not None and _leads(reached, proposed, preparations - 1) for reached in after)


def _tried(state: tuple[World, Pose], call: SkillCall) -> tuple[World, Pose] | None:
    """Return the state after a skill, None where it fails; the given state stays as it is."""
    world = state[0].copy()
    robot = HomeRobot(world, RobotConfig(reach_m=ALFRED_REACH_M))
    robot.body.pose = state[1]
    return (world, robot.body.pose) if robot.run(call).success else None


def _preparations(world: World, proposed: SkillCall) -> Iterator[SkillCall]:
    """Yield what may have to come before a call: drive to its things, take what it is done with, open what is shut."""
    skill = SKILLS[proposed.skill]
    things = [
        text for argument, text in zip(skill.arguments, proposed.arguments) if argument.kind is ArgumentKind.OBJECT
    ]
    for text in things:
        yield SkillCall("GoToObject", (text,))
        yield SkillCall("OpenObject", (text,))
        yield SkillCall("PickupObject", (text,))
        if text in world:
            around = world.closed_around(world[text])
            if around is not None:
                yield SkillCall("GoToObject", (around.id,))
                yield SkillCall("OpenObject", (around.id,))
