"""`memory-node bench stream`: what an optimizer of memory is worth over a stream of tasks."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import cast

from benchmarks.alfworld.command import Setting, play_all
from benchmarks.alfworld.compiled import goals_reader
from benchmarks.alfworld.engine import require_engine
from benchmarks.alfworld.games import load_games
from benchmarks.alfworld.policy import TranscriptFile, with_shipped_adapter
from benchmarks.household_cases import SUITES, Case, load_cases
from benchmarks.household_faults import Faults
from benchmarks.household_homes import Homes
from benchmarks.household_life import Lives
from benchmarks.life.lives import opened_days
from benchmarks.life.players import Players
from benchmarks.model_figures import add_planner_arguments, model_parameters
from benchmarks.ranking.ranked_planner import BY_CHANCE, SEEDS
from benchmarks.reply_cache import open_shelf
from benchmarks.rows import emit
from benchmarks.stream.alfworld import EXECUTORS, ExecutorSetting, GameCache, alfworld_streams, progress_of
from benchmarks.stream.life import life_robot
from benchmarks.stream.outcomes import Stream, StreamTask, robot_streams, rows_of
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.clock import system_clock
from memory_node.domain.context import estimate_tokens
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.config import (
    OPTIMIZERS,
    ExperienceConfig,
    OptimizerConfig,
    OptimizerKind,
    OptimizerModelConfig,
)
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import ExperienceLog
from memory_node.lessons.optimizer.curator import Curator, open_curator
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.open_planner import open_planner
from memory_node.planner.planner import Planner
from memory_node.planner.planner_config import LlmConfig, OfflineConfig, PlannerConfig
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder


@contextmanager
def household_robot(
    homes: Homes, embedder: TextEmbedder, planner: Planner, seed: int, curator: Curator | None
) -> Iterator[Callable[[Case], StreamTask]]:
    """Return how tasks are carried out under faults. curator: of a fresh bank, None for a robot without experience."""
    experience = Experience(ExperienceConfig(), ExperienceLog(), system_clock, kinds=load_catalogue(), curator=curator)
    mode = "full" if curator is None else "full+experience"
    lives = Lives(mode, homes, embedder, planner, experience, Faults(seed=seed), seed)

    def carried_out(case: Case) -> StreamTask:
        shown = curator.bank.retrieve(case.instruction) if curator is not None else ()
        before = experience.figures()
        trial = lives.run(case)
        after = experience.figures()
        names = (("UPDATE", "lessons.updated"), ("ADD", "lessons.added"))
        grown = (operation for operation, name in names if after.get(name, 0) > before.get(name, 0))
        return StreamTask(
            trial.success,
            trial.met / max(trial.conditions, 1),
            trial.result.skills,
            told_tokens=sum(estimate_tokens(entry.text) for entry in shown),
            bank=after.get("lessons.kept", 0),
            operation=next(grown, ""),
        )

    try:
        yield carried_out
    finally:
        experience.close()


PLACES = ("household", "alfworld", "life")
# A model as it is, and with an adapter that was trained to write lessons: both are the product's `model`.
_PROMPT, _LEARNED = "prompt", "learned"
NAMES = (*OPTIMIZERS, _PROMPT, _LEARNED)
# Failures of one goal after which an executor with faults gives up, as in `bench household --faults`.
_PATIENCE = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's options."""
    parser.add_argument("--on", choices=PLACES, default="household", help="which tasks (default household)")
    parser.add_argument("--optimizer", nargs="+", choices=NAMES, default=["none", "rules"], help="a row for each")
    parser.add_argument("--orders", type=int, default=5, help="shuffled orders of the tasks (default 5)")
    parser.add_argument("--epochs", type=int, default=1, help="passes over each order, memory kept (default 1)")
    parser.add_argument("--limit", type=int, default=30, help="a sample of so many tasks (default 30; 0: all)")
    parser.add_argument("--scenes", type=Path, help="household, life: scenes.json.gz of the floor plans")
    parser.add_argument("--days", type=Path, nargs="+", metavar="FILE", help="life: days, as `bench life` has them")
    parser.add_argument("--tasks", type=Path, help="household: the instructions (.jsonl, .gz)")
    parser.add_argument("--suite", choices=SUITES, default="alfred", help="household: the format of the instructions")
    parser.add_argument("--games", type=Path, metavar="FILE|DIR", help="alfworld: a split: .tar.xz, or a folder")
    parser.add_argument(
        "--executor",
        choices=EXECUTORS,
        default="policy",
        help="alfworld: the trained policy (--executor-adapter), or a novice that tries at random (default policy)",
    )
    parser.add_argument(
        "--executor-adapter",
        default="",
        metavar="GGUF",
        help="alfworld: of the policy (default: the shipped one)",
    )
    parser.add_argument("--max-steps", type=int, default=30, help="alfworld: commands in a game (default 30)")
    parser.add_argument("--jobs", type=int, default=2, help="alfworld: games side by side (default 2)")
    parser.add_argument(
        "--cache", type=Path, metavar="FILE", help="alfworld: keeps played games; an interrupted run goes on from there"
    )
    parser.add_argument(
        "--lessons",
        type=Path,
        metavar="FILE",
        help="keeps what the optimizer's model replied; an interrupted run asks for no lesson twice",
    )
    parser.add_argument("--capacity", type=int, default=300, help="entries of the bank (default 300)")
    parser.add_argument(
        "--lesson-timeout",
        type=float,
        default=OptimizerModelConfig().timeout_s,
        metavar="S",
        help="for what a language model makes of one attempt (default 120)",
    )
    add_planner_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the benchmark; return the exit status."""
    if min(args.orders, args.epochs) < 1:
        raise InvalidValueError("--orders and --epochs: expected positive numbers")
    embedder = CachingEmbedder(MiniLmEmbedder())
    if args.on == "life":
        return _live(args, embedder)
    if args.on == "household":
        streams_of, executor = _household(args, embedder), "offline"
    else:
        streams_of, executor = _alfworld(args, embedder), args.executor
    for name in args.optimizer:
        emit(rows_of(name, streams_of(name), {"on": args.on, "executor": executor}), args.json)
    for name in BY_CHANCE if executor == "policy" else ():  # whatever a model that acts comes to is more than chance
        emit(rows_of("none", _by_chance(args, name), {"on": args.on, "executor": name}), args.json)
    return 0


def _live(args: argparse.Namespace, embedder: TextEmbedder) -> int:
    """Print the rows of days; their executor is the offline planner."""
    others = [name for name in ("cache", "games", "lessons", "tasks") if getattr(args, name) is not None]
    if others:
        raise InvalidValueError(f"--on life plays --days, and has no use for --{', --'.join(others)}")
    with opened_days(args.days, args.scenes, embedder, args.limit, args.seed) as (days, lives):
        players = Players(args, embedder)
        for name in args.optimizer:
            robot_of = partial(life_robot, lives, players, embedder, optimizer_config(args, name))
            streams = robot_streams(args, name, days, robot_of)
            emit(rows_of(name, streams, {"on": args.on, "executor": "offline"}), args.json)
    return 0


def _household(args: argparse.Namespace, embedder: TextEmbedder) -> Callable[[str], Sequence[Stream]]:
    if args.scenes is None or args.tasks is None:
        raise InvalidValueError("--on household needs --scenes and --tasks (docs/homes.md says how to make them)")
    config = PlannerConfig(offline=OfflineConfig(max_failures=_PATIENCE))
    homes = Homes(args.scenes, load_catalogue(), args.seed)
    planner = open_planner("offline", embedder, config, fallback=False, asks=False)
    models = open_shelf(args.lessons)
    cases = load_cases(args.tasks, args.suite, args.limit, args.seed)

    def robot_of(name: str) -> AbstractContextManager[Callable[[Case], StreamTask]]:
        return household_robot(homes, embedder, planner, args.seed, curator_of(args, embedder, models, name))

    return lambda name: robot_streams(args, name, cases, partial(robot_of, name))


def _alfworld(args: argparse.Namespace, embedder: TextEmbedder) -> Callable[[str], Sequence[Stream]]:
    if args.games is None:
        raise InvalidValueError("--on alfworld needs --games (docs/alfworld.md says which)")
    require_engine()
    model = LlmConfig(adapter_path=args.executor_adapter, timeout_s=args.timeout, threads=args.threads)
    executor = ExecutorSetting(args.executor, with_shipped_adapter(model), args.max_steps, args.seed)
    cache = GameCache(args.cache, executor.mark)
    curators = partial(curator_of, args, embedder, open_shelf(args.lessons))
    games = load_games(args.games, args.limit, args.seed)
    goals_of = goals_reader(load_catalogue(), embedder)
    return lambda name: alfworld_streams(args, name, games, executor, curators, cache, goals_of)


def _by_chance(args: argparse.Namespace, planner: str) -> list[Stream]:
    """Return the streams of what has neither memory nor model."""
    games = load_games(args.games, args.limit, args.seed)
    setting = Setting(planner, args.max_steps, LlmConfig(), seed=args.seed)
    orders = play_all([games] * SEEDS, setting, args.jobs, None, TranscriptFile(None))
    return [[[StreamTask(one.won, progress_of(one), one.steps, lost=one.lost) for one in order]] for order in orders]


def curator_of(args: argparse.Namespace, embedder: TextEmbedder, models: ModelShelf, name: str) -> Curator | None:
    """Return the curator of an empty bank for a row, None for rows without one."""
    return open_curator(optimizer_config(args, name), embedder, load_catalogue(), models)


def optimizer_config(args: argparse.Namespace, name: str) -> OptimizerConfig:
    """Return who writes the lessons of a row.

    Raises:
        InvalidValueError: "learned" has no adapter.
    """
    llm = OptimizerModelConfig(timeout_s=args.lesson_timeout, **model_parameters(args))
    if name == _LEARNED and not llm.adapter_path:
        raise InvalidValueError("--optimizer learned: --adapter names the adapter that was trained to write lessons")
    if name == _PROMPT:
        llm = llm.model_copy(update={"adapter_path": ""})
    kind = "model" if name in (_PROMPT, _LEARNED) else name
    return OptimizerConfig(kind=cast(OptimizerKind, kind), capacity=args.capacity, llm=llm)
