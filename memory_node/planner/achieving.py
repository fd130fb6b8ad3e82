"""Carries out goals one by one: what each kind of goal needs, in order, by searched plans that are repaired."""

from __future__ import annotations

from dataclasses import replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.skill_library import KNIFE_CLASSES, Predicate
from memory_node.domain.states import ObjectState
from memory_node.planner.belief import Belief, Thing
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.goal_attempt import GoalAttempt, NothingFound, Setback, Steps
from memory_node.planner.locating import Locator
from memory_node.planner.memory_lookup import MemoryLookup
from memory_node.planner.object_kinds import ObjectKinds
from memory_node.planner.outcomes import Outcomes
from memory_node.planner.planner import PlannedStep, PlanningFailedError, Situation
from memory_node.planner.search import Wanted, find_plan

_MAX_STEPS = 60
_P, _S = Predicate, ObjectState
_TREATMENTS = {GoalKind.CLEAN: _S.CLEANED, GoalKind.HEAT: _S.HEATED, GoalKind.COOL: _S.COLD}
_FIXTURES = {_S.CLEANED: "SinkBasin", _S.HEATED: "Microwave", _S.COLD: "Fridge"}
_SIMPLE_STATES = {
    GoalKind.SWITCH_ON: _S.ON,
    GoalKind.SWITCH_OFF: _S.OFF,
    GoalKind.OPEN: _S.OPENED,
    GoalKind.CLOSE: _S.CLOSED,
    GoalKind.BREAK: _S.BROKEN,
}
_KNIFE = Mention("knife", ("Knife", "ButterKnife"))


class _Replan(Exception):  # noqa: N818
    """The plan no longer fits what is known."""


class GoalRun:
    """The goals of one instruction, in one robot's hands."""

    def __init__(self, kinds: ObjectKinds, lookup: MemoryLookup, situation: Situation, max_failures: int) -> None:
        self._kinds = kinds
        self._locator = Locator(kinds, lookup)
        self._max_failures = max_failures
        self._held = (situation.held_class, situation.held_id)
        self._begin()

    @property
    def _belief(self) -> Belief:
        return self._attempt.belief

    def achieve(self, goal: Goal) -> Steps:
        """Yield the steps of one goal.

        Raises:
            Setback: it cannot be achieved.
            PlanningFailedError: no skills lead to it.
        """
        self._begin()
        try:
            repeats = goal.count if goal.kind not in (GoalKind.STACK, GoalKind.EXAMINE) else 1
            for number in range(repeats):
                if number:
                    self._attempt.taken |= self._belief.things["target"].identities
                    self._belief.forget("target")
                yield from self._stages(goal)
        finally:
            self._note_held()

    def _begin(self) -> None:
        """Start from what is known for certain: what the hand holds. All else is asked of memory anew."""
        self._attempt = GoalAttempt(Belief(self._kinds))
        self._outcomes = Outcomes(self._kinds, self._attempt)
        self._failures = self._steps = 0
        held_class, held_id = self._held
        if held_class:
            self._belief.add(Thing("held", held_class, held_id or held_class, held_id))
            self._belief.state = replace(self._belief.state, held="held")

    def _note_held(self) -> None:
        thing = self._attempt.held
        self._held = (thing.object_class, thing.object_id or thing.reference) if thing else ("", "")

    def _stages(self, goal: Goal) -> Steps:
        if goal.kind in _SIMPLE_STATES:
            state = _SIMPLE_STATES[goal.kind]
            yield from self._reach(goal.target, "target", Wanted(_P.STATE, ("target",), state))
            return
        if goal.kind is GoalKind.FIND:
            yield from self._reach(goal.target, "target", Wanted(_P.NEAR, ("target",)))
            return
        if goal.sliced or goal.kind is GoalKind.SLICE:
            yield from self._slice(goal)
        if goal.kind is GoalKind.SLICE:
            return
        yield from self._need("target", goal.target, sliced=goal.sliced)
        if goal.kind in _TREATMENTS:
            yield from self._treat(goal)
        if goal.container is not None:
            yield from self._need("container", goal.container)
            yield from self._make(Wanted(_P.CONTAINED, ("target", "container")))
        if goal.destination is not None:
            yield from self._deliver(goal)
        elif goal.kind is GoalKind.EXAMINE:
            yield from self._examine(goal)
        elif goal.kind in (GoalKind.FILL, GoalKind.EMPTY):
            yield from self._fill(goal)
        elif goal.kind is GoalKind.THROW:
            yield from self._make(Wanted(_P.HOLDING, ("target",)))
            yield from self._do(SkillCall("ThrowObject", (self._reference("target"),)))
        elif goal.kind not in _TREATMENTS:
            yield from self._make(Wanted(_P.HOLDING, ("target",)))

    def _reach(self, mention: Mention, name: str, wanted: Wanted) -> Steps:
        yield from self._need(name, mention)
        yield from self._make(wanted)

    def _slice(self, goal: Goal) -> Steps:
        """Have slices: those that memory knows of, else cut."""
        pieces = self._kinds.sliced(goal.target.object_class)
        held = self._attempt.held
        in_hand = held is not None and held.object_class == pieces
        if goal.sliced and (in_hand or self._locator.remembered(self._attempt, pieces, goal.target, "target")):
            return
        yield from self._need("target", goal.target)
        if not self._holds_knife():
            yield from self._need("knife", _KNIFE)
        yield from self._make(Wanted(_P.STATE, ("target",), _S.SLICED))

    def _treat(self, goal: Goal) -> Steps:
        state = _TREATMENTS[goal.kind]
        yield from self._need("fixture", Mention(_FIXTURES[state], (_FIXTURES[state],)))
        yield from self._make(Wanted(_P.HOLDING, ("target",)))
        yield from self._make(Wanted(_P.STATE, ("target",), state), Wanted(_P.HOLDING, ("target",)))

    def _deliver(self, goal: Goal) -> Steps:
        assert goal.destination is not None
        carried = "container" if goal.container is not None else "target"
        if goal.destination.original_place:
            place = self._locator.first_places.get(self._belief.things["target"].object_class)
            if place is None:
                raise Setback(f"where {goal.target} was at first is not known")
            self._take_for_destination(place)
        elif goal.destination.beside:
            yield from self._need("beside", goal.destination)
            self._take_for_destination(self._support_of("beside"))
        else:
            yield from self._need("destination", goal.destination)
        yield from self._make(Wanted(_P.CONTAINED, (carried, "destination")))
        yield from self._close_behind("destination")

    def _take_for_destination(self, place: Thing) -> None:
        """Make a thing that is known otherwise the destination; it must not be believed in twice."""
        known = next((thing for thing in self._belief.things.values() if thing.identities & place.identities), None)
        if known is None:
            self._belief.add(replace(place, name="destination", is_setting=False))
        else:
            self._belief.rename(known.name, "destination")

    def _close_behind(self, name: str) -> Steps:
        """Shut what keeps cold or hides its contents."""
        thing = self._belief.things[name]
        if thing.object_class in ("Fridge", "Microwave", "Safe") and self._belief.state.has(name, _S.OPENED):
            yield from self._make(Wanted(_P.STATE, (name,), _S.CLOSED))

    def _examine(self, goal: Goal) -> Steps:
        assert goal.light is not None
        yield from self._make(Wanted(_P.HOLDING, ("target",)))
        yield from self._need("light", goal.light)
        yield from self._make(Wanted(_P.STATE, ("light",), _S.ON), Wanted(_P.NEAR, ("light",)))

    def _fill(self, goal: Goal) -> Steps:
        yield from self._make(Wanted(_P.HOLDING, ("target",)))
        if goal.kind is GoalKind.FILL:
            yield from self._need("tap", Mention("tap", ("Faucet", "SinkBasin")))
            yield from self._make(Wanted(_P.NEAR, ("tap",)))
        state = _S.FILLED if goal.kind is GoalKind.FILL else _S.USED_UP
        yield from self._make(Wanted(_P.STATE, ("target",), state))

    def _support_of(self, name: str) -> Thing:
        outer = self._belief.state.container_of(name)
        if not outer:
            raise Setback(f"what {self._belief.things[name].object_class} stands on is not known")
        return self._belief.things[outer]

    # --- acting

    def _need(self, name: str, mention: Mention, sliced: bool = False) -> Steps:
        """Have a thing located under a name. Where slices that memory knew of are gone, another whole one is cut."""
        if sliced:
            mention = replace(mention, candidates=tuple(self._kinds.sliced(one) for one in mention.candidates))
        try:
            yield from self._locator.need(self._attempt, name, mention)
        except NothingFound:
            whole = self._kinds.whole(mention.object_class)
            if whole == mention.object_class:
                raise
            yield from self._need(name, Mention(whole, (whole,)))
            yield from self._need("knife", _KNIFE)
            yield from self._make(Wanted(_P.STATE, (name,), _S.SLICED))
            self._attempt.mentions[name] = mention

    def _make(self, *wanted: Wanted) -> Steps:
        """Execute searched plans until all of `wanted` holds."""
        while True:
            try:
                plan = find_plan(self._belief, wanted)
            except PlanningFailedError:
                if not self._belief.state.held or "surface" in self._belief.things:
                    raise
                yield from self._need("surface", self._locator.surfaces())
                continue
            if not plan:
                return
            try:
                for call in plan:
                    yield from self._do(self._as_known_now(call))
            except _Replan:
                for name, mention in list(self._attempt.mentions.items()):
                    yield from self._need(name, mention)

    def _as_known_now(self, call: SkillCall) -> SkillCall:
        """Name things by what the steps before have told of them: the robot's own ids."""
        things = [self._belief.named(argument) for argument in call.arguments]
        names = [thing.call_name if thing else argument for thing, argument in zip(things, call.arguments)]
        return SkillCall(call.skill, tuple(names))

    def _do(self, call: SkillCall) -> Steps:
        """Execute one call and take over what it changed.

        Raises:
            _Replan: it failed in a way that another plan may get round.
            Setback: it failed for good.
        """
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise Setback(f"not achieved within {_MAX_STEPS} steps")
        result = yield PlannedStep(call)
        subject = self._belief.named(call.arguments[0])
        for change in result.changes:
            self._belief.observe(change)
        if result.success:
            self._outcomes.succeeded(call, result, subject)
            return
        self._failures += 1
        if result.reason is FailureReason.CANCELED or self._failures > self._max_failures:
            raise Setback(f"{call} failed: {result.reason} {result.message}".rstrip())
        self._outcomes.failed(call, result)
        raise _Replan

    def _reference(self, name: str) -> str:
        return self._belief.things[name].call_name

    def _holds_knife(self) -> bool:
        thing = self._attempt.held
        return thing is not None and thing.object_class in KNIFE_CLASSES
