"""Writes the context of one instruction from all memories; where the robot is and what it holds."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.recalled import ids_in
from memory_node.context.sections import LESSONS, MemoryExcerpt, assemble
from memory_node.context.task_memory import Entry, Needed, preparing
from memory_node.context.told_contexts import ToldContexts
from memory_node.domain.answer import FindQuery, Recollection
from memory_node.domain.clock import Clock
from memory_node.domain.context import ALL_SOURCES, Context, ContextSource
from memory_node.domain.ids import IdSource, new_id
from memory_node.domain.scene import HeldObject, RelationKind, SceneObject
from memory_node.domain.skill_library import GOALS, GoalKind
from memory_node.domain.step import Deed, FirstScene
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.text import sentences
from memory_node.knowledge.told.binding import VERBS, BindingFacts
from memory_node.lessons.expectations import Expectations, Named
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import Lesson, LessonKind
from memory_node.lessons.long_term import ExperienceAnswer, ExperienceQuery
from memory_node.lessons.plugmem import in_words
from memory_node.lessons.whereabouts import in_plain_words
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.graph_readings import object_relations
from memory_node.scene_graph.state import ROBOT_ID

_SAID = {RelationKind.ON: "on", RelationKind.IN: "in", RelationKind.NEAR: "near"}
# More than this of one room is no guidance.
_MOST = 40


def held_object(scene: SceneGraph) -> HeldObject | None:
    """Return what the robot holds, None when nothing."""
    held = min(scene.state.contents.get(ROBOT_ID, ()), default="")
    return HeldObject(held, scene.class_of(held)) if held else None


def robot_room(scene: SceneGraph) -> str:
    """Return the name of the room that the camera was in last, "" when nobody knows."""
    return scene.room_name(_robot_area(scene))


def _robot_area(scene: SceneGraph) -> str:
    return scene.places.area_at(*scene.camera_at.tolist()) if scene.camera_at is not None else ""


def first_scene(scene: SceneGraph) -> FirstScene:
    """Return what an attempt that begins now begins with; in view is what lies open in the area of the camera."""
    area, held, table = _robot_area(scene), held_object(scene), scene.state.table
    here = (table.record(row) for row in scene.state.active_rows().tolist() if area and not table.sheltered[row])
    seen = {one.best_class for one in here if one.area_id == area and one.movable}
    return FirstScene(robot_room(scene), tuple(sorted(seen)), held.object_class if held is not None else "")


def room_relations(scene: SceneGraph, room: str, about: Collection[str] = ()) -> tuple[str, ...]:
    """Return "Mug on DiningTable" for what is on, in and near what in a room; what is about these classes first."""
    areas = {
        area.id
        for area in scene.places.areas.values()
        if area.room_id in scene.places.rooms and scene.places.rooms[area.room_id].name == room
    }
    if not room or not areas:
        return ()
    state = scene.state
    rows = state.active_rows()
    inside = rows[[state.table.record(row).area_id in areas for row in rows.tolist()]]
    found: dict[str, tuple[bool, int]] = {}
    kinds = list(_SAID)
    for relation in object_relations(state, inside):
        if relation.kind not in _SAID or relation.target_id not in state.table.row_of:
            continue
        ends = [state.table.record(state.table.row(i)).best_class for i in (relation.source_id, relation.target_id)]
        beside = not any(end in about for end in ends)
        found[f"{ends[0]} {_SAID[relation.kind]} {ends[1]}"] = (beside, kinds.index(relation.kind))
    return tuple(sorted(found, key=lambda said: (*found[said], said))[:_MOST])


# Lines of what was told that a context holds at most, and sentences of an instruction that are looked up apart.
_TOLD_LINES, _MOST_PARTS = 8, 4
_TREATING = (GoalKind.CLEAN, GoalKind.HEAT, GoalKind.COOL, GoalKind.SLICE, GoalKind.FILL)
# Things of a class that is needed, not named; of one that is named, where there are more, the ranking chooses.
_MOST_NEEDED = 4


def _kinds_asked(instruction: str) -> frozenset[str]:
    """Return the kinds of goals that the verbs of an instruction may ask for; kinds without skills of their own need no
    verb."""
    words = set(re.findall(r"[a-z]+", instruction.lower()))
    verbs = {kind: [VERBS.get(skill, frozenset()) for skill in GOALS[kind].skills] for kind in GoalKind}
    return frozenset(str(kind) for kind, each in verbs.items() if not each or any(words & one for one in each))


@dataclass(eq=False)
class ContextWriter:
    """Reads all memories and changes none of them; thread-safe.

    lock: guards the scene graph. recall: ranks the short-term memory without counting a lookup. told: remembers what
    each context said, for when a planner says that it acted on it. expected: what tries teach. deeds: all of them.
    named: the classes that a text names. kinds: the label space.
    """

    scene: SceneGraph
    lock: threading.RLock
    recall: Callable[[FindQuery, int], Recollection]
    experience: Experience
    knowledge: KnowledgeGraph
    told: ToldContexts
    clock: Clock
    kinds: ObjectCatalogue
    make_id: IdSource = new_id
    expected: Callable[[], Expectations] = lambda: Expectations(())
    deeds: Callable[[], Sequence[Deed]] = tuple
    named: Callable[[str], Collection[str]] = lambda _text: ()

    def _told_about(self, instruction: str) -> list[Proposition]:
        """Return what people told and documents say that bears on an instruction, for each of its sentences by itself:
        one that asks for two things needs what was told of both.
        """
        parts = sentences(instruction)[:_MOST_PARTS] or [instruction]
        found = [self.knowledge.told_about(part, k=max(_TOLD_LINES // len(parts), 1)) for part in parts]
        return list({one.text: one for told in found for one in told}.values())[:_TOLD_LINES]

    def _bound(self, instruction: str, now_ns: int) -> list[Proposition]:
        """Return all statements with facts about the things and persons of an instruction, and about who is there: they
        bind, so that no ranking decides about them."""
        stated = [(one, one.facts) for one in self.knowledge.structured()]
        if not stated:
            return []
        with self.lock:
            scene = self.scene.snapshot()
        every = [fact for _, facts in stated for fact in facts]
        index = BindingFacts(every, self.kinds, scene, now_ns, self.knowledge.zone)
        binding = {id(fact) for fact in index.bearing_on(instruction)}
        return [one for one, facts in stated if any(id(fact) in binding for fact in facts)]

    def tries(self) -> tuple[Lesson, ...]:
        """Return what tries teach now, in the names of this home. Of a place that memory does not know any more nobody
        could tell which it is."""
        tried = self.expected().lessons(self.clock())
        with self.lock:
            known = [one for one in tried if not one.place_id or self._name_of(one.place_id)]
            return tuple(map(self._in_place, known))

    def needed(self) -> Needed:
        """Return what tells what the tries until now teach to do before a call."""
        expected = self.expected()

        def of_call(skill: str, things: Sequence[Named], supports: Sequence[Named], has_failed: bool) -> Entry | None:
            lesson = expected.needed(skill, things, supports, self.clock(), has_failed)
            if lesson is None:
                return None
            with self.lock:
                return preparing(self._in_place(lesson), self._reference_of)

        return of_call

    def _in_place(self, lesson: Lesson) -> Lesson:
        """Return a lesson of tries with memory's names of its place and of what has to be done first."""
        name = self._name_of(lesson.place_id)
        text = lesson.text.replace(f"this {lesson.place_class}", name) if name else lesson.text
        for one in lesson.before:
            thing = self._name_of(one.thing_id) or one.thing_class
            place = self._name_of(one.place_id) or one.place_class
            named = " ".join(filter(None, (one.skill, thing, place)))
            for joint in ("after", " and"):
                text = text.replace(f"{joint} {one.text}", f"{joint} {named}")
        return replace(lesson, wordings=(replace(lesson.wordings[-1], text=text),))

    def _called(self, object_class: str, at: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return the name of the only thing of a class, where there are several the one of `at`, by class, else the
        class, "" where there is none."""
        there = self.scene.objects_of_class(object_class)
        if len(there) > 1 and object_class in at:
            return at[object_class]
        return there[0].name if len(there) == 1 and there[0].name else object_class if there else ""

    def _name_of(self, object_id: str) -> str:
        found = self.scene.find(object_id) if object_id else None
        return found.name if found is not None else ""

    def _reference_of(self, object_id: str) -> str:
        """Return how a call names a thing that is remembered, "" where it is not."""
        found = self.scene.find(object_id) if object_id else None
        return found.reference if found is not None and not found.removed else ""

    def _said_of(self, known: Proposition) -> str:
        """Return the things that a statement told by the place where they stood then, with where they are now, in
        words; "" for no such."""
        terms = [term for fact in known.facts for term in (fact.subject, fact.object) if term.place]
        told = []
        for one in dict.fromkeys(one for term in terms for one in term.object_ids):
            name = self._name_of(one)
            place = self._name_of(self.scene.object(one).support_id) if name else ""
            told += [f"{name}, now at {place}" if place else name] if name else []
        return f" That is {' and '.join(told)}." if told else ""

    def _shut_in(self, object_id: str) -> str:
        """Return what a thing lies inside, in words: it must be opened first. "" for what lies open."""
        found = self.scene.find(object_id)
        around = self.scene.find(found.support_id) if found is not None and found.inside else None
        return f", in {around.name} (id {around.id})" if around is not None else ""

    def _lessons(self, instruction: str, learnt: ExperienceAnswer) -> list[tuple[Lesson, str]]:
        """Return what was learnt, each in words: what tries teach now, ways of like instructions, the rest."""
        tries, deeds = self.tries(), {one.source: one for one in self.deeds()}
        repairs = [one for one in tries if one.kind is LessonKind.REPAIR]
        ways, named = self.experience.ways_to(instruction), self.named(instruction)
        with self.lock:
            of_ways = []
            for way in ways:
                by = (deeds[one] for one in way.evidence_for if one in deeds)
                there = (one for one in by if one.object_class in named and self.scene.is_present(one.to_id))
                at = {one.to_class: name for one in there if (name := self._name_of(one.to_id))}
                called = partial(self._called, at=at)
                of_ways.append((way, in_words(way, instruction, self.kinds, called, repairs)))
            # Where a thing was found says nothing where memory has it, nor the order of skills beside whole ways or in
            # tasks of another kind.
            asked = _kinds_asked(instruction)
            others = [
                one
                for one in learnt.lessons
                if (one.kind is not LessonKind.WHERE or not self._has(one))
                and (one.kind is not LessonKind.WAY or (not ways and one.is_for_one_of(asked)))
            ]
        return [*((one, one.text) for one in tries), *of_ways, *((one, in_plain_words(one)) for one in others)]

    def _has(self, lesson: Lesson) -> bool:
        return bool(lesson.object_classes) and all(map(self._called, lesson.object_classes))

    def _needed(self, instruction: str, named: Collection[str]) -> list[SceneObject]:
        """Return who is there, the usual places and tools of the treatments that an instruction's verbs ask for, and
        what it names of classes (`named`) with few things: many of another kind must not crowd them out."""
        asked = _kinds_asked(instruction)
        classes = [self.kinds.recipient] if self.kinds.recipient else []
        for kind in _TREATING:
            treatment = self.kinds.usual_treatment(kind)
            if treatment is not None and str(kind) in asked:
                classes += [*treatment.at[:1], *treatment.tools[:1]]
        needed = [one for name in classes for one in self.scene.objects_of_class(name)[:_MOST_NEEDED]]
        by_class = [self.scene.objects_of_class(name) for name in named if name not in classes]
        return needed + [one for found in by_class if len(found) <= _MOST_NEEDED for one in found]

    def write(
        self,
        instruction: str,
        token_budget: int = 2000,
        episode_id: str = "",
        sources: Collection[ContextSource] = ALL_SOURCES,
    ) -> Context:
        """Return the sections of some sources under one budget; see MemoryPort.context."""
        now_ns = self.clock()
        recalled = self.recall(FindQuery(text=instruction, k=8), now_ns)
        # What the instruction names counts, seen or not; without names, what was recalled for it.
        seen = dict.fromkeys(answer.object_class for answer in recalled.answers)
        named = tuple(sorted(self.named(instruction)))
        classes = named or tuple(seen)
        with self.lock:
            here, held = robot_room(self.scene), held_object(self.scene)
            in_hand = (self._name_of(held.object_id) or held.object_class) if held is not None else "nothing"
        query = ExperienceQuery(room=here, objects=classes, episode_id=episode_id, instruction=instruction)
        learnt = self.experience.ask(query)
        told = dict.fromkeys([*self._bound(instruction, now_ns), *self._told_about(instruction)])
        known = [one for one in told if not one.is_over(now_ns)]
        deeds, similar = self.deeds(), {one.episode_id for one in learnt.experiences}
        told_of = [one for one in deeds if one.episode_id in similar]
        with self.lock:
            relations = room_relations(self.scene, learnt.room, classes)
            # The graph's text ranks its own areas; it gets the part of the budget that no other section has a share in.
            home = self.scene.in_words(token_budget // 2, topic=instruction)
            needed = self._needed(instruction, named)
            there = [*(answer.object_id for answer in recalled.answers), *(one.id for one in needed)]
            shut_in = {one: self._shut_in(one) for one in there}
            names = {one: name for one in ids_in(told_of) if (name := self._name_of(one))}
            said_of = {one.text: self._said_of(one) for one in known}
        excerpt = MemoryExcerpt(
            learnt,
            lessons=self._lessons(instruction, learnt),
            known=known,
            said_of=said_of,
            room_relations=relations,
            recollection=recalled,
            needed=needed,
            shut_in=shut_in,
            home=home.lines,
            areas_left_out=home.left_out,
            robot=f"Robot: in {learnt.room or 'an unknown room'}, holding {in_hand}.",
            deeds=deeds,
            names=names,
            now_ns=now_ns,
            zone=self.knowledge.zone,
        )
        context = assemble(excerpt.sections(sources), token_budget, self.make_id())
        # Lessons that the budget cut off do not count as given.
        shown = excerpt.lessons[: context.section_lines.get(LESSONS, 0)]
        self.told.note(context, instruction, token_budget, (lesson.id for lesson, _ in shown))
        return context
