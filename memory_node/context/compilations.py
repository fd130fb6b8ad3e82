"""Retrieves M once when an episode begins, and compiles at its steps; planners call it in one process or over ROS."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.brief_state import BriefState
from memory_node.context.config import COMPILERS, CompilerConfig
from memory_node.context.episode_guidance import EpisodeGuidance
from memory_node.context.guidance import Compiled, CompiledStep, Compiler, LookUp, StepObservation
from memory_node.context.prompt_compiler import PromptCompiler
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.context.soft_memory import SoftMemoryWeights
from memory_node.context.task_memory import Entry, Needed, Subgoal, TaskMemory, of_lesson, of_places, reminders
from memory_node.domain.answer import RankedArea
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.scene import HeldObject
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.long_term import ExperienceQuery
from memory_node.llm.open_model import ModelShelf

# Likely places that are retrieved for each thing of a task.
_MOST_PLACES = 3
# Returns the areas where a class is likely, best first, at most k.
RankAreas = Callable[[str, int], Sequence[RankedArea]]
# Returns M for an episode: its id, its instruction and its goals in words.
Retrieve = Callable[[str, str, Sequence[str]], TaskMemory]


@dataclass(eq=False)
class TaskRetrieval:
    """A `Retrieve` over all memories of one robot. of_tries: what tries teach now. needed: returns what tells what they
    teach of a call.
    """

    experience: Experience
    rank_areas: RankAreas
    of_tries: Callable[[], Sequence[Lesson]] = tuple
    needed: Callable[[], Needed] = lambda: TaskMemory().needed

    def __call__(self, episode_id: str, instruction: str, goals: Sequence[str]) -> TaskMemory:
        """Return what is known that may matter."""
        return replace(TaskMemory.of(self._entries(episode_id, instruction, goals)), needed=self.needed())

    def _entries(self, episode_id: str, instruction: str, goals: Sequence[str]) -> Iterator[Entry]:
        task_type = "+".join(goal.partition(" ")[0] for goal in goals)
        query = ExperienceQuery(task_type=task_type, episode_id=episode_id, instruction=instruction)
        learnt = self.experience.ask(query)
        yield from map(of_lesson, learnt.lessons)
        yield from reminders(learnt.failed_before)
        # What tries teach may be about a thing that no goal names: the tap, or the door of the microwave.
        yield from map(of_lesson, self.of_tries())
        yield from map(of_lesson, self.experience.ways_to(instruction))
        subgoals = [Subgoal.parse(goal) for goal in goals]
        for name in dict.fromkeys(name for subgoal in subgoals for name in (subgoal.target, subgoal.light)):
            if name:
                yield from of_places(name, self.rank_areas(name, _MOST_PLACES))


def open_compiler(name: str, config: CompilerConfig, models: ModelShelf, warns: bool = True) -> Compiler:
    """Return a compiler by name. A model that is missing gives way to the rules, and says why at each step.

    model: with the adapter and the soft memory that the configuration names, if any. warns: see RulesCompiler.

    Raises:
        InvalidValueError: there is none of this name, or it is "none".
        NotFoundError: there is no file of that soft memory.
    """
    if name not in COMPILERS:
        raise InvalidValueError(f"compiler: expected one of {', '.join(COMPILERS)}, got {name!r}")
    if name == "none":
        raise InvalidValueError("compiler: none compiles nothing; do not ask it")
    rules = RulesCompiler(warns=warns)
    if name == "rules":
        return rules
    soft = SoftMemoryWeights.read(Path(config.llm.soft_memory_path)) if config.llm.soft_memory_path else None
    asked = PromptCompiler(models.open_or_excuse(config.llm), config.llm, soft=soft)
    return WithRules(asked, rules)


class WithRules:
    """A compiler that gives way to the rules where it failed, was refused or came late. That it delivers nothing by its
    own choice stays so."""

    def __init__(self, asked: Compiler, rules: RulesCompiler) -> None:
        self._asked = asked
        self._rules = rules

    def compile(self, observation: StepObservation, state: BriefState, memory: TaskMemory) -> Compiled:
        """Return what the compiler delivers, else what the rules do, with the problem; see Compiler."""
        found = self._asked.compile(observation, state, memory)
        if not found.problem or found.guidance is not None:
            return found
        instead = self._rules.compile(observation, state, memory)
        return replace(found, guidance=instead.guidance, lessons=instead.lessons)


# Episode states that are kept: a planner that was killed leaves one behind.
_MOST = 32


@dataclass(eq=False)
class Compilations:
    """Thread-safe. retrieve: makes M. held: what the hand holds now. look_up, kinds: see EpisodeGuidance. compiler: is
    asked in place of those that are opened by name, for comparisons.
    """

    experience: Experience
    retrieve: Retrieve
    look_up: LookUp
    held: Callable[[], HeldObject | None]
    config: CompilerConfig
    kinds: ObjectCatalogue
    compiler: Compiler | None = None

    def __post_init__(self) -> None:
        self._models = ModelShelf()
        self._compilers: dict[str, Compiler] = {}
        self._episodes: OrderedDict[str, EpisodeGuidance] = OrderedDict()
        self._lock = threading.Lock()

    def compile(self, episode_id: str, observation: StepObservation, compiler: str = "rules") -> CompiledStep:
        """Return guidance and brief state for the next step of a running episode.

        Lessons that the guidance uses count as given. compiler: the one of the episode's first step stays.

        Raises:
            NotFoundError: the episode is not running.
            InvalidValueError: no such compiler.
            NotFoundError: what the compiler needs is not there.
        """
        with self._lock:
            step = self._episode(episode_id, observation, compiler).step(observation)
        guidance = step.guidance
        if guidance is not None and guidance.entries:
            self.experience.note_given(guidance.entries, episode_id, guidance.goal)
        return step

    def of(self, episode_id: str) -> EpisodeGuidance | None:
        """Return what is kept of an episode; None where nothing is, or not any more."""
        with self._lock:
            return self._episodes.get(episode_id)

    def _episode(self, episode_id: str, observation: StepObservation, compiler: str) -> EpisodeGuidance:
        known = self._episodes.get(episode_id)
        if known is not None:
            return known
        summary = next((one for one in self.experience.running if one.id == episode_id), None)
        if summary is None:
            raise NotFoundError(f"episode {episode_id!r} is not running")
        held = self.held()
        made = EpisodeGuidance(
            summary.instruction,
            held.object_class if held is not None else "",
            self.kinds,
            self.retrieve(episode_id, summary.instruction, observation.goals),
            self.compiler or self._opened(compiler),
            self.look_up,
        )
        self._episodes[episode_id] = made
        while len(self._episodes) > _MOST:
            self._episodes.popitem(last=False)
        return made

    def _opened(self, name: str) -> Compiler:
        if name not in self._compilers:
            self._compilers[name] = open_compiler(
                name, self.config, self._models, "working" in self.experience.config.parts
            )
        return self._compilers[name]
