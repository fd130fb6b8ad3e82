"""Treats things: washes, heats, cools, cuts, fills and empties them, with what the catalogue says that it takes."""

from __future__ import annotations

from dataclasses import replace

from memory_node.catalogue.object_kind import Treatment
from memory_node.domain.skill_library import SKILLS, GoalKind, Predicate
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.goal_attempt import NothingFound, Setback, Steps
from memory_node.planner.plan_execution import PlanExecution
from memory_node.planner.planner import PlanningContext
from memory_node.planner.search import Wanted, brought_about

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
        yield from acting.make(Wanted(_P.STATE, ("target",), _S.SLICED))

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
        yield from acting.make(Wanted(_P.HOLDING, ("target",)))
        done = Wanted(_P.STATE, ("target",), state), Wanted(_P.HOLDING, ("target",))
        yield from acting.make(*done, fixture="fixture")

    def with_liquid(self, goal: Goal) -> Steps:
        """Fill or empty the target where that is done."""
        acting, treatment = self._acting, self.of(goal)
        yield from acting.make(Wanted(_P.HOLDING, ("target",)))
        acting.doubt("target", treatment.states[0])
        place = "place" if treatment.at else ""
        if place:
            yield from acting.need(place, Mention(f"where to {treatment.name}", treatment.at))
        yield from acting.make(Wanted(_P.STATE, ("target",), treatment.states[0]), fixture=place, near=bool(place))

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
        yield from acting.make(Wanted(_P.HOLDING, ("target",)))
        for step in SKILLS[treatment.skill].steps_at("target", appliance):
            yield from acting.make(*brought_about(step))
        acting.attempt.world.suppose(acting.attempt.part("target").id, treatment.states[0], True)

    def _in_vessel(self, treatment: Treatment) -> Steps:
        """Put the target into the vessel and that onto the appliance, which runs for a while; there it is left."""
        acting = self._acting
        yield from acting.make(Wanted(_P.CONTAINED, ("target", "vessel")))
        yield from acting.make(Wanted(_P.CONTAINED, ("vessel", "fixture")))
        for switched in (_S.ON, _S.OFF):
            yield from acting.make(Wanted(_P.STATE, ("fixture",), switched))
        acting.attempt.world.suppose(acting.attempt.part("target").id, treatment.states[0], True)
