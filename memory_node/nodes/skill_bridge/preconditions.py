"""Checks the declared preconditions of a skill by memory, the hand and TF."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_declaration import Skill
from memory_node.nodes.skill_bridge.target import Hand, Target
from memory_node.world.failures import failure_of
from memory_node.world.state import Thing, WorldState


@dataclass(frozen=True)
class Preconditions:
    """What decides whether a fact holds.

    catalogue: what can be done with classes; one that is not declared there is not judged. support_of: what a thing is
    in or on. robot_pose: of the base in map. reach_m: horizontal, from the base to a thing's nearest point.
    """

    catalogue: ObjectCatalogue
    hand: Hand
    support_of: Callable[[Target], Target | None]
    robot_pose: Callable[[], Pose]
    reach_m: float

    def check(self, skill: Skill, bound: Mapping[str, Target]) -> None:
        """Raise SkillFailure with the declared reason of the first precondition that does not hold.

        bound: the skill's object arguments by name; rules about arguments that were left out do not apply.
        """
        state = self._state(bound)
        arguments = [bound[one.name].object_id if one.name in bound else "" for one in skill.arguments]
        failure = failure_of(skill, state, SkillCall(skill.name, tuple(arguments)))
        if failure is not None:
            raise failure

    def _state(self, bound: Mapping[str, Target]) -> WorldState:
        """Return the world as far as a call is about it: its things, what they are in or on, and the hand."""
        position = self.robot_pose().position
        held = [self.hand.held] if self.hand.held is not None else []
        supports = {one.object_id: self.support_of(one) for one in bound.values()}
        around = [one for one in supports.values() if one is not None]
        targets = {one.object_id: one for one in (*around, *held, *bound.values())}
        near = {key for key, one in targets.items() if one.box.distance_m(position[:2]) <= self.reach_m}
        return WorldState(
            self.catalogue,
            {key: _thing(one, supports.get(key)) for key, one in targets.items()},
            self.hand.held.object_id if self.hand.held is not None else "",
            apart=frozenset(targets.keys() - near),
            within=frozenset(near),
        )


def _thing(target: Target, support: Target | None) -> Thing:
    container = support.object_id if support is not None else ""
    known = target.object_id
    return Thing(
        known, target.object_class, known, known, container=container, inside=target.inside, states=target.states
    )
