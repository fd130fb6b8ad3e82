"""The rows of `bench compiler`: each compiler, and controls that lack the brief state, M or loop detection."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.alfworld.play import CompilingAccount, PlayedGame
from benchmarks.rows import mean_of, median_of
from memory_node.context.beliefs import Beliefs, Failed
from memory_node.context.brief_state import BriefState
from memory_node.context.compilations import Compilations, Retrieve
from memory_node.context.config import CompilerConfig
from memory_node.context.guidance import Compiled, Compiler, Guidance, StepObservation, TakenStep, said
from memory_node.context.prompt_compiler import PromptCompiler
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.context.soft_memory import SoftMemoryWeights
from memory_node.context.task_memory import TaskMemory
from memory_node.domain.context import estimate_tokens
from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.skill_library import bind
from memory_node.llm.open_model import ModelShelf


def row_of(
    variant: str, compiler: str, games: Sequence[PlayedGame], progress: Sequence[float] = (), times: int = 1
) -> dict[str, Any]:
    """Return the row of some games. A game that was lost is not won.

    progress: the share of each task that was done, in [0, 1]; () where the engine tells none. times: how often each
    game was played.
    """
    played = [game for game in games if not game.lost]
    compiling = CompilingAccount.of_all(game.compiling for game in played if game.compiling is not None)
    # Every command counts the same, whichever game it was sent in.
    sent = sum(game.steps for game in played)
    steps = max(sent, 1)
    return {
        "variant": variant,
        "compiler": compiler,
        "tasks": len(games) // times,
        "success_rate": round(sum(game.won for game in games) / max(len(games), 1), 4),
        "progress": mean_of(progress),
        "steps_mean": round(sent / max(len(played), 1), 2),
        "executor_input_tokens": round(sum(game.prompt_tokens * game.steps for game in played) / steps, 1),
        "compiler_tokens": mean_of(compiling.tokens, 1) or 0.0,
        "executor_output_tokens": round(sum(game.reply_tokens * game.steps for game in played) / steps, 1),
        "executor_ms": median_of([ms for game in played for ms in game.step_ms], 2) or 0.0,
        "compiler_ms": median_of(compiling.milliseconds, 2) or 0.0,
        "guidance_precision": mean_of(compiling.precise),
        "noaction_share": mean_of(compiling.nothing),
    }


About = TypeVar("About")

# Steps of a raw history that are shown, as in BrainMem's working memory.
HISTORY = 5
NONE, NO_FAULTS, STATIC, TEXT = "none", "no-faults", "static", "text"
NO_STATE, NO_LOOPS = "no-brief-state", "no-loop-detection"
EMPTY_M, SHUFFLED_M = "empty-m", "shuffled-m"
OF_COMPILERS = (TEXT, NO_STATE, NO_LOOPS, EMPTY_M, SHUFFLED_M)
# Guidance in words and as latent tokens, and as latent tokens alone.
FULL, LATENT = "full", "latent"
WITH_LATENT = (FULL, LATENT)


def rows_asked(variants: Sequence[str], compilers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the (variant, compiler) of each row, "none" where nothing is compiled."""
    for variant in variants:
        yield from ((variant, name) for name in (compilers if variant in OF_COMPILERS else ("none",)))


def static_lines(memory: TaskMemory) -> tuple[str, ...]:
    """Return all of M in words: what static injection puts into a prompt."""
    return tuple(f"- {entry.text}" for entry in memory.entries)


class StaticInjection:
    """All of M at once: an executor that reads it does what every entry for its next step says, once, whatever is so.

    It stands for static injection with an executor that cannot read.
    """

    def compile(self, observation: StepObservation, state: BriefState, memory: TaskMemory) -> Compiled:
        """Return the first thing that M says to do before the proposed step and that was not done just before."""
        proposed = observation.proposed
        if proposed is None:
            return Compiled()
        last = [step.call for step in observation.recent[-HISTORY:] if step.success]
        for entry in (one for one in memory.entries if one.skill == proposed.skill):
            for template in entry.steps:
                call = bind(template, proposed)
                if call is not None and call != proposed and call not in last:
                    return Compiled(Guidance(call, said(call, entry.text), entry.text, (entry.id,)))
        return Compiled()


class WithoutBriefState:
    """A compiler that gets the raw goal and the last actions instead of b_t, without beliefs about the home."""

    def __init__(self, inner: Compiler) -> None:
        self._inner = inner

    def compile(self, observation: StepObservation, state: BriefState, memory: TaskMemory) -> Compiled:
        """Compile with beliefs of nothing but the goal and which of the last actions failed."""
        recent = observation.recent[-HISTORY:]
        failures = {step.call: Failed(step.reason) for step in recent if not step.success}
        raw = Beliefs(failures=failures, progress=BriefState(state.goal, current=state.current))
        told = replace(raw.brief(), locations=(), agent=(), facts=tuple(map(raw.failure, failures)))
        return self._inner.compile(replace(observation, recent=recent, beliefs=raw), told, memory)


def history_lines(steps: Sequence[TakenStep]) -> list[str]:
    """Return the last actions in words, as an executor without a brief state is told them."""
    return [f"{step.call}: {'done' if step.success else f'failed, {step.reason}'}" for step in steps[-HISTORY:]]


@dataclass
class OtherMemories:
    """M of other tasks: each task gets what was retrieved for an earlier one with another goal; nothing before that."""

    chance: random.Random
    _seen: dict[str, TaskMemory] = field(default_factory=dict)

    def shuffled(self, own: Retrieve) -> Retrieve:
        """Return a Retrieve that exchanges what it retrieves."""

        def retrieve(episode_id: str, instruction: str, goals: Sequence[str]) -> TaskMemory:
            others = [key for key in self._seen if key != " ".join(goals)]
            found = self._seen[self.chance.choice(others)] if others else TaskMemory()
            self._seen[" ".join(goals)] = own(episode_id, instruction, goals)
            return found

        return retrieve


def m_of(variant: str, about: About, other: Callable[[], About], retrieve: Callable[[About], TaskMemory]) -> TaskMemory:
    """Return M in a variant.

    about: what is retrieved for, goals or a task. other: returns the same of another task. retrieve: makes M.
    """
    if variant == EMPTY_M:
        return TaskMemory()
    return retrieve(other() if variant == SHUFFLED_M else about)


def retrieval_of(variant: str, others: OtherMemories) -> Callable[[Retrieve], Retrieve]:
    """Return what becomes of the retrieval of M in a variant."""
    if variant == EMPTY_M:
        return lambda own: lambda *_: TaskMemory()
    return others.shuffled if variant == SHUFFLED_M else lambda own: own


def variant_of(own: Compilations, variant: str, compiler: Compiler, others: OtherMemories) -> Compilations:
    """Return what compiles a memory in a variant. own: that compiles it as ever."""
    return replace(own, retrieve=retrieval_of(variant, others)(own.retrieve), compiler=compiler)


def compiler_of(variant: str, name: str, config: CompilerConfig, models: ModelShelf) -> Compiler:
    """Return the compiler of a variant.

    Raises:
        ModelMissingError: a package or file of the language model is not there.
        ResourceMissingError: "learned" has no adapter.
        NotFoundError, InvalidValueError: there is no soft memory, or it cannot be read.
    """
    if variant == STATIC:
        return StaticInjection()
    loops, soft = variant != NO_LOOPS, None
    inner: Compiler = RulesCompiler(loops)
    if name != "rules":
        if name == "learned" and not config.llm.adapter_path:
            raise ResourceMissingError("the compiler `learned` needs --compiler-adapter FILE")
        if variant in WITH_LATENT:
            soft = SoftMemoryWeights.read(Path(config.llm.soft_memory_path))
        inner = PromptCompiler(models.open(config.llm), config.llm, loops, soft)
    return WithoutBriefState(inner) if variant == NO_STATE else inner


def tokens_of(lines: Sequence[str]) -> int:
    """Return about how many tokens some lines have."""
    return estimate_tokens("\n".join(lines)) if lines else 0
