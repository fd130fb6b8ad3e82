"""Checks the declared preconditions of a skill by memory, the hand and TF."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason
from memory_node.domain.skill_declaration import Fact, Precondition, Predicate, Skill
from memory_node.domain.states import ObjectState
from memory_node.nodes.skill_bridge.outcome import SkillFailure
from memory_node.nodes.skill_bridge.target import Hand, Target


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
        for rule in skill.preconditions:
            targets = [bound[name] for name in rule.fact.arguments if name in bound]
            if len(targets) == len(rule.fact.arguments) and self._holds(rule.fact, targets) != rule.fact.value:
                raise self._failure(rule, targets)

    def _failure(self, rule: Precondition, targets: list[Target]) -> SkillFailure:
        named = f" ({', '.join(target.object_class for target in targets)})" if targets else ""
        reason, object_id = rule.reason, targets[0].object_id if targets else ""
        if reason is FailureReason.CLOSED and rule.fact.predicate is Predicate.ACCESSIBLE:
            container = self.support_of(targets[0])
            object_id = container.object_id if container is not None else object_id
        return SkillFailure(reason, f"{rule.fact} does not hold{named}: {rule.remedy}", object_id)

    def _holds(self, fact: Fact, targets: list[Target]) -> bool:
        held = self.hand.held
        if fact.predicate is Predicate.HAND_EMPTY:
            return held is None
        if fact.predicate is Predicate.HOLDING_CUTTER:
            return held is not None and self.catalogue[held.object_class].can(Property.CUTS)
        target = targets[0]
        in_hand = held is not None and held.object_id == target.object_id
        if fact.predicate is Predicate.HOLDING:
            return in_hand
        if fact.predicate is Predicate.NEAR:
            return in_hand or target.gap_m(self.robot_pose().position) <= self.reach_m
        if fact.predicate is Predicate.STATE:
            return fact.state in target.states
        if fact.predicate is Predicate.ACCESSIBLE:
            return in_hand or not self._shut_in(target)
        if fact.predicate is Predicate.OPEN_OR_UNLIDDED:
            return ObjectState.CLOSED not in target.states
        return fact.predicate is Predicate.KNOWN or self._can(target, fact.predicate)

    def _shut_in(self, target: Target) -> bool:
        container = self.support_of(target) if target.inside else None
        return container is not None and ObjectState.CLOSED in container.states

    def _can(self, target: Target, predicate: Predicate) -> bool:
        kind = self.catalogue.find(target.object_class)
        return kind is None or kind.satisfies(predicate)
