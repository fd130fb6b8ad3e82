"""Carries out goals one by one: locates what a goal needs, searches skills, executes, and recovers from failures."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from memory_node.domain.answer import ObjectAnswer
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import KNIFE_CLASSES, SKILLS, ObjectReference, Predicate
from memory_node.domain.states import ObjectState
from memory_node.planner.belief import Belief, Thing
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.lookup import MemoryLookup
from memory_node.planner.object_kinds import ObjectKinds
from memory_node.planner.planner import PlannedStep, PlanningFailedError, Situation
from memory_node.planner.search import Wanted, apply_effects, find_plan

_MAX_STEPS = 60
Steps = Generator[PlannedStep, SkillResult, None]
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
# Where something that is in the way may be put down, the handiest first.
_SURFACES: tuple[str, ...] = ("CounterTop", "DiningTable", "SideTable", "Desk", "CoffeeTable", "Dresser", "TVStand")
_SURFACES += ("Shelf", "Sofa", "Bed", "ArmChair", "Ottoman", "Cart", "Toilet")
# What hides things while it is closed, the likeliest first.
_CONTAINERS = ("Fridge", "Microwave", "Cabinet", "Drawer", "Safe", "Dresser", "SideTable", "Desk")
_FOOD = frozenset({"Apple", "Bread", "Egg", "Lettuce", "Potato", "Tomato", "WineBottle"})
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


class Setback(Exception):  # noqa: N818 - a goal that fails is an outcome, not an error of the program
    """A goal cannot be achieved; never leaves the planner."""


class _Replan(Exception):  # noqa: N818
    """The plan no longer fits what is known."""


class GoalRun:
    """The goals of one instruction, in one robot's hands."""

    def __init__(self, kinds: ObjectKinds, lookup: MemoryLookup, situation: Situation, max_failures: int) -> None:
        self._kinds = kinds
        self._lookup = lookup
        self._max_failures = max_failures
        self._held = (situation.held_class, situation.held_id)
        self._first_places: dict[str, Thing] = {}
        self._mentions: dict[str, Mention] = {}
        self._excluded: set[str] = set()
        self._taken: set[str] = set()
        self._failures = self._steps = 0
        self._belief = Belief(kinds)

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
                    self._taken |= self._belief.things["target"].identities
                    self._belief.forget("target")
                yield from self._stages(goal)
        finally:
            self._note_held()

    def _begin(self) -> None:
        """Start from what is known for certain: what the hand holds. All else is asked of memory anew."""
        self._belief = Belief(self._kinds)
        self._mentions, self._excluded, self._taken = {}, set(), set()
        self._failures = self._steps = 0
        held_class, held_id = self._held
        if held_class:
            self._belief.add(Thing("held", held_class, held_id or held_class, held_id))
            self._belief.state = replace(self._belief.state, held="held")

    def _note_held(self) -> None:
        thing = self._belief.things.get(self._belief.state.held)
        self._held = (thing.object_class, thing.object_id or thing.reference) if thing else ("", "")

    # --- what each kind of goal needs, in order

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
        held = self._belief.things.get(self._belief.state.held)
        in_hand = held is not None and held.object_class == pieces
        if goal.sliced and (in_hand or self._remembered(pieces, goal.target, "target")):
            return
        yield from self._need("target", goal.target)
        if not self._holds_knife():
            yield from self._need("knife", Mention("knife", ("Knife", "ButterKnife")))
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
            place = self._first_places.get(self._belief.things["target"].object_class)
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

    # --- locating

    def _need(self, name: str, mention: Mention, sliced: bool = False) -> Steps:
        """Have a thing located under a name: in the hand, remembered, or found by exploring."""
        if sliced:
            mention = replace(mention, candidates=tuple(self._kinds.sliced(one) for one in mention.candidates))
        self._mentions[name] = mention
        if name in self._belief.things:
            return
        held = self._belief.things.get(self._belief.state.held)
        wanted = held is not None and held.object_class in mention.candidates and not mention.another
        if held is not None and wanted and not held.identities & self._taken:
            self._belief.rename(held.name, name)
            return
        for object_class in mention.candidates:
            if self._remembered(object_class, mention, name):
                return
        yield from self._explore(name, mention)

    def _remembered(self, object_class: str, mention: Mention, name: str) -> bool:
        excluded = frozenset(self._excluded | self._taken | self._in_another_part(name))
        # The second of two must not be the one that has just been put there.
        placed = (
            self._belief.things["destination"].identities
            if self._taken and "destination" in self._belief.things
            else ()
        )
        answer = self._lookup.locate(object_class, mention.text, mention.states, excluded, frozenset(placed))
        if answer is None:
            return False
        self._believe(name, answer)
        return True

    def _in_another_part(self, name: str) -> set[str]:
        """Return the identities of movable things that the goal needs under other names: nothing is put into itself."""
        others = [thing for role, thing in self._belief.things.items() if role in self._mentions and role != name]
        movable = [thing for thing in others if self._kinds[thing.object_class].movable]
        return {identity for thing in movable for identity in thing.identities}

    def _believe(self, name: str, answer: ObjectAnswer) -> None:
        """Take over an answer, with what the object is in or on."""
        reference = str(ObjectReference.at(answer.object_class, answer.position))
        already = self._belief.named(answer.object_id)
        if already is not None:  # what something stands on may be what is wanted next
            self._mentions.pop(already.name, None)
            self._belief.rename(already.name, name)
        own_id = already.object_id if already is not None else ""
        self._belief.add(Thing(name, answer.object_class, reference, own_id, answer.object_id))
        self._mentions.setdefault(name, Mention(answer.object_class, (answer.object_class,)))
        for belief in answer.states:
            if belief.probability >= 0.5 and belief.state in (_S.OPENED, _S.CLOSED, _S.ON, _S.OFF):
                self._belief.state = self._belief.state.with_state(name, belief.state)
        itself = self._lookup.scene_object(answer.object_id)
        support = self._lookup.support_of(answer)
        if support is None or not self._kinds[answer.object_class].movable:
            return
        if self._kinds[support.class_name].lidded and itself is not None and not itself.inside:
            return  # what lies on top of a fridge is not in the fridge
        known = self._belief.named(support.id)
        reference = _reference_to(support)
        place = known or Thing(f"{name} support", support.class_name, reference, memory_id=support.id, is_setting=True)
        if known is None:
            self._belief.add(place)
            for state in support.states:
                if state.probability >= 0.5 and state.state in (_S.OPENED, _S.CLOSED):
                    self._belief.state = self._belief.state.with_state(place.name, state.state)
        self._belief.state = self._belief.state.put(name, place.name)
        self._first_places.setdefault(answer.object_class, place)

    def _explore(self, name: str, mention: Mention) -> Steps:
        """Look for any of the classes meant: at the ranked places, then inside what is closed."""
        if not mention.candidates:
            raise Setback(f"{mention.text!r} fits nothing that is known")
        for object_class in mention.candidates:
            found = yield from self._search(name, object_class, self._lookup.search_stops(object_class))
            if found:
                return
        for object_class in mention.candidates:
            if self._kinds[object_class].movable:
                found = yield from self._look_inside(name, object_class)
                if found:
                    return
        whole = self._kinds.whole(mention.object_class)
        if whole == mention.object_class:
            raise Setback(f"no {mention} found")
        # The slices that memory knew of are gone: another whole one is cut.
        yield from self._need(name, Mention(whole, (whole,)))
        yield from self._need("knife", Mention("knife", ("Knife", "ButterKnife")))
        yield from self._make(Wanted(_P.STATE, (name,), _S.SLICED))
        self._mentions[name] = mention

    def _look_inside(self, name: str, object_class: str) -> Generator[PlannedStep, SkillResult, bool]:
        """Go to furniture that may hold or hide the thing: what memory knows of, or else the first ones in view."""
        order = _CONTAINERS if object_class in _FOOD else (*_CONTAINERS[2:], *_CONTAINERS[:2])
        known = [_reference_to(found) for found in self._lookup.of_classes((*order, *_SURFACES))]
        if not known:
            for container in order[:4]:
                places = self._lookup.search_stops(container)
                seen = yield PlannedStep(SkillCall("Explore", (container, *places)))
                known += [seen.object_id] if seen.success else []
        found = bool(known) and (yield from self._search(name, object_class, known))
        return found

    def _search(self, name: str, object_class: str, stops: Sequence[str]) -> Generator[PlannedStep, SkillResult, bool]:
        """Look for a thing of a class at some places. A search ends at the first in view: where that is one that does
        not count, the places are gone through one by one."""
        one_by_one = [(stop,) for stop in stops] if len(stops) > 1 else []
        for number, places in enumerate([tuple(stops), *one_by_one]):
            result = yield PlannedStep(SkillCall("Explore", (object_class, *places)))
            self._belief.state = replace(self._belief.state, at="")
            counts = result.object_id not in self._excluded | self._taken
            if result.success and counts:
                self._belief.add(Thing(name, object_class, result.object_id, result.object_id))
                return True
            if number == 0 and not result.success:
                return False
        return False

    def _support_of(self, name: str) -> Thing:
        outer = self._belief.state.container_of(name)
        if not outer:
            raise Setback(f"what {self._belief.things[name].object_class} stands on is not known")
        return self._belief.things[outer]

    # --- acting

    def _make(self, *wanted: Wanted) -> Steps:
        """Execute searched plans until all of `wanted` holds."""
        while True:
            try:
                plan = find_plan(self._belief, wanted)
            except PlanningFailedError:
                if not self._belief.state.held or "surface" in self._belief.things:
                    raise
                yield from self._need("surface", self._surfaces())
                continue
            if not plan:
                return
            try:
                for call in plan:
                    yield from self._do(self._as_known_now(call))
            except _Replan:
                for name, mention in list(self._mentions.items()):
                    yield from self._need(name, mention)

    def _as_known_now(self, call: SkillCall) -> SkillCall:
        """Name things by what the steps before have told of them: the robot's own ids."""
        things = [self._belief.named(argument) for argument in call.arguments]
        names = [thing.call_name if thing else argument for thing, argument in zip(things, call.arguments)]
        return SkillCall(call.skill, tuple(names))

    def _surfaces(self) -> Mention:
        known = [found.class_name for found in self._lookup.of_classes(_SURFACES)]
        return Mention("somewhere to put it", tuple(dict.fromkeys(known)) or _SURFACES[:4])

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
            self._succeeded(call, result, subject)
            return
        self._failures += 1
        if result.reason is FailureReason.CANCELED or self._failures > self._max_failures:
            raise Setback(f"{call} failed: {result.reason} {result.message}".rstrip())
        self._learn_from(call, result)
        raise _Replan

    def _succeeded(self, call: SkillCall, result: SkillResult, subject: Thing | None) -> None:
        """Apply the declared effects, which hold whether or not the robot reports changes."""
        if subject is None:
            return
        skill = SKILLS[call.skill]
        things = [self._belief.named(argument) for argument in call.arguments]
        binding = {argument.name: thing.name for argument, thing in zip(skill.arguments, things) if thing is not None}
        if call.skill == "SliceObject":
            self._cut(subject, result.object_id)
            return
        self._belief.state = apply_effects(skill, binding, self._belief.state)
        if call.skill in ("PickupObject", "GoToObject"):
            self._belief.identify(subject.name, result.object_id)

    def _cut(self, whole: Thing, first_piece: str) -> None:
        """Replace a whole by its pieces, which lie where it was."""
        container = self._belief.state.container_of(whole.name)
        piece = Thing(whole.name, self._kinds.sliced(whole.object_class), first_piece or whole.reference, first_piece)
        at = self._belief.state.at
        self._belief.forget(whole.name)
        self._belief.add(piece, container)
        self._belief.state = replace(self._belief.state.with_state(whole.name, _S.SLICED), at=container or piece.name)
        if at and at != whole.name:
            self._belief.state = replace(self._belief.state, at=at)

    def _learn_from(self, call: SkillCall, result: SkillResult) -> None:
        """Correct the belief that made a call fail."""
        reason, belief = result.reason, self._belief
        things = [belief.named(argument) for argument in call.arguments]
        subject, last = things[0], things[-1]
        if reason is FailureReason.TOO_FAR:
            belief.state = replace(belief.state, at="")
            belief.apart |= {thing.name for thing in (subject, last) if thing is not None}
        elif reason is FailureReason.CLOSED:
            self._closed(call, result, last if call.skill == "PutObject" else subject)
        elif reason in (FailureReason.ALREADY_OPEN, FailureReason.ALREADY_CLOSED) and subject is not None:
            state = _S.OPENED if reason is FailureReason.ALREADY_OPEN else _S.CLOSED
            belief.state = belief.state.with_state(subject.name, state)
        elif reason in (FailureReason.HAND_EMPTY, FailureReason.NOT_HOLDING):
            belief.state = replace(belief.state, held="")
        elif reason is FailureReason.HAND_FULL:
            self._discovered_in_hand(result.object_id)
        elif reason is FailureReason.PRECONDITION and call.skill in ("SwitchOn", "ToggleOn", "SwitchOff", "ToggleOff"):
            if subject is not None:  # it is in that state already
                state = _S.ON if call.skill.endswith("On") else _S.OFF
                belief.state = belief.state.with_state(subject.name, state)
        elif reason in _ELSEWHERE and last is not None and last.name in self._mentions:
            self._exclude(last)
        belief.state = replace(belief.state, at="" if call.skill == "GoToObject" else belief.state.at)

    def _closed(self, call: SkillCall, result: SkillResult, subject: Thing | None) -> None:
        """Note that something is closed: the thing itself, or what it turned out to lie in."""
        if subject is None:
            return
        container = self._belief.named(result.object_id)
        if container is None and result.object_id and self._kinds[subject.object_class].movable:
            cover = f"{subject.name} cover"
            container = Thing(cover, "Cabinet", result.object_id, result.object_id, is_setting=True)
            self._belief.add(container)
        if container is None:
            container = subject
        if container.name != subject.name:
            self._belief.state = self._belief.state.put(subject.name, container.name)
        self._belief.state = self._belief.state.with_state(container.name, _S.CLOSED)

    def _discovered_in_hand(self, object_id: str) -> None:
        known = self._belief.named(object_id)
        if known is None:
            known = Thing("held", "", object_id, object_id)
            self._belief.add(known)
        self._belief.state = replace(self._belief.state, held=known.name)

    def _exclude(self, thing: Thing) -> None:
        """Give up on one instance; the next search takes another."""
        self._excluded |= thing.identities
        self._belief.forget(thing.name)

    def _reference(self, name: str) -> str:
        return self._belief.things[name].call_name

    def _holds_knife(self) -> bool:
        thing = self._belief.things.get(self._belief.state.held)
        return thing is not None and thing.object_class in KNIFE_CLASSES


def _reference_to(found: SceneObject) -> str:
    return str(ObjectReference.at(found.class_name, found.box.center))
