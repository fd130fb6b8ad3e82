"""Acts for one goal: locates things, makes facts true by searched plans, and replans after failures."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.goal_labels import GOAL_OF_SKILL, GoalKind
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_declaration import Predicate
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState
from memory_node.lessons.expectations import ENABLING
from memory_node.lessons.lesson import Preparation
from memory_node.planner.belief import Belief
from memory_node.planner.expected_failures import ExpectedFailures
from memory_node.planner.goal import Mention
from memory_node.planner.goal_attempt import GoalAttempt, Hopeless, NothingFound, Setback, Steps
from memory_node.planner.locating import Locator
from memory_node.planner.planner import PlannedStep, PlanningFailedError
from memory_node.planner.search import Wanted, find_plan
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


_MAX_STEPS = 60
TOOL = "tool"  # how a plan names what the hand must hold to treat something


class _Replan(Exception):  # noqa: N818
    """The plan no longer fits what is known."""


@dataclass
class PlanExecution:
    """The robot's hands while one goal is pursued.

    max_failures: skills that may fail before the goal is given up. expected: what earlier tries taught; None: nothing.
    """

    kinds: ObjectCatalogue
    locator: Locator
    attempt: GoalAttempt
    max_failures: int
    expected: ExpectedFailures | None = None
    failures: int = 0
    steps: int = 0

    def __post_init__(self) -> None:
        self._recovery = FailureRecovery(self.attempt)

    @property
    def belief(self) -> Belief:
        """What is believed of the things that the goal is about."""
        return self.attempt.belief

    def need(self, name: str, mention: Mention, sliced: bool = False) -> Steps:
        """Locate a thing under a name. If remembered pieces are gone, another whole one is cut.

        Raises:
            NothingFound: there is none.
        """
        if sliced:
            pieces = (self.kinds[one].slices for one in mention.candidates)
            mention = replace(mention, candidates=tuple(one for one in pieces if one))
        try:
            yield from self.locator.need(self.attempt, name, mention)
        except NothingFound:
            whole = self.kinds.whole(mention.object_class)
            if whole == mention.object_class:
                raise
            yield from self.need(name, Mention(whole, (whole,)))
            yield from self.need_tool()
            yield from self.make(Wanted(Predicate.STATE, (name,), ObjectState.SLICED))
            self.attempt.mentions[name] = mention

    def need_tool(self, tools: tuple[str, ...] = ()) -> Steps:
        """Have a tool located, by default one of those that things are usually cut with."""
        usual = self.kinds.usual_treatment(GoalKind.SLICE)
        tools = tools or (usual.tools if usual is not None else ())
        held = self.attempt.held
        if held is None or self.kinds[held.object_class].name not in tools:
            yield from self.need(TOOL, Mention(f"a tool such as {tools[0]}" if tools else "a tool", tools))

    def make(self, *wanted: Wanted, fixture: str = "", near: bool = False) -> Steps:
        """Execute searched plans until all of `wanted` holds; fixture: what composites are done at. near: the robot
        must stand there first."""
        while True:
            try:
                plan = find_plan(self.belief, wanted, fixture)
            except PlanningFailedError:
                if not self.belief.state.held or "surface" in self.belief.things:
                    raise
                yield from self.need("surface", self.locator.surfaces())
                continue
            if not plan:
                return
            if (yield from self._prepare(plan)):
                continue
            there = Wanted(Predicate.NEAR, (fixture,))
            if near and not there.holds(self.belief.state):
                yield from self.make(there)
                continue
            try:
                for call in plan:
                    yield from self.do(self._as_known_now(call))
            except _Replan:
                for name, mention in list(self.attempt.mentions.items()):
                    yield from self.need(name, mention)

    def _prepare(self, plan: Sequence[SkillCall]) -> Generator[PlannedStep, SkillResult, bool]:
        """Do what made the first call of a plan work that has such a way; return whether there is one. What cannot be
        done any more is left out."""
        if self.expected is None:
            return False
        for call in plan:
            subject, place = self.belief.named(call.arguments[0]), self.belief.named(call.arguments[-1])
            lesson = self.expected.way(call, subject, place)
            if lesson is None:
                continue
            for number, one in enumerate(lesson.before):
                with contextlib.suppress(NothingFound, PlanningFailedError, _Replan):
                    yield from self._do_before(one, f"preparation {number}", subject)
            return True
        return False

    def _do_before(self, one: Preparation, name: str, subject: Thing | None) -> Steps:
        """Do one call that made another one work: with the other's own thing, or with the thing that it was done with.
        What is switched or opened already is left so; all else is done again."""
        if not one.thing_id and subject is not None:
            name = subject.id
        else:
            name = yield from self._known_as(name, one.thing_class, one.thing_id)
        if one.skill in ENABLING:
            yield from self.make(Wanted(Predicate.STATE, (name,), ENABLING[one.skill]))
            return
        if SKILLS[one.skill].needs(Predicate.HOLDING):
            yield from self.make(Wanted(Predicate.HOLDING, (name,)))
        if one.place_id:
            place = yield from self._known_as(f"{name} place", one.place_class, one.place_id)
            yield from self.make(Wanted(Predicate.CONTAINED, (name, place)))
            return
        treatment = self.kinds.usual_treatment(GOAL_OF_SKILL[one.skill])
        arguments = [name]
        if treatment is not None and treatment.at:
            arguments.append(f"{name} fixture")
            yield from self.need(arguments[1], Mention(f"where to {treatment.name}", treatment.at))
            if not SKILLS[one.skill].composite:
                yield from self.make(Wanted(Predicate.NEAR, (arguments[1],)))
        yield from self.do(SkillCall(one.skill, tuple(map(self.reference, arguments))))

    def _known_as(self, name: str, object_class: str, thing_id: str) -> Generator[PlannedStep, SkillResult, str]:
        """Return the name of one certain thing, located under `name` where it has none."""
        known = next((one.id for one in self.belief.state if one.memory_id == thing_id), None)
        if known is None:
            self.belief.forget(name)
            yield from self.need(name, Mention(object_class, (object_class,), thing_id=thing_id))
        return known or name

    def do(self, call: SkillCall) -> Steps:
        """Execute one call and take over what it changed.

        Raises:
            _Replan: it failed in a way that another plan may get round.
            Setback: it failed for good.
        """
        if call.skill not in self.belief.skills:
            raise Setback(f"{call.skill} is not available on this robot")
        self.steps += 1
        if self.steps > _MAX_STEPS:
            raise Setback(f"not achieved within {_MAX_STEPS} steps")
        things = (self.belief.named(argument) for argument in call.arguments)
        known = {argument: thing.memory_id for argument, thing in zip(call.arguments, things) if thing is not None}
        result = yield PlannedStep(call, memory_ids={name: found for name, found in known.items() if found})
        subject = self.belief.named(call.arguments[0])
        self.attempt.observe(result.changes)
        if result.success:
            self._recovery.succeeded(call, result, subject)
            return
        self.failures += 1
        if result.reason is FailureReason.CANCELED or self.failures > self.max_failures:
            raise Setback(told_failure(call, result, self.belief))
        place = self.belief.named(call.arguments[-1])
        is_hopeless = self.expected is not None and self.expected.is_hopeless(call, place)
        self._recovery.failed(call, result, is_hopeless)
        raise _Replan

    def reference(self, name: str) -> str:
        """Return how calls name a thing."""
        return self.belief.things[name].call_name

    def _as_known_now(self, call: SkillCall) -> SkillCall:
        """Refer to things by the robot's own ids, as far as earlier steps have told them."""
        things = [self.belief.named(argument) for argument in call.arguments]
        names = [thing.call_name if thing else argument for thing, argument in zip(things, call.arguments)]
        return SkillCall(call.skill, tuple(names))
