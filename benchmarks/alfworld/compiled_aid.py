"""Compiled memory as a policy's aid, in the variants that are compared, with an account of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from benchmarks.alfworld.aid import Advised, Aid, StepAid
from benchmarks.alfworld.attempts import Attempts
from benchmarks.alfworld.compiled import CompiledGame, Told, goals_reader
from benchmarks.alfworld.judge import GameFacts, Wanted, shortest_commands
from benchmarks.alfworld.play import CompilingAccount, GameEngine
from benchmarks.alfworld.transcripts import read_transcripts
from benchmarks.compiler_variants import HISTORY, LATENT, NO_STATE, STATIC, TEXT, compiler_of, m_of
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.compilations import Retrieve
from memory_node.context.config import CompilerConfig
from memory_node.context.guidance import Compiler, Delivery
from memory_node.context.task_memory import TaskMemory
from memory_node.domain.ports import TextEmbedder
from memory_node.llm.open_model import ModelShelf
from memory_node.scene_graph.place_habits import PlaceCensus

# Returns the commands that a shortest way begins with now.
Judge = Callable[[], frozenset[str]]

# With a brief state the policy sees so many of the last turns: what it tells is what they led to.
TURNS_WITH_STATE = 2


@dataclass(frozen=True)
class CompiledSetting:
    """How memory is compiled. variant: see compiler_variants. compiler: who compiles. attempts: file of transcripts
    that are a part of M, None for none."""

    variant: str = TEXT
    compiler: str = "rules"
    config: CompilerConfig = field(default_factory=CompilerConfig)
    attempts: Path | None = None
    seed: int = 0


def compiled_aids(
    setting: CompiledSetting, kinds: ObjectCatalogue, embedder: TextEmbedder, max_steps: int
) -> CompiledAids:
    """Return what a setting says, opened.

    Raises:
        NotFoundError: there is no such file of transcripts.
        ModelMissingError: a package or file of the compiler's model is not there.
    """
    compiler = compiler_of(setting.variant, setting.compiler, setting.config, ModelShelf())
    transcripts = read_transcripts(setting.attempts) if setting.attempts is not None else ()
    attempts = Attempts.of(transcripts, kinds, goals_reader(kinds, embedder))
    return CompiledAids(kinds, embedder, compiler, attempts, setting.variant, max_steps, setting.seed)


@dataclass(frozen=True)
class CompiledAids:
    """An `OpenAid`: memory compiled at each step, or in the variant "static" all of the same M at first.

    attempts: at other games, a part of M. seed: of what takes the place of M where it is shuffled.
    """

    kinds: ObjectCatalogue
    embedder: TextEmbedder
    compiler: Compiler
    attempts: Attempts
    variant: str
    max_steps: int
    seed: int = 0

    def __call__(self, engine: GameEngine, learnt: PlaceCensus | None, name: str) -> Aid:
        """Open the aid of a game."""
        retrieve = self._retrieval(random.Random(f"{self.seed} {name}"))
        game = CompiledGame(
            engine, self.kinds, self.embedder, learnt or PlaceCensus(), self.compiler, retrieve, self.max_steps
        )
        return aid_of(game, engine, self.variant, judge_of(engine))

    def _retrieval(self, chance: random.Random) -> Callable[[Retrieve], Retrieve]:
        def changed(own: Retrieve) -> Retrieve:
            def retrieve(episode_id: str, instruction: str, goals: Sequence[str]) -> TaskMemory:
                def remembered(about: Sequence[str]) -> TaskMemory:
                    return TaskMemory.of([*own(episode_id, instruction, about).entries, *self.attempts.like(about)])

                return m_of(self.variant, goals, lambda: self.attempts.other_goals(goals, chance), remembered)

            return retrieve

        return changed


class CompiledRun(Protocol):
    """A game or lesson that is running, and what a compiler makes of memory in it."""

    @property
    def memory(self) -> TaskMemory:
        """M."""

    def tell(self) -> Told:
        """Compile memory for the next step."""

    def send(self, command: str) -> str:
        """Send a command, let memory know what came of it, and return what is printed."""

    def close(self) -> None:
        """Let go of the memory."""


def aid_of(run: CompiledRun, engine: GameEngine, variant: str, judge: Judge | None = None) -> Aid:
    """Return memory compiled at each step of a run, or in the variant "static" all of the same M at first."""
    if variant != STATIC:
        return CompiledAid(run, judge, variant)
    try:
        run.tell()
        return Advised(engine, "\n".join(run.memory.lines))
    finally:
        run.close()


@dataclass
class CompiledAid:
    """Memory compiled at each step of a game. judge: None where nobody judges guidance. variant: see
    compiler_variants."""

    game: CompiledRun
    judge: Judge | None
    variant: str
    experience: str = ""
    _told: list[Told] = field(default_factory=list)
    _precise: list[bool] = field(default_factory=list)

    @property
    def account(self) -> CompilingAccount:
        """What compiling was."""
        steps = [told.compiled for told in self._told]
        return CompilingAccount(
            tuple(sum(step.milliseconds for step in compiled) for compiled in steps),
            tuple(all(step.compiled.delivery is Delivery.NOACTION for step in compiled) for compiled in steps),
            tuple(sum(one.compiled.tokens_in + one.compiled.tokens_out for one in compiled) for compiled in steps),
            tuple(self._precise),
        )

    def tell(self) -> StepAid:
        """Compile memory; see Aid."""
        told = self.game.tell()
        self._told.append(told)
        if told.command and self.judge is not None:
            self._precise.append(told.command in self.judge())
        advice = told.advice if self.variant != LATENT else ""
        if self.variant == NO_STATE:
            return StepAid((), advice, HISTORY)
        return StepAid(told.state_lines, advice, TURNS_WITH_STATE, told.latent)

    def send(self, command: str) -> str:
        """Send a command; memory follows."""
        return self.game.send(command)

    def close(self) -> None:
        """Let go of the game's memory."""
        self.game.close()


def judge_of(engine: GameEngine) -> Judge:
    """Return what judges by the facts of an engine now."""
    wanted = Wanted.of(engine.problem)
    return lambda: shortest_commands(GameFacts.of(engine.facts), wanted)
