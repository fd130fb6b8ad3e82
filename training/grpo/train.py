"""`memory-node train grpo`: reinforces a compiler, in words or with a soft memory, by a frozen executor's success."""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import shlex
import sys
import time
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.alfworld.compiled import Attempts, CompiledAids, goals_reader
from benchmarks.alfworld.engine import PddlEngine, require_engine
from benchmarks.alfworld.games import Game, load_games, task_of
from benchmarks.alfworld.learnt import Learnt
from benchmarks.alfworld.play import PlayedGame, for_text_games
from benchmarks.alfworld.policy import ADAPTER, OpenAid, PolicyPlayer, read_transcripts
from benchmarks.alfworld.robot import GameEngine
from benchmarks.compiler_variants import FULL
from benchmarks.rows import interval_of
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.config import CompilerModelConfig
from memory_node.context.guidance import Compiler
from memory_node.domain.errors import InvalidValueError
from memory_node.scene_graph.place_habits import PlaceCensus
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.adapters.adapter import load_adapter, save_adapter, width
from training.adapters.base_model import BaseModel, open_base
from training.adapters.command import add_model_argument
from training.adapters.processes import begin, device, is_first, portion, tell, together
from training.grpo.learning import GrpoSchedule, reinforce, write_report
from training.grpo.models import LlamaModels, TorchModels
from training.grpo.rollouts import STEP_S, Decisions, Models, RobotRollouts, Rollout, drawing_compiler
from training.robot_tasks import add_task_arguments, open_tasks
from training.softmem.soft_memory import SoftMemory, load_soft_memory
from training.softmem.soft_pair import SoftPair


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
    if base.config is None:
        return base, pair, TorchModels(pair, base.tokens, args.reply_tokens)
    return base, pair, LlamaModels(pair, base.config.changed(max_reply_tokens=args.reply_tokens), args.executor)


def _compiling(args: argparse.Namespace) -> CompilerModelConfig:
    return CompilerModelConfig(timeout_s=STEP_S, max_reply_tokens=args.reply_tokens)


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--on", choices=("alfworld", "household", "life"), default="alfworld", help="whose success counts"
    )
    parser.add_argument("--games", type=Path, metavar="FILE|DIR", help="alfworld: train games")
    add_task_arguments(parser)
    parser.add_argument("--from", dest="memory_file", type=Path, metavar="FILE", help="memory learnt before")
    parser.add_argument("--attempts", type=Path, metavar="FILE", help="transcripts of games to remember")
    parser.add_argument("--compiler", type=Path, metavar="FILE", help="adapter (default: an untrained one)")
    parser.add_argument(
        "--soft", type=Path, metavar="FILE", help="soft memory of `train softmem`, which learns, too (default: none)"
    )
    parser.add_argument("--executor", type=Path, metavar="FILE", help="alfworld: adapter (default: the shipped)")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoint and curve")
    add_model_argument(parser)
    parser.add_argument("--rank", type=int, default=8, help="of the adapters' matrices (default 8)")
    parser.add_argument("--limit", type=int, default=0, help="of games or tasks (default: all)")
    parser.add_argument("--updates", type=int, default=500)
    parser.add_argument("--tasks-per-update", type=int, default=4, help="default 4")
    parser.add_argument("--rollouts", type=int, default=4, help="of a task (default 4)")
    parser.add_argument("--rate", type=float, default=1e-6, help="learning rate (default 1e-6)")
    parser.add_argument("--max-steps", type=int, default=15, help="commands in a game (default 15)")
    parser.add_argument("--reply-tokens", type=int, default=512, help="of a compiler's reply at most (default 512)")
    parser.add_argument(
        "--held-out",
        type=int,
        default=60,
        help="games of other tasks that are played greedily before and after (default 60)",
    )
    parser.add_argument(
        "--through-prompt",
        action="store_true",
        help="take gradients where the compiler reads its prompt, too, not only where it writes (three times as slow)",
    )
    parser.add_argument("--minutes", type=float, default=110.0, help="after which it ends early (default 110)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)


def run(args: argparse.Namespace) -> int:
    """Reinforce, and write adapter, soft memory, curve and card; return the exit status.

    Raises:
        ResourceMissingError: the extra `alfworld` is not installed.
        InvalidValueError: a file does not fit.
    """
    command = f"memory-node {shlex.join(sys.argv[1:])}"  # the engine's planner puts words of its own there
    begin(args.seed, args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    schedule = GrpoSchedule(args.updates, args.tasks_per_update, args.rollouts, args.rate, seed=args.seed)
    began, checkpoint, curve = time.monotonic(), args.out / "checkpoint.pt", None
    try:
        with (_game_course if args.on == "alfworld" else _robot_course)(args, schedule.temperature) as course:
            play, models = course.rollouts, course.models
            before = HeldOut.played(play, course.held, args.out / "before.json")
            tell(f"held out, before: {before}")
            for curve in reinforce(
                course.pair,
                lambda task, number, seed: play(course.taught[task], number, seed),
                len(course.taught),
                schedule,
                checkpoint,
                models.writer.allowed,
                models.renew,
            ):
                tell(f"update {curve.updates}: {curve.rewards[-1]:.3f} right")
                if time.monotonic() - began > 60.0 * args.minutes:
                    break
            after = HeldOut.played(play, course.held, None)
            tell(f"held out, after: {after}")
    except ValueError as error:
        raise InvalidValueError(str(error)) from error
    if is_first() and curve is not None:
        save_adapter(course.pair.compiler, course.base.adapter_path(args.out, "compiler"))
        write_report(args.out, command, schedule, curve, before, after, course.pair)
        print(args.out)
    return 0


@dataclass(frozen=True)
class _Course:
    """What is reinforced, and by what. taught: numbers of tasks to learn from. held: what is played before and after:
    games, or numbers of tasks."""

    base: BaseModel
    pair: SoftPair
    models: Models
    rollouts: GameRollouts | RobotRollouts
    taught: Sequence[int]
    held: Sequence[Any]


@contextlib.contextmanager
def _game_course(args: argparse.Namespace, temperature: float) -> Iterator[_Course]:
    require_engine()
    if args.games is None:
        raise InvalidValueError("--on alfworld needs --games")
    transcripts = list(read_transcripts(args.attempts)) if args.attempts is not None else []
    remembered = {attempt["task"] for attempt in transcripts}
    held, taught = split_games(load_games(args.games), remembered, args.held_out, args.seed)
    taught = taught[: args.limit or None]
    args.executor = args.executor or ADAPTER
    with Learnt(args.memory_file, learns=False) as learnt:
        base, pair, models = open_models(args)
        kinds, embedder = for_text_games(load_catalogue()), CachingEmbedder(MiniLmEmbedder())
        library = Attempts.of(transcripts, kinds, goals_reader(kinds, embedder))

        def aid_of(compiler: Compiler) -> CompiledAids:
            return CompiledAids(kinds, embedder, compiler, library, FULL, args.max_steps)

        play = GameRollouts(
            models, taught, learnt.census, aid_of, PddlEngine, temperature, args.max_steps, _compiling(args)
        )
        yield _Course(base, pair, models, play, range(len(taught)), held)


@contextlib.contextmanager
def _robot_course(args: argparse.Namespace, temperature: float) -> Iterator[_Course]:
    if args.soft is not None:
        raise InvalidValueError("--soft: the offline planner reads no latent tokens; reinforce them --on alfworld")
    with contextlib.closing(open_tasks(args, CachingEmbedder(MiniLmEmbedder()))) as tasks:
        drawn = random.Random(args.seed).sample(range(len(tasks.names)), len(tasks.names))
        held, taught = drawn[: args.held_out], drawn[args.held_out :]
        if len(held) < args.held_out or not taught:
            raise InvalidValueError(f"{len(drawn)} tasks are too few to hold out {args.held_out} and learn from others")
        base, pair, models = open_models(args)
        play = RobotRollouts(models, tasks, _compiling(args), temperature)
        yield _Course(base, pair, models, play, taught, held)


def split_games(
    games: Sequence[Game], remembered: Container[str], held_out: int, seed: int
) -> tuple[Sequence[Game], Sequence[Game]]:
    """Return games that are held out, of tasks that nobody remembers, and those of other tasks to learn from.

    remembered: tasks, as the games' first texts name them.

    Raises:
        InvalidValueError: there are too few games.
    """
    drawn = random.Random(seed).sample(games, len(games))
    held = [game for game in drawn if task_of(game) not in remembered][:held_out]
    apart = {task_of(game) for game in held}
    taught = [game for game in drawn if task_of(game) not in apart]
    if len(held) < held_out or not taught:
        raise InvalidValueError(
            f"{len(held)} games of tasks that no attempt is about, and {len(taught)} of others to learn from:"
            f" --held-out {held_out} needs more games, or fewer attempts"
        )
    return held, taught
