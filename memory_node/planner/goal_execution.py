"""Carries out goals one by one: for each kind of goal its stages in order. Things are washed, heated, cooled, cut,
filled and emptied with what the catalogue says that it takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property, Treatment
from memory_node.domain.clock import local_day
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_declaration import Fact, Predicate
from memory_node.domain.skill_library import GOALS, SKILLS, GoalKind
from memory_node.domain.states import ObjectState, adjective_of, believed
from memory_node.planner.goal import Goal, GoalCheck, Mention
from memory_node.planner.locating import Locator
from memory_node.planner.memory_lookup import MemoryLookup
from memory_node.planner.plan_execution import GoalAttempt, NothingFound, PlanExecution, Setback, Steps
from memory_node.planner.planner import PlanningContext
from memory_node.planner.search import brought_about
from memory_node.world.state import Thing, WorldState

_P, _S = Predicate, ObjectState


class TreatmentSteps:
    """Carries out what a goal's treatment takes; reports to the situation where it has to be done another way."""

    def __init__(self, acting: PlanExecution, situation: PlanningContext) -> None:
        self._acting = acting
        self._kinds = acting.kinds
        self._situation = situation

    def of(self, goal: Goal) -> Treatment:
        """Return how a goal's target is treated: as its words say, or as is usual.

        Raises:
            Setback: the label space has nothing that serves for such a goal.
        """
        found, usual = self._kinds.meant_treatment(goal.kind, goal.treatment), self._kinds.usual_treatment(goal.kind)
        if found is not None and usual is not None and not (found.at or found.tools):
            found = replace(found, at=usual.at, tools=usual.tools)  # what has lost its places is done as usual
        if found is None or not (found.at or found.tools):
            raise Setback(f"label space {self._kinds.name} has nothing to {goal.kind} things with")
        return found

    def slice(self, goal: Goal) -> Steps:
        """Have pieces of the target: those that memory knows of, else cut."""
        acting, pieces = self._acting, self._kinds[goal.target.object_class].slices
        held = acting.attempt.held
        if goal.sliced and pieces:
            in_hand = held is not None and held.object_class == pieces
            if in_hand or acting.locator.remembered(acting.attempt, pieces, goal.target, "target"):
                return
        yield from acting.need("target", goal.target)
        yield from acting.need_tool(self.of(goal).tools if goal.kind is GoalKind.SLICE else ())
        yield from acting.make(Fact(_P.STATE, ("target",), state=_S.SLICED))

    def at_appliance(self, goal: Goal) -> Steps:
        """Wash, heat or cool the target; where what its treatment takes is nowhere, in the usual way."""
        treatment = self.of(goal)
        try:
            yield from self._prepare(treatment)
        except NothingFound as error:
            usual = self._kinds.usual_treatment(goal.kind)
            if usual is None or usual.name == treatment.name:
                raise
            text = f"{error}: to {usual.name} {goal.target} instead of to {treatment.name} it"
            self._situation.note(text)
            self._give_up_places()
            treatment = usual
            yield from self._prepare(treatment)
        if treatment.vessels:
            yield from self._in_vessel(treatment)
            return
        acting, state = self._acting, treatment.states[0]
        acting.doubt("target", state)
        part = acting.attempt.part
        if acting.expected is not None and acting.expected.is_done_by_hand(
            treatment.skill, part("target"), part("fixture")
        ):
            yield from self._by_hand(treatment)
            return
        yield from acting.make(Fact(_P.HOLDING, ("target",)))
        done = Fact(_P.STATE, ("target",), state=state), Fact(_P.HOLDING, ("target",))
        yield from acting.make(*done, fixture="fixture")

    def with_liquid(self, goal: Goal) -> Steps:
        """Fill or empty the target where that is done."""
        acting, treatment = self._acting, self.of(goal)
        thing = self._kinds[acting.attempt.part("target").object_class]
        if not thing.pickupable:
            raise Setback(f"I can {goal.kind} only what I can carry, and I cannot carry the {thing.best_name}")
        yield from acting.make(Fact(_P.HOLDING, ("target",)))
        acting.doubt("target", treatment.states[0])
        place = "place" if treatment.at else ""
        if place:
            yield from acting.need(place, Mention(f"where to {treatment.name}", treatment.at))
        yield from acting.make(Fact(_P.STATE, ("target",), state=treatment.states[0]), fixture=place, near=bool(place))

    def _prepare(self, treatment: Treatment) -> Steps:
        """Locate the vessel and the appliance; the vessel may stand at one already."""
        acting = self._acting
        if treatment.vessels:
            yield from acting.need("vessel", Mention("a vessel", treatment.vessels))
            outer = acting.state.things.get(acting.attempt.part("vessel").container)
            if outer is not None and self._kinds[outer.object_class].name in treatment.at:
                acting.attempt.parts["fixture"] = outer
        yield from acting.need("fixture", Mention(f"where to {treatment.name}", treatment.at))

    def _give_up_places(self) -> None:
        for name in ("vessel", "fixture"):
            self._acting.attempt.mentions.pop(name, None)
            self._acting.attempt.parts.pop(name, None)

    def _by_hand(self, treatment: Treatment) -> Steps:
        """Do the declared steps of a composite one by one."""
        acting, fixture = self._acting, self._acting.attempt.part("fixture")
        appliance = self._kinds.appliance(fixture.object_class, "fixture")
        if appliance.switch not in ("", "fixture"):
            near = acting.state.nearest(fixture, acting.state.of_class(appliance.switch))
            meant = near.memory_id if near is not None else ""
            yield from acting.need("switch", Mention(appliance.switch, (appliance.switch,), thing_id=meant))
            appliance = replace(appliance, switch="switch")
        yield from acting.make(Fact(_P.HOLDING, ("target",)))
        for step in SKILLS[treatment.skill].steps_at("target", appliance):
            yield from acting.make(*brought_about(step))
        acting.attempt.world.suppose(acting.attempt.part("target").id, treatment.states[0], True)

    def _in_vessel(self, treatment: Treatment) -> Steps:
        """Put the target into the vessel and that onto the appliance, which runs for a while; there it is left."""
        acting = self._acting
        yield from acting.make(Fact(_P.CONTAINED, ("target", "vessel")))
        yield from acting.make(Fact(_P.CONTAINED, ("vessel", "fixture")))
        for switched in (_S.ON, _S.OFF):
            yield from acting.make(Fact(_P.STATE, ("fixture",), state=switched))
        acting.attempt.world.suppose(acting.attempt.part("target").id, treatment.states[0], True)


_CUT_FROM = "created_from"
_AGAIN = re.compile(r"\b(?:again|once more|look|search)\b", re.I)  # what was sought in vain today is to be sought again
_AT_APPLIANCE = (GoalKind.CLEAN, GoalKind.HEAT, GoalKind.COOL)


class GoalRun:
    """The goals of one instruction, in one robot's hands."""

    def __init__(
        self, kinds: ObjectCatalogue, lookup: MemoryLookup, situation: PlanningContext, max_failures: int
    ) -> None:
        self._kinds = kinds
        self._situation = situation
        known, self._conversation = situation.known, situation.conversation
        today = local_day(known.clock(), known.recalled.zone) if known is not None else None
        self._sought_in_vain = self._conversation.sought_in_vain_on(today)
        self._locator = Locator(kinds, lookup, self._sought_in_vain)
        self._max_failures = max_failures
        self._lookup = lookup
        self._expected = situation.expected_failures(kinds)
        self._begun: set[str] = set()  # classes that goals of this instruction were about
        self._opened: set[str] = set()
        self._in_slices: set[str] = set()  # classes of which a slice was treated, which "it" means from then on
        self._world = situation.world(kinds)
        self._begin()

    def achieve(self, goal: Goal, closed: frozenset[str] = frozenset(), later: Sequence[Goal] = ()) -> Steps:
        """Yield the steps of one goal. closed: ids of the things that must not be used for it. later: the goals behind
        it; what they use stays open until then.

        Raises:
            Setback: it cannot be achieved.
            PlanningFailedError: no skills lead to it.
        """
        self._begin(closed)
        if goal.kind is GoalKind.FIND or _AGAIN.search(goal.text):
            self._sought_in_vain.difference_update(goal.target.candidates)
        if not GOALS[goal.kind].in_place:
            goal = self._of_slices(goal)
        used = [one.destination for one in (goal, *later)[not (goal.every or goal.count > 1) :]]
        used += [one.target for one in later if one.kind is GoalKind.OPEN]
        names = {name for one in used if one is not None for name in one.candidates}
        if goal.every:
            supports = (self._lookup.scene_object(one.support_id) for one in self._lookup.of_classes(self._names(goal)))
            names |= {one.class_name for one in supports if one is not None}
        self._acting.attempt.kept_open = frozenset(names)
        if goal.every and goal.target.states:
            self._exclude_others(goal)
        if self._expected is not None:
            self._acting.attempt.avoided |= self._expected.avoided(goal)
        able = self._situation.skills
        if GOALS[goal.kind].skills and able.isdisjoint(GOALS[goal.kind].skills):
            # Nothing is looked for that nothing can be done with.
            raise Setback(f"it needs {GOALS[goal.kind].skills[0]}, which this robot does not do")
        self._acting.attempt.goes_to = self._locator.place_of_only(goal.destination)
        if goal.target.another:
            self._acting.attempt.taken |= self._conversation.handled.get(goal.target.object_class, set())
        repeats = goal.count if goal.kind not in (GoalKind.STACK, GoalKind.EXAMINE) else 1
        for number in range(repeats):
            if number:
                self._next_one()
            yield from self._stages(goal)
            self._note_handled(goal)
        while goal.every and self._knows_another(goal):
            yield from self._stages(goal)
            self._note_handled(goal)

    def shut_doors(self) -> Steps:
        """Yield the steps that close what the robot has opened and nobody asked it to open."""
        self._begin()
        for key in list(self._world.state.things) if self._opened else ():
            yield from self._acting.shut(key)

    def _note_handled(self, goal: Goal) -> None:
        """Remember for later instructions which thing it was, and where it had been; what was to be opened stays so."""
        if "target" not in self._acting.attempt.parts:
            return
        if goal.kind is GoalKind.OPEN:
            self._opened -= self._acting.attempt.part("target").identities
        self._refresh()
        target = self._acting.attempt.part("target")
        name = self._kinds.whole(target.object_class)
        self._conversation.handled.setdefault(name, set()).update(target.identities)
        if name not in self._begun and target.object_class in self._locator.first_places:
            self._conversation.places[name] = self._locator.first_places[target.object_class]
        self._begun.add(name)

    def _refresh(self) -> WorldState:
        return self._world.refresh(self._lookup.scene_now(), self._lookup.held_object())

    def check(self) -> GoalCheck:
        """Return what is believed now, to check goals by."""
        return GoalCheck(self._refresh())

    def _place_before(self, object_class: str) -> Thing | None:
        """Return where a thing was before this instruction moved it, or else before the last one did."""
        name = self._kinds.whole(object_class)
        if name not in self._begun and name in self._conversation.places:
            return self._conversation.places[name]
        return self._locator.first_places.get(object_class)

    def _next_one(self) -> None:
        """Finish with one instance; the next stages take another."""
        attempt = self._acting.attempt
        attempt.taken |= attempt.part("target").identities
        del attempt.parts["target"]

    def _knows_another(self, goal: Goal) -> bool:
        """Return whether memory knows another of the meant things that is not at its destination yet."""
        attempt = self._acting.attempt
        done, last = attempt.find("destination"), self._lookup.scene_object(attempt.part("target").memory_id)
        self._next_one()
        alike: Sequence[SceneObject] = self._lookup.of_classes(goal.target.candidates)
        if goal.sliced:  # of the same whole
            pieces = self._lookup.of_classes(self._names(goal))
            whole = last.attributes.get(_CUT_FROM) if last is not None else None
            alike = [one for one in pieces if one.attributes.get(_CUT_FROM) == whole]
            attempt.excluded |= {one.id for one in pieces if one not in alike}
        ruled_out = attempt.ruled_out | self._lookup.not_where_told(goal.target)
        known = [one for one in alike if one.id not in ruled_out]
        return any(done is None or one.support_id not in done.identities for one in known)

    def _exclude_others(self, goal: Goal) -> None:
        """Leave alone what is not known to be as "the empty bottles" tells; whoever washes the dirty plates may wash a
        clean one.

        Raises:
            Setback: none is known to be so.
        """
        wanted = set(goal.target.states)
        things = self._lookup.of_classes(self._names(goal))
        so = [one for one in things if not wanted.isdisjoint(believed(one.states)) or self._is_empty(one, wanted)]
        if not so and things and goal.kind is not GoalKind.CLEAN:
            raise Setback(f"I do not know which {self._name(goal)} is {adjective_of(goal.target.states[0])}")
        self._acting.attempt.excluded |= {one.id for one in things if one not in so} if so else set()

    def _is_empty(self, thing: SceneObject, wanted: set[ObjectState]) -> bool:
        """Return whether furniture is wanted empty, and stands open with nothing known in it."""
        holds_inside = self._kinds[thing.class_name].lidded and _S.USED_UP in wanted
        return holds_inside and _S.OPENED in believed(thing.states) and not self._lookup.supported_by(thing.id)

    def _name(self, goal: Goal) -> str:
        return self._kinds[goal.target.object_class].best_name

    def _names(self, goal: Goal) -> Sequence[str]:
        """Return the classes of a goal's things, or of what was cut off them."""
        return [self._kinds[one].slices if goal.sliced else one for one in goal.target.candidates]

    def _begin(self, closed: frozenset[str] = frozenset()) -> None:
        """Start from what memory knows now."""
        self._refresh()
        situation = self._situation
        attempt = GoalAttempt(self._world, situation.skills, excluded=set(closed), memory_ids=situation.memory_ids)
        attempt.opened = self._opened
        self._acting = PlanExecution(self._kinds, self._locator, attempt, self._max_failures, self._expected)
        self._treating = TreatmentSteps(self._acting, situation)

    def _stages(self, goal: Goal) -> Steps:
        if goal.kind is GoalKind.GO:
            yield from self._go(goal)
        elif goal.kind is GoalKind.DROP:
            yield from self._drop()
        elif goal.kind is GoalKind.FIND:
            yield from self._reach(goal.target, "target", Fact(_P.NEAR, ("target",)))
            if goal.asked and self._kinds[self._acting.attempt.part("target").object_class].lidded:
                yield from self._acting.make(Fact(_P.STATE, ("target",), state=_S.OPENED))
        elif GOALS[goal.kind].in_place:
            yield from self._change_in_place(goal)
        else:
            if goal.sliced or goal.kind is GoalKind.SLICE:
                yield from self._treating.slice(goal)
            if goal.kind is not GoalKind.SLICE:
                yield from self._handle(goal)

    def _change_in_place(self, goal: Goal) -> Steps:
        """Give a thing its state where it stands."""
        acting = self._acting
        self._prefer_in_state(goal)
        yield from acting.need("target", goal.target)
        if any(SKILLS[skill].tool_ability for skill in GOALS[goal.kind].skills):
            yield from acting.need_tool(self._treating.of(goal).tools)
        (state,) = GOALS[goal.kind].wants
        yield from self._take_out()
        acting.doubt("target", state)
        yield from acting.make(Fact(_P.STATE, ("target",), state=state))
        if self._expected is not None:
            self._expected.has_prepared = True

    def _take_out(self) -> Steps:
        """Put what lies shut in, such as a candle in a drawer, where it can be used."""
        acting, thing = self._acting, self._acting.attempt.part("target")
        outer = acting.state.things.get(thing.container)
        if not thing.inside or outer is None or outer.has(_S.OPENED) or not self._kinds[outer.object_class].lidded:
            return
        if self._kinds[thing.object_class].pickupable:
            yield from acting.need("surface", self._locator.surfaces())
            yield from acting.make(Fact(_P.CONTAINED, ("target", "surface")))

    def _handle(self, goal: Goal) -> Steps:
        """Fetch a thing, treat it, and bring it where it belongs."""
        acting = self._acting
        yield from acting.need("target", goal.target, sliced=goal.sliced)
        if goal.kind in _AT_APPLIANCE:
            yield from self._treating.at_appliance(goal)
        if goal.container is not None:
            yield from acting.need("container", goal.container)
            yield from acting.make(Fact(_P.CONTAINED, ("target", "container")))
        if goal.destination is not None:
            yield from self._deliver(goal)
        elif goal.kind is GoalKind.EXAMINE:
            yield from self._examine(goal)
        elif goal.kind in (GoalKind.FILL, GoalKind.EMPTY):
            yield from self._treating.with_liquid(goal)
        elif goal.kind is GoalKind.THROW:
            yield from acting.make(Fact(_P.HOLDING, ("target",)))
            yield from acting.do(SkillCall("ThrowObject", (acting.reference("target"),)))
        elif goal.kind not in _AT_APPLIANCE:
            yield from acting.make(Fact(_P.HOLDING, ("target",)))

    def _of_slices(self, goal: Goal) -> Goal:
        """Return the goal for a slice of its target where its treatment, or that of a goal before, asks for one; where
        what is left of it are slices, for all of them: "slice the apple and put it on the plate"."""
        name = goal.target.object_class
        if goal.kind in _AT_APPLIANCE and self._kinds[name].slices and self._treating.of(goal).pieces:
            self._in_slices.add(name)
        whole = goal.kind is GoalKind.SLICE or goal.target.another
        in_slices = name in self._in_slices or self._is_cut(name)
        if whole or goal.sliced or not in_slices:
            return goal
        every = goal.every or (name not in self._in_slices and goal.destination is not None and goal.count == 1)
        return goal.changed(sliced=True, every=every)

    def _is_cut(self, name: str) -> bool:
        """Return whether memory knows pieces of a kind of thing, and no whole one."""
        pieces = self._kinds[name].slices if name else ""
        known = {one.class_name for one in self._lookup.of_classes((name, pieces))} if pieces else set()
        return bool(known) and folded(name) not in map(folded, known)

    def _prefer_in_state(self, goal: Goal) -> None:
        """Of several, switch off the one that memory knows to be on, and close the one that is open."""
        ended = GOALS[goal.kind].ends
        if ended is None:
            return
        states = (*goal.target.states, ended)
        for name in goal.target.candidates:
            if self._locator.remembered(self._acting.attempt, name, replace(goal.target, states=states), "target"):
                return

    def _reach(self, mention: Mention, name: str, wanted: Fact) -> Steps:
        yield from self._acting.need(name, mention)
        yield from self._acting.make(wanted)

    def _go(self, goal: Goal) -> Steps:
        """Drive to the person, or into a room that memory knows."""
        if goal.target.candidates:
            yield from self._reach(goal.target, "target", Fact(_P.NEAR, ("target",)))
            return
        place = self._lookup.place_of_room(goal.target.text)
        if place is None:
            raise Setback(f"no room called {goal.target.text!r} is known")
        yield from self._acting.do(SkillCall("GoToObject", (f"{place[0]:.2f},{place[1]:.2f}",)))

    def _drop(self) -> Steps:
        """Put down what the hand holds on what is near."""
        held = self._acting.attempt.held
        if held is None:
            raise Setback("the hand is empty")
        self._acting.attempt.parts["held"] = held
        yield from self._acting.need("surface", self._locator.surfaces())
        yield from self._acting.make(Fact(_P.CONTAINED, ("held", "surface")))

    def _deliver(self, goal: Goal) -> Steps:
        assert goal.destination is not None
        acting = self._acting
        carried = "container" if goal.container is not None else "target"
        if goal.destination.original_place:
            place = self._place_before(acting.attempt.part("target").object_class)
            if place is None:
                raise Setback(f"I do not know where the {self._name(goal)} was at first")
            if place.id == acting.attempt.part("target").container and not self._begun:
                raise Setback(f"I do not know where the {self._name(goal)} belongs")
            acting.attempt.parts["destination"] = self._world.keep(replace(place, states=frozenset()))
        elif goal.destination.beside:
            yield from acting.need("beside", goal.destination)
            acting.attempt.parts["destination"] = self._world.keep(self._surface_beside("beside"))
        elif goal.destination.room and not goal.destination.candidates:
            within = self._locator.somewhere_in(goal.destination.room, acting.attempt.part(carried).object_class)
            yield from acting.need("destination", within)
        else:
            if goal.destination.another:  # not where it is now: "to another shelf"
                outer = self._world.state.container_of(acting.attempt.part(carried).id)
                acting.attempt.excluded |= self._world.state.things[outer].identities if outer else set()
            yield from acting.need("destination", goal.destination)
        yield from acting.make(Fact(_P.CONTAINED, (carried, "destination")))
        yield from self._close_behind("destination")

    def _close_behind(self, name: str) -> Steps:
        """Shut what keeps cold, heats or guards its contents."""
        thing = self._acting.attempt.part(name)
        if self._kinds[thing.object_class].can(Property.KEPT_SHUT):
            self._opened |= thing.identities
            yield from self._acting.shut(thing.id)

    def _examine(self, goal: Goal) -> Steps:
        assert goal.light is not None
        acting = self._acting
        yield from acting.make(Fact(_P.HOLDING, ("target",)))
        yield from acting.need("light", goal.light)
        yield from acting.make(Fact(_P.STATE, ("light",), state=_S.ON), Fact(_P.NEAR, ("light",)))

    def _surface_beside(self, name: str) -> Thing:
        """Return what a thing stands on, or, beside a sink or what stands on the floor, the surface next to it."""
        thing = self._acting.attempt.part(name)
        outer = self._acting.attempt.known().container_of(thing.id)
        found = self._acting.attempt.find(outer) if outer else self._locator.surface_beside(thing)
        if found is None:
            name = self._kinds[thing.object_class].best_name
            raise Setback(f"I know of nothing beside the {name} to put a thing on")
        return found
