"""A home in a few lines, its robot and its memory, for tests that need no simulator."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import AnswerStatus, FindQuery, Location, RankedArea, Recollection
from memory_node.domain.context import ALL_SOURCES, Context
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import Area, HeldObject, SceneObject, SceneSnapshot
from memory_node.domain.skill import Exploration, FailureReason, SkillCall, SkillResult, StateChange
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.planner.planner import PlannedStep


@dataclass
class TinyThing:
    """A thing of a TinyHome; seen: whether memory knows of it; hidden: only a search that stops at what it is in finds
    it. name: of a person."""

    id: str
    object_class: str
    support_id: str = ""
    states: set[ObjectState] = field(default_factory=set)
    seen: bool = True
    hidden: bool = False
    name: str = ""


class TinyHome:
    """A home, its robot and a perfect memory of what was seen, by the skills' declared effects.

    A thing's x is its number. failing: skill -> the reason why it fails once.
    """

    def __init__(self, *things: TinyThing, failing: Mapping[str, FailureReason] | None = None) -> None:
        self.things = {thing.id: thing for thing in things}
        self.failing = dict(failing or {})
        self.held = ""
        self.near = ""
        self.calls: list[str] = []
        self.kinds = load_catalogue()

    # --- memory

    def scene(self) -> SceneSnapshot:
        objects = tuple(self._scene_object(thing) for thing in self.things.values() if thing.seen)
        return SceneSnapshot(0, areas=(Area("a1", "kitchen", (0.0, 0.0)),), objects=objects)

    def _scene_object(self, thing: TinyThing) -> SceneObject:
        x = float(list(self.things).index(thing.id))
        box = OrientedBox(np.array([x, 0.0, 0.9]), np.full(3, 0.1))
        states = tuple(StateBelief(state, 0.9, 0) for state in thing.states)
        inside = bool(thing.support_id) and self.kinds[self.things[thing.support_id].object_class].holds_inside
        return SceneObject(
            thing.id,
            {thing.object_class: 1.0},
            box,
            np.eye(3) * 1e-4,
            0.9,
            0,
            0,
            support_id=thing.support_id,
            inside=inside,
            states=states,
            attributes={"name": thing.name} if thing.name else {},
        )

    def held_object(self) -> HeldObject | None:
        return HeldObject(self.held, self.things[self.held].object_class) if self.held else None

    def context(self, instruction: str, token_budget: int = 2000, episode_id: str = "", sources=ALL_SOURCES) -> Context:
        return Context(f"context of {instruction}", f"MEMORY OF {instruction}")

    def recall(self, query: FindQuery) -> Recollection:
        return Recollection((), AnswerStatus.UNKNOWN)

    def locate(self, query: FindQuery, max_areas: int = 0) -> Location:
        return Location((), AnswerStatus.UNKNOWN, areas=self.rank_search_areas(query.object_class))

    def rank_search_areas(self, object_class: str, k: int = 0) -> tuple[RankedArea, ...]:
        return ()

    def remember(self, changes) -> tuple[str, ...]:
        return tuple(change.object_id for change in changes)

    # --- robot

    def execute(self, call: SkillCall) -> SkillResult:
        self.calls.append(str(call))
        reason = self.failing.pop(call.skill, None)
        if reason is not None:
            return SkillResult(call, False, reason)
        if call.skill == "Explore":
            asked = Exploration.of(call)
            shown = (one for one in self.things.values() if not one.hidden or one.support_id in asked.stops)
            counting = (one for one in shown if one.id not in {*asked.passed_over, self.held})
            found = next((one for one in counting if one.object_class == asked.target_class), None)
            if found is None:
                return SkillResult(call, False, FailureReason.NOT_FOUND)
            found.seen, self.near = True, found.id
            return SkillResult(call, True, object_id=found.id)
        subject, *others = (self._named(argument) for argument in call.arguments)
        if subject is None or None in others:
            return SkillResult(call, False, FailureReason.NOT_FOUND)
        changes = self._apply(call, subject, *others)
        return SkillResult(call, True, object_id=subject.id, changes=changes)

    def _apply(self, call: SkillCall, subject: TinyThing, place: TinyThing | None = None) -> tuple[StateChange, ...]:
        if call.skill == "GoToObject":
            self.near = subject.id
            return ()
        if call.skill == "PickupObject":
            subject.support_id, self.held = "", subject.id
            return (StateChange(subject.id, subject.object_class, 0, held=True),)
        if call.skill == "PutObject" and place is not None:
            subject.support_id, self.held = place.id, ""
            return (StateChange(subject.id, subject.object_class, 0, held=False, support_id=place.id),)
        added = tuple(fact.state for fact in SKILLS[call.skill].effects if fact.state is not None and fact.value)
        lost = tuple(fact.state for fact in SKILLS[call.skill].effects if fact.state is not None and not fact.value)
        subject.states |= set(added)
        subject.states -= set(lost)
        return (StateChange(subject.id, subject.object_class, 0, added=added, removed=lost),)

    def _named(self, reference: str) -> TinyThing | None:
        if reference in self.things:
            return self.things[reference]
        object_class, _, position = reference.partition("@")
        if position:
            return list(self.things.values())[int(float(position.split(",")[0]))]
        return next((one for one in self.things.values() if one.object_class == object_class), None)


def kitchen_home() -> TinyHome:
    """An apple and a mug on the counter, another mug in the closed fridge, and a sink."""
    return TinyHome(
        TinyThing("m-table", "CounterTop"),
        TinyThing("m-fridge", "Fridge"),
        TinyThing("m-apple", "Apple", "m-table"),
        TinyThing("m-mug1", "Mug", "m-table"),
        TinyThing("m-mug2", "Mug", "m-fridge"),
        TinyThing("m-sink", "SinkBasin"),
    )


def played(run: Generator[PlannedStep, SkillResult, Any], execute: Callable[[SkillCall], SkillResult]) -> Any:
    """Carry out each step of a planner's run; return its outcome."""
    try:
        step = next(run)
        while True:
            step = run.send(execute(step.call))
    except StopIteration as stop:
        return stop.value
