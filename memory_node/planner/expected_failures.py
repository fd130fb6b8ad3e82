"""Uses lessons in a plan: places where a call is expected to fail come last, and what made a call work comes first."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import Clock
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import GOALS, SKILLS, GoalKind
from memory_node.domain.states import ObjectState
from memory_node.lessons.expectations import ENABLING, TAKEN_FROM, Expectations, Named, is_done_anywhere
from memory_node.lessons.lesson import Lesson
from memory_node.planner.goal import Goal
from memory_node.world.episode import EpisodeWorld
from memory_node.world.state import Thing

_PLACED = frozenset({GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK})
_TAKING = [("PickupObject", "")]  # of the thing's own class
_LIGHTING = [(skill, "") for skill in GOALS[GoalKind.SWITCH_ON].skills]


@dataclass
class ExpectedFailures:
    """expectations: what was learnt; world: what is believed now; told: gets each lesson that was used, in words.
    has_prepared: something was switched, opened or closed in this instruction because it asks for that. failed: the
    skills that failed in it.
    """

    expectations: Expectations
    kinds: ObjectCatalogue
    world: EpisodeWorld
    clock: Clock
    told: Callable[[str], None]
    has_prepared: bool = False
    failed: set[str] = field(default_factory=set)
    _used: set[str] = field(default_factory=set)
    _prepared: set[tuple[str, str]] = field(default_factory=set)  # lessons that were followed, and for which thing

    def avoided(self, goal: Goal) -> frozenset[str]:
        """Return the ids of things and places with which a goal is expected to fail: they are tried last."""
        declared, where = GOALS[goal.kind], goal.destination
        treatment = self.kinds.meant_treatment(goal.kind, goal.treatment) if declared.treats else None
        avoided: frozenset[str] = frozenset()
        if treatment is not None and not self.has_prepared:  # what was done since may have mended it
            skill, object_class = declared.skills[0], goal.target.object_class
            appliances = self._of(treatment.at)
            avoided |= self._failing(appliances, [(skill, object_class)])
            avoided |= self._doubtful(skill, appliances, object_class, avoided)
        if treatment is not None:
            avoided |= self._failing(self._of((*treatment.tools, *treatment.vessels)), _TAKING)
        in_place = [(skill, "") for skill in declared.skills] if declared.in_place else _TAKING
        for mention, ways in ((goal.target, in_place), (goal.container, _TAKING), (goal.light, _LIGHTING)):
            if mention is not None and not mention.thing_id and (ways is _TAKING or not self.has_prepared):
                avoided |= self._failing(self._of(mention.candidates), ways)
        if where is not None and goal.kind in _PLACED and not where.thing_id:
            places = self._of(where.candidates)
            avoided |= self._failing(places, [("PutObject", goal.target.object_class), ("OpenObject", "")])
            avoided |= self._doubtful("PutObject", places, goal.target.object_class, avoided)
            failed_with, object_class = self.expectations.has_failed_with, goal.target.object_class
            ids = [one.memory_id for one in places]
            if all(one in avoided for one in ids):  # where only other things failed is better
                avoided -= {one for one in ids if not failed_with("PutObject", one, object_class)}
        return avoided

    def refuses(self, thing: Thing, place: Thing) -> bool:
        """Return whether a thing is expected not to stay where it is put."""
        object_class = self.kinds[thing.object_class].name
        return bool(place.memory_id) and self._failure("PutObject", object_class, place) is not None

    def refusing(self, thing: Thing, classes: tuple[str, ...]) -> frozenset[str]:
        """Return the ids of things of some classes at which a thing is expected not to stay."""
        return frozenset(one.memory_id for one in self._of(classes) if self.refuses(thing, one))

    def way(self, call: SkillCall, subject: Thing | None, place: Thing | None) -> Lesson | None:
        """Return what to do before a call, None where nothing is known to be needed; each once.

        subject, place: the first and the last thing that the call names: what is treated, and what it is done at.
        """
        lesson, about = self._unused_way(call, subject, place) or (None, "")
        if lesson is not None:
            self._prepared.add((lesson.text, about))
            self._tell(lesson)
        return lesson

    def has_way(self, call: SkillCall, subject: Thing | None, place: Thing | None) -> bool:
        """Return whether `way` tells what to do before a call, which was not done yet."""
        return self._unused_way(call, subject, place) is not None

    def _unused_way(self, call: SkillCall, subject: Thing | None, place: Thing | None) -> tuple[Lesson, str] | None:
        """Return what to do before a call, and memory's id of the thing that it is done with, "" for any."""
        is_placed = not is_done_anywhere(call.skill, len(call.arguments))
        if is_placed and (place is None or not place.memory_id):
            return None
        things = [self._named(one) for one in (subject, place)[: len(call.arguments)]]
        supports, has_failed = [self._named(one) for one in self._supports_of(place)], call.skill in self.failed
        lesson = self.expectations.needed(call.skill, things, supports, self.clock(), has_failed)
        if lesson is None:
            return None
        about = subject.memory_id if subject is not None and any(not one.thing_id for one in lesson.before) else ""
        return None if (lesson.text, about) in self._prepared else (lesson, about)

    def is_done_by_hand(self, skill: str, subject: Thing, place: Thing) -> bool:
        """Return whether a composite is expected to fail at a place, so that its steps are done one by one; while what
        was done since may have mended it, it is tried again."""
        place_class, of_class = self.kinds[place.object_class].name, self.kinds[subject.object_class].name
        lesson = self.expectations.failing(skill, of_class, place.memory_id, self.clock())
        if lesson is None or self.has_prepared or self.expectations.may_be_mended(skill, place_class, self.clock()):
            return False
        if self._way(skill, of_class, place.memory_id, place_class) is not None:
            return False
        self._tell(lesson)
        return True

    def is_hopeless(self, call: SkillCall, subject: Thing | None, place: Thing | None) -> bool:
        """Return whether a call never worked with the last thing that it names, nor anything that needs the call there,
        or is expected to fail with it now whatever is done before.

        subject, place: the first and the last thing that the call names.
        """
        if subject is None or place is None or not place.memory_id or is_done_anywhere(call.skill, len(call.arguments)):
            return False
        of_class, at = self.kinds[subject.object_class].name, place.memory_id
        if self.expectations.never_worked(call.skill, at) or self._never_ran(call.skill, at):
            return True
        fails = self.expectations.failing(call.skill, of_class, at, self.clock()) is not None
        return fails and self._way(call.skill, of_class, at, place.object_class) is None

    def _never_ran(self, skill: str, at: str) -> bool:
        """Return whether a call starts an appliance that it never started, and at which what needs it to run was tried
        and never worked."""
        starts = ENABLING.get(skill) is ObjectState.ON and not self.expectations.was_tried(skill, at)
        return starts and any(one.composite and self.expectations.never_worked(one.name, at) for one in SKILLS.values())

    def _failing(self, places: list[Thing], ways: list[tuple[str, str]]) -> frozenset[str]:
        failing: dict[str, Lesson] = {}
        for place in places:
            for skill, object_class in ways:
                if skill == "OpenObject" and place.door is ObjectState.OPENED:
                    continue
                of_class = object_class or place.object_class
                lesson = self._failure(skill, of_class, place)
                supports = self._supports_of(place) if skill == "PickupObject" else []
                for inner, support in itertools.pairwise([place, *supports]):
                    lesson = lesson or self._failure(TAKEN_FROM, of_class, support)
                    if inner.inside and support.door is not ObjectState.OPENED:
                        lesson = lesson or self._failure("OpenObject", support.object_class, support)
                lesson = lesson or self._failing_step(skill, of_class, place)
                if lesson is not None:
                    failing[place.memory_id] = lesson
        for lesson in failing.values():
            self._tell(lesson)
        return frozenset(failing)

    def _doubtful(self, skill: str, places: list[Thing], object_class: str, failing: frozenset[str]) -> set[str]:
        """Return where something was put, or treated, in vain last, if that worked last at another place that is known:
        either the place or the kind of thing may be the cause."""
        left, last, now_ns = {one.memory_id for one in places} - failing, self.expectations.failed_last, self.clock()
        failed = {one: last(skill, one, object_class, now_ns) for one in left}
        return {one for one, has_failed in failed.items() if has_failed} if False in failed.values() else set()

    def _failing_step(self, skill: str, of_class: str, place: Thing) -> Lesson | None:
        """Return the lesson that a step of a composite fails, where the composite has not worked at the place since."""
        if not SKILLS[skill].composite:
            return None
        for step in SKILLS[skill].steps_at(of_class, self.kinds.appliance(place.object_class, place.id)):
            is_open = step.skill == "OpenObject" and place.door is ObjectState.OPENED
            name, state = step.arguments[-1], self.world.state
            at = place if name == place.id else state.nearest(place, state.of_class(name))
            if step.skill == "PickupObject" or is_open or at is None:
                continue
            lesson = self._failure(step.skill, of_class if len(step.arguments) > 1 else at.object_class, at)
            worked = self.expectations.worked_after(skill, place.memory_id, step.skill, at.memory_id)
            if lesson is not None and not worked:
                return lesson
        return None

    def _failure(self, skill: str, of_class: str, place: Thing) -> Lesson | None:
        """Return the lesson that a call fails at a place, may fail or works only at last; None where there is a way."""
        place_id, place_class, now_ns = place.memory_id, place.object_class, self.clock()
        lesson = self.expectations.failing(skill, of_class, place_id, now_ns)
        lesson = lesson or self.expectations.stubborn(skill, of_class, place_id)
        lesson = lesson or self.expectations.suspected(skill, of_class, place_id, place_class, now_ns)
        has_way = lesson and self._way(skill, of_class, place_id, place_class) is not None
        return None if has_way else lesson

    def _way(self, skill: str, of_class: str, place_id: str, place_class: str) -> Lesson | None:
        """Return what to do now before a call that fails without it."""
        return self.expectations.way(skill, of_class, place_id, place_class, self.clock())

    def _named(self, thing: Thing | None) -> Named:
        return (thing.memory_id, self.kinds[thing.object_class].name) if thing is not None else ("", "")

    def _supports_of(self, thing: Thing | None) -> list[Thing]:
        """Return what a thing lies on or in, and what that lies on in turn: a box, and the shelf on which it is."""
        found: list[Thing] = []
        while thing is not None and (thing := self.world.state.things.get(thing.container)) and thing not in found:
            found += [thing] if thing.memory_id else []
        return found

    def _tell(self, lesson: Lesson) -> None:
        if lesson.text not in self._used:
            self._used.add(lesson.text)
            self.told(lesson.note)

    def _of(self, classes: tuple[str, ...]) -> list[Thing]:
        return [one for one in self.world.state.of_class(*classes) if one.memory_id]
