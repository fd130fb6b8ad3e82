"""Builds the compiler that the configuration names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from memory_node.context.brief_state import BriefState
from memory_node.context.config import COMPILERS, CompilerConfig
from memory_node.context.guidance import Compiled, Compiler
from memory_node.context.prompt_compiler import PromptCompiler
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.context.soft_memory import SoftMemoryWeights
from memory_node.context.step_observation import StepObservation
from memory_node.context.task_memory import TaskMemory
from memory_node.domain.errors import InvalidValueError
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
