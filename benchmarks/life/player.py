"""Carries out what is said to the robot, as the planner node does: guided planner, executor, conversation."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from benchmarks.ablated_memory import MemoryProxy
from benchmarks.life import switches
from benchmarks.life.day_form import GoalForm
from benchmarks.life.home import USER, USER_CLASS, pieces_of, room_called
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.sightings import remembered_as
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.compilations import Compilations
from memory_node.context.guidance import GuidancePort
from memory_node.domain.answer import FindQuery, Location, Recollection
from memory_node.domain.context import ALL_SOURCES, Context, ContextSource
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.skill import StateChange
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.step import Deed, EpisodeSummary
from memory_node.knowledge.answering import KnowledgeAnswer
from memory_node.lessons.expectations import expectations_of
from memory_node.lessons.lesson import Lesson
from memory_node.memory import RobotMemory
from memory_node.planner.executor import ExecutedStep, InstructionExecutor, InstructionResult
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.memory_mode import ground_of
from memory_node.planner.planner import Planner, PlanProgress
from memory_node.planner.reading.plain_reader import Known
from memory_node.planner.session import Session
from memory_node.planner.told_limits import ToldLimits
from memory_node.sim.world import World

LIST_TOKENS = 1500
_ID = re.compile(r"\(id (\S+)\)")
# As config/planner.yaml has it.
SESSION_S = 900.0
ATTEMPTS = 2
_LESSON_S = 60.0


def ids_in(text: str) -> frozenset[str]:
    """Return the ids that a context tells."""
    return frozenset(_ID.findall(text))


def told_in_words(text: str, scene: SceneSnapshot) -> frozenset[str]:
    """Return the ids of the things in the areas that a context describes, but of movable ones that it only counts:
    "pen on counter top (23)" tells of none of them which one it is."""
    areas = {str(json.loads(line).get("name")) for line in text.splitlines() if line.startswith("{")}
    told = {area.id for area in scene.areas if area.name in areas}
    here = [one for one in scene.objects if one.area_id in told and not one.removed]
    words = {one.id: _words_of(one, scene) for one in here}
    counts = Counter(words.values())
    return frozenset(one.id for one in here if not one.movable or counts[words[one.id]] == 1)


def _words_of(one: SceneObject, scene: SceneSnapshot) -> Hashable:
    """Return what the words of an area say of a thing."""
    support = scene.by_id.get(one.support_id)
    states = frozenset(belief.state for belief in one.states if belief.probability > 0.5)
    return one.area_id, one.class_name, support and support.class_name, one.inside, states


class ListedMemory(MemoryProxy):
    """A memory for one instruction: it knows what is on the list, and what was found and handled since.

    What the list tells by its id is the same thing as in the records of the past. What it has only words for is that
    where it still is where the robot left it.
    """

    def __init__(self, memory: RobotMemory, instruction: str) -> None:
        super().__init__(memory)
        self._memory: RobotMemory = memory
        text = memory.context(instruction, LIST_TOKENS, sources=(ContextSource.OBJECTS,)).text
        scene = memory.scene()
        self._by_id = ids_in(text)
        self._listed = set(self._by_id | told_in_words(text, scene))
        self._support_of = {one.id: one.support_id for one in scene.objects}

    def recognized(self, deeds: Iterable[Deed]) -> tuple[Deed, ...]:
        """Return deeds, without the id of each thing of which the list does not tell that it is the same."""
        deeds = tuple(deeds)
        left_at = {one.object_id: one.to_id for one in deeds if one.skill == "PutObject" and not one.reason}
        same = self._by_id | {one for one, place in left_at.items() if place and self._support_of.get(one) == place}
        return tuple(one if one.object_id in same else replace(one, object_id="") for one in deeds)

    def recall(self, query: FindQuery) -> Recollection:
        """Ask the short-term memory for what is on the list."""
        return self._memory.recall(self._narrowed(query))

    def find(self, query: FindQuery) -> Recollection:
        """Ask the scene graph for what is on the list."""
        return self._memory.find(self._narrowed(query))

    def locate(self, query: FindQuery, max_areas: int = 0) -> Location:
        """Ask memory for what is on the list, else where to look."""
        return self._memory.locate(self._narrowed(query), max_areas)

    def ask(self, question: str) -> KnowledgeAnswer:
        """Ask what was told and read: the scene graph would tell of things that are not on the list."""
        return self._memory.knowledge.ask(question)

    def remember(self, changes: Sequence[StateChange]) -> tuple[str, ...]:
        """Tell memory; what was handled is known from now on."""
        ids = self._memory.remember(changes)
        self._listed.update(filter(None, ids))
        return ids

    def find_by_search(self, ids: Iterable[str]) -> None:
        """Let the planner know what a search has ended at, and what lies in what was opened."""
        self._listed.update(filter(None, ids))

    def context(
        self,
        instruction: str,
        token_budget: int = 2000,
        episode_id: str = "",
        sources: Collection[ContextSource] = ALL_SOURCES,
    ) -> Context:
        """Return memory's context, no longer than the list may be."""
        return self._memory.context(instruction, min(token_budget, LIST_TOKENS), episode_id, sources)

    def scene(self) -> SceneSnapshot:
        """Return the scene graph with the things on the list."""
        scene = self._memory.scene()
        return ground_of(scene, [found for found in scene.objects if found.id in self._listed])

    def _narrowed(self, query: FindQuery) -> FindQuery:
        others = {found.id for found in self._memory.scene().objects} - self._listed
        return replace(query, exclude_ids=query.exclude_ids | others)


def typed_goals(
    forms: Sequence[GoalForm], world: World, memory: RobotMemory, kinds: ObjectCatalogue
) -> tuple[Goal, ...]:
    """Return a scenario's typed goals in the planner's terms."""

    def mention(name: str) -> Mention | None:
        if not name:
            return None
        room = room_called(world, name) if name not in world else None
        if room is not None:
            return Mention(room.name, (), room=room.name)
        things = pieces_of(world, USER if name == USER_CLASS else name)
        if not things:
            kind = kinds.find(name)
            return Mention(name, (kind.name if kind is not None else name,))
        thing_id = remembered_as(memory, things[0])
        return Mention(things[0].class_name, (things[0].class_name,), thing_id=thing_id)

    return tuple(_goal(form, mention(form.object), mention(form.place)) for form in forms)


def _goal(form: GoalForm, target: Mention | None, place: Mention | None) -> Goal:
    """Return one goal; a place is the lamp, the container or the destination, as its kind has it."""
    target = target or place or Mention("")
    if form.kind is GoalKind.EXAMINE:
        return Goal(form.kind, target, light=place, count=form.number)
    if form.kind is GoalKind.GO:
        return Goal(form.kind, target)
    return Goal(form.kind, target, place, count=form.number)


class Player(Protocol):
    """What acts for the robot."""

    def execute(
        self, words: str, goals: Sequence[GoalForm], note: Callable[[PlanProgress], None], limit: int | None
    ) -> InstructionResult:
        """Carry out an instruction; limit: so many calls before it is cancelled, None for no limit."""

    def restart(self) -> None:
        """Begin anew with the memory that was opened again."""


class RobotPlayer:
    """The shipped setting: the planner node's, over the same ports.

    by_list: the planner knows only the things on the list that memory writes for an instruction.

    Attributes:
        guidance: what compiles; None: the robot's own memory. guided: makes of it what is asked at each step.
        lessons: that the robot knows besides its own, also after a restart.
        tries: what lessons are drawn from; None: what the robot itself has tried.
        unfinished: the instructions that it left unfinished; None: those that it did leave.
    """

    def __init__(self, life: RobotLife, planner: Planner, by_list: bool = False) -> None:
        self._by_list = by_list
        self._life = life
        self._planner = planner
        self._kinds = load_catalogue()
        self._session_file = life.folder / "session.json"
        self._session = Session(self._session_file, SESSION_S)
        self.guidance: Compilations | None = None
        self.guided: Callable[[Compilations], GuidancePort] = lambda own: own
        self.lessons: Sequence[Lesson] = ()
        self._taught: RobotMemory | None = None
        self.tries: Sequence[Deed] | None = None
        self.unfinished: tuple[EpisodeSummary, ...] | None = None

    def restart(self) -> None:
        """Read the conversation from its file, as a planner node that starts again does."""
        self._session = Session(self._session_file, SESSION_S)

    def session_text(self) -> str:
        """Return the conversation as its file keeps it, "" for none."""
        return self._session_file.read_text() if self._session_file.is_file() else ""

    def set_session(self, text: str) -> None:
        """Go on with a conversation, "" for a new one."""
        self._session_file.unlink(missing_ok=True)
        if text:
            self._session_file.write_text(text)
        self.restart()

    def execute(
        self, words: str, goals: Sequence[GoalForm], note: Callable[[PlanProgress], None], limit: int | None
    ) -> InstructionResult:
        """Carry out an instruction; see Player."""
        life, memory = self._life, self._life.memory
        life.look()
        if life.without == switches.WORKING:
            self.set_session("")
        if memory is not self._taught:
            memory.experience.take_over((), [lesson.to_dict() for lesson in self.lessons], ())
            self._taught = memory
        guidance = self.guided(self.guidance or memory.guidance) if life.without != switches.COMPILER else None
        planner = GuidedPlanner(self._planner, memory.episodes, life.now_ns, ATTEMPTS, guidance=guidance)
        recalled = memory.recall_past()
        listed = ListedMemory(memory, words) if self._by_list else None
        if listed is not None:
            recalled = replace(recalled, tried=listed.recognized(recalled.tried))
        # Lessons stay where the records of the instructions that taught them are off.
        tries = memory.deeds.all() if self.tries is None else self.tries
        lessons = (
            expectations_of(tries, recalled.facts, self._kinds, memory.scene, life.now_ns(), recalled.zone)
            if life.without != switches.LESSONS
            else None
        )
        unfinished = () if life.without == switches.WORKING else self.unfinished
        if unfinished is not None:
            recalled = replace(recalled, unfinished=unfinished, waiting="")

        def note_found(step: ExecutedStep) -> None:
            found, skill = step.result.object_id, step.step.call.skill
            if listed is not None and found in life.world and skill in ("Explore", "OpenObject"):
                inside = [one for one in life.world.things if one.parent_id == found and skill == "OpenObject"]
                listed.find_by_search(remembered_as(memory, one) for one in (life.world[found], *inside))

        executor = InstructionExecutor(
            listed or memory,
            life,
            planner,
            on_step=note_found,
            conversation=self._session.conversation(life.now_ns(), memory.scene),
            told=memory.told_facts,
            limits=ToldLimits(recalled.facts, memory.scene, self._kinds, life.now_ns, recalled.zone),
            known=Known(recalled, life.now_ns, memory.tell_in_words, lessons, (listed or memory).ask),
        )
        typed = typed_goals(goals, life.world, memory, self._kinds)

        def is_cancelled() -> bool:
            return limit is not None and len(life.trace.results) >= limit

        result = executor.execute(words, note, is_cancelled, typed)
        self._session.note(life.now_ns(), memory.scene)
        memory.experience.wait_settled(_LESSON_S)
        return result
