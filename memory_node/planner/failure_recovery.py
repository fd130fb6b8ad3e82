"""What the result of a skill tells of the world: effects of a success, corrections by a failure."""

from __future__ import annotations

from collections import Counter

from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_declaration import Predicate
from memory_node.domain.skill_library import SKILLS
from memory_node.planner.belief import Belief
from memory_node.planner.goal_attempt import GoalAttempt, Hopeless, Setback
from memory_node.world.failures import after_failure, broken_rules
from memory_node.world.skills import after
from memory_node.world.state import Thing

# So often a call is tried that fails by itself before another place is.
_TRIES = 3
_ELSEWHERE = frozenset(
    {
        FailureReason.NOT_FOUND,
        FailureReason.NOT_VISIBLE,
        FailureReason.UNREACHABLE,
        FailureReason.OCCUPIED,
        FailureReason.WRONG_OBJECT,
        FailureReason.PRECONDITION,
        FailureReason.INVALID_CALL,
    }
)


class FailureRecovery:
    """Takes results over into what is believed in the attempt of one goal."""

    def __init__(self, attempt: GoalAttempt) -> None:
        self._attempt = attempt
        self._belief = attempt.belief
        self._by_chance: Counter[tuple[str, str]] = Counter()

    def succeeded(self, call: SkillCall, result: SkillResult, subject: Thing | None) -> None:
        """Apply the declared effects, which hold whether or not the robot reports changes."""
        if subject is None:
            return
        self._belief.state = after(SKILLS[call.skill], self._belief.state, call)
        if call.skill in ("PickupObject", "GoToObject", "SliceObject"):
            self._belief.identify(subject.id, result.object_id)

    def failed(self, call: SkillCall, result: SkillResult, is_hopeless: bool = False) -> None:
        """Correct the belief that made a call fail. is_hopeless: it never worked before, so once is enough.

        Raises:
            Setback: it failed by itself so often that it is no chance, and nothing else can take the thing's part.
        """
        belief, known = self._belief, frozenset(self._belief.things)
        broken = broken_rules(SKILLS[call.skill], result.reason)
        last = belief.named(call.arguments[-1])
        belief.state = after_failure(SKILLS[call.skill], belief.state, call, result.reason, result.object_id)
        belief.settings |= frozenset(belief.things) - known
        if result.reason is FailureReason.FORBIDDEN or result.reason.by_chance:
            self._by_chance[(call.skill, call.arguments[-1])] += 1
            tries = 1 if is_hopeless else _TRIES
            if result.reason.by_chance and self._by_chance[(call.skill, call.arguments[-1])] < tries:
                return
            if last is None or last.id not in self._attempt.mentions or self._attempt.mentions[last.id].thing_id:
                raise (Hopeless if is_hopeless else Setback)(told_failure(call, result, self._belief))
            self._attempt.exclude(last)
            self._attempt.not_sought.add(last.id)
            return
        is_told = any(rule.fact.predicate is Predicate.STATE for rule in broken)
        if result.reason in _ELSEWHERE and not is_told and last is not None and last.id in self._attempt.mentions:
            self._attempt.exclude(last)


def told_failure(call: SkillCall, result: SkillResult, belief: Belief) -> str:
    """Return why a call failed, with what people call its things: an id says nothing to them."""
    things = filter(None, map(belief.named, call.arguments))
    names = ", ".join(dict.fromkeys(belief.kinds[one.object_class].best_name for one in things))
    return f"{call} failed with the {names}: {result.reason} {result.message}".rstrip()
