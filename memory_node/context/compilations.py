"""Compiles for all running episodes; planners call it in one process or over ROS."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.brief_state import BriefState
from memory_node.context.config import COMPILERS, CompilerConfig
from memory_node.context.episode_guidance import EpisodeGuidance
from memory_node.context.guidance import Compiled, CompiledStep, Compiler, GuidancePort, LookUp, StepObservation
from memory_node.context.prompt_compiler import PromptCompiler
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.context.soft_memory import SoftMemoryWeights
from memory_node.context.task_memory import TaskMemory
from memory_node.context.task_retrieval import Retrieve
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.scene import HeldObject
from memory_node.lessons.experience import Experience
from memory_node.llm.open_model import ModelShelf


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
    rules = RulesCompiler(config.detects_loops, warns)
    if name == "rules":
        return rules
    soft = SoftMemoryWeights.read(Path(config.llm.soft_memory_path)) if config.llm.soft_memory_path else None
    asked = PromptCompiler(models.open_or_excuse(config.llm), config.llm, config.detects_loops, soft)
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
    """Thread-safe. retrieve: makes M. held: what the hand holds now. look_up, kinds: see EpisodeGuidance."""

    experience: Experience
    retrieve: Retrieve
    look_up: LookUp
    held: Callable[[], HeldObject | None]
    config: CompilerConfig
    kinds: ObjectCatalogue

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

    def changed(
        self,
        retrieve: Callable[[Retrieve], Retrieve] = lambda own: own,
        compilers: Mapping[str, Compiler] = MappingProxyType({}),
    ) -> Compilations:
        """Return a variant with another source of M or other compilers, for comparisons.

        retrieve: makes a Retrieve of this one's own. compilers: by name, beside those that there are.
        """
        retrieved = retrieve(self.retrieve)
        other = Compilations(self.experience, retrieved, self.look_up, self.held, self.config, self.kinds)
        other._compilers.update(self._compilers | dict(compilers))
        return other

    def port(self, compiler: str) -> GuidancePort:
        """Return the port to one compiler."""
        return _Port(self, compiler)

    def of(self, episode_id: str) -> EpisodeGuidance | None:
        """Return what is kept of an episode; None where nothing is, or not any more."""
        with self._lock:
            return self._episodes.get(episode_id)

    def delivered(self, episode_id: str) -> tuple[CompiledStep, ...]:
        """Return what was delivered at the last steps of an episode of this process; none where nothing was."""
        with self._lock:
            known = self._episodes.get(episode_id)
            return tuple(known.delivered) if known is not None else ()

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
            self._compiler(compiler),
            self.look_up,
            self.config.window,
        )
        self._episodes[episode_id] = made
        while len(self._episodes) > _MOST:
            self._episodes.popitem(last=False)
        return made

    def _compiler(self, name: str) -> Compiler:
        if name not in self._compilers:
            self._compilers[name] = open_compiler(name, self.config, self._models, "working" in self.experience.parts)
        return self._compilers[name]


@dataclass(frozen=True)
class _Port:
    compilations: Compilations
    compiler: str

    def compile(self, episode_id: str, observation: StepObservation) -> CompiledStep:
        return self.compilations.compile(episode_id, observation, self.compiler)
