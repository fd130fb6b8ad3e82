"""A run of reinforcement, opened: models and games."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.alfworld.compiled import Attempts, CompiledAids, goals_reader
from benchmarks.alfworld.engine import PddlEngine
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import GameEngine, PlayedGame, for_text_games
from benchmarks.alfworld.policy import OpenAid, PolicyPlayer, read_transcripts
from benchmarks.compiler_variants import FULL
from benchmarks.rows import interval_of
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.config import CompilerModelConfig
from memory_node.context.guidance import Compiler
from memory_node.scene_graph.place_habits import PlaceCensus
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.adapters.adapter import load_adapter
from training.adapters.base_model import BaseModel, open_base
from training.adapters.processes import device, portion, together
from training.adapters.text_model import width
from training.grpo.learning import GrpoSchedule
from training.grpo.llama_models import LlamaModels
from training.grpo.rollouts import STEP_S, Decisions, Models, RobotRollouts, Rollout, drawing_compiler
from training.grpo.torch_models import TorchModels
from training.robot_tasks import RobotTasks
from training.softmem.soft_memory import SoftMemory
from training.softmem.soft_pair import SoftPair
from training.softmem.weights import load_soft_memory


@dataclass(frozen=True)
class GameRollouts:
    """A `Play` over games. aid_of: opens the aid of a compiler. max_steps: commands in a game, 15 in the paper."""

    models: Models
    games: Sequence[Game]
    learnt: PlaceCensus
    aid_of: Callable[[Compiler], OpenAid]
    engine_of: Callable[[Game], GameEngine]
    temperature: float = 1.2
    max_steps: int = 15
    config: CompilerModelConfig = field(default_factory=lambda: CompilerModelConfig(timeout_s=STEP_S))

    def __call__(self, task: int, number: int, seed: int) -> Rollout:
        """Play one game with replies and latent tokens that are drawn."""
        decisions = Decisions()
        won = self._play(self.games[task], self.temperature, seed, decisions).won
        return Rollout(tuple(decisions.made), float(won))

    def greedy(self, game: Game) -> PlayedGame:
        """Play one game with the likeliest replies."""
        return self._play(game, 0.0, 0, Decisions())

    def _play(self, game: Game, temperature: float, seed: int, decisions: Decisions) -> PlayedGame:
        aid_of = self.aid_of(drawing_compiler(self.models, self.config, temperature, seed, decisions))
        player = PolicyPlayer(self.models.executor(), self.max_steps, STEP_S, aid_of, self.engine_of)
        return player.play(game, self.learnt)


@dataclass(frozen=True)
class Run:
    """What reinforcement works with."""

    base: BaseModel
    pair: SoftPair
    models: Models
    rollouts: GameRollouts | RobotRollouts


def open_models(args: argparse.Namespace) -> tuple[BaseModel, SoftPair, Models]:
    """Open the models that the options name. llama.cpp plays a GGUF file, torch the model of a folder.

    Raises:
        ValueError: a file is of another model.
    """
    base = open_base(args.model, args.threads)
    compiler, executor = base.adapted(args.rank), base.adapted(args.rank)
    if args.compiler is not None:
        load_adapter(compiler, args.compiler)
    if args.executor is not None:
        load_adapter(executor, args.executor)
    size = width(compiler)
    soft = load_soft_memory(args.soft) if args.soft is not None else SoftMemory(size, size, tokens=0)
    pair = SoftPair(compiler, executor, soft, through_prompt=args.through_prompt).to(device())
    return base, pair, _models(args, base, pair)


def opened_tasks(args: argparse.Namespace, tasks: RobotTasks, schedule: GrpoSchedule) -> Run:
    """Open what the options name for tasks of a robot. Raises: see open_models."""
    base, pair, models = open_models(args)
    return Run(base, pair, models, RobotRollouts(models, tasks, _compiling(args), schedule.temperature))


def opened(args: argparse.Namespace, games: Sequence[Game], learnt: PlaceCensus, schedule: GrpoSchedule) -> Run:
    """Open what the options name for games. Raises: see open_models."""
    base, pair, models = open_models(args)
    kinds, embedder = for_text_games(load_catalogue()), CachingEmbedder(MiniLmEmbedder())
    transcripts = read_transcripts(args.attempts) if args.attempts is not None else ()
    library = Attempts.of(transcripts, kinds, goals_reader(kinds, embedder))

    def aid_of(compiler: Compiler) -> CompiledAids:
        return CompiledAids(kinds, embedder, compiler, library, FULL, args.max_steps)

    config = _compiling(args)
    rollouts = GameRollouts(models, games, learnt, aid_of, PddlEngine, schedule.temperature, args.max_steps, config)
    return Run(base, pair, models, rollouts)


def _compiling(args: argparse.Namespace) -> CompilerModelConfig:
    return CompilerModelConfig(timeout_s=STEP_S, max_reply_tokens=args.reply_tokens, chooses=args.chooses)


def _models(args: argparse.Namespace, base: BaseModel, pair: SoftPair) -> Models:
    if base.config is None:
        return TorchModels(pair, base.tokens, args.reply_tokens)
    return LlamaModels(pair, base.config.changed(max_reply_tokens=args.reply_tokens), args.executor)


@dataclass(frozen=True)
class HeldOut:
    """Games or tasks that were played greedily, and how many of them were won."""

    games: int
    won: int

    def __str__(self) -> str:
        low, high = interval_of(self.won, self.games)
        return f"{self.won} of {self.games} won (95 % interval {low:.2f} to {high:.2f})"

    @classmethod
    def played(cls, rollouts: Any, games: Sequence[Any], kept: Path | None) -> HeldOut:
        """Play games or tasks, unless a run before this one has. kept: file of what came of it, None for none."""
        if kept is not None and kept.is_file():
            return cls(**json.loads(kept.read_text("utf-8")))
        won = together([rollouts.greedy(game).won for game in portion(games)])
        found = cls(len(won), sum(won))
        if kept is not None:
            kept.write_text(json.dumps({"games": found.games, "won": found.won}) + "\n", "utf-8")
        return found
