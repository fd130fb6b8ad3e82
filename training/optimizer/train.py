"""`memory-node train optimizer`: trains the policy that decides what an attempt leaves in memory."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

from benchmarks.alfworld.engine import require_engine
from benchmarks.alfworld.games import load_games, task_of
from benchmarks.alfworld.policy import with_shipped_adapter
from benchmarks.stream.alfworld import EXECUTORS, ExecutorSetting, GameCache
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.lessons.optimizer.vetting import Vetting
from memory_node.planner.planner_config import LlmConfig
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.adapters.base_model import open_base
from training.adapters.command import add_model_argument, checked_size
from training.adapters.learning import Schedule
from training.adapters.processes import begin, is_first, portion, tell, together
from training.optimizer.evolution import EvolutionSettings
from training.optimizer.executions import Executions, GameExecutions, RobotExecutions, RunAll, read_attempts
from training.optimizer.policy import GrpoSettings
from training.optimizer.stages import TrainingRun, train
from training.robot_tasks import add_task_arguments, open_tasks

_MASKED = ("none", "extraction", "management")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--on", choices=("alfworld", "household", "life"), required=True)
    parser.add_argument("--games", type=Path, metavar="FILE|DIR", help="alfworld: train games")
    add_task_arguments(parser)
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoints, adapter and card")
    add_model_argument(parser)
    parser.add_argument("--executor", choices=EXECUTORS, default="policy", help="who carries tasks out, frozen")
    parser.add_argument(
        "--executor-adapter", default="", metavar="GGUF", help="of the policy (default: the shipped one)"
    )
    parser.add_argument("--queries", type=int, default=64, help="train tasks (default 64)")
    parser.add_argument(
        "--pool", type=int, default=0, help="further train games that only judge memories, as neighbours (default 0)"
    )
    parser.add_argument("--held-out", type=int, default=16, help="tasks that are not trained on (default 16)")
    parser.add_argument("--group", type=int, default=8, help="candidates of a query (default 8, as in the paper)")
    parser.add_argument("--batch", type=int, default=4, help="queries of an update (default 4; the paper: 128)")
    parser.add_argument("--neighbours", type=int, default=3, help="judges of a query (default 3); 0: itself")
    parser.add_argument("--epochs", type=int, default=1, help="passes over the queries (default 1; the paper: 3)")
    parser.add_argument(
        "--rate", type=float, default=3e-4, help="of learning by reward (default 3e-4; the paper, of 4B: 1e-6)"
    )
    parser.add_argument("--masked", choices=_MASKED, default="none", help="whose tokens get no gradient (ablations)")
    parser.add_argument(
        "--attempts",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="transcripts, or files of --cache, that the warm start reads (default: attempts at the queries)",
    )
    parser.add_argument("--cache", type=Path, metavar="FILE", help="keeps played games; a later run plays none again")
    parser.add_argument("--warm-minutes", type=float, default=20.0, help="after which it ends early (default 20)")
    parser.add_argument("--rank", type=int, default=8, help="of the adapter's matrices (default 8)")
    parser.add_argument("--tokens", type=int, default=1024, help="of a dialogue of the warm start at most")
    parser.add_argument("--reply-tokens", type=int, default=200, help="of a reply at most (default 200)")
    parser.add_argument("--max-steps", type=int, default=30, help="commands in a game (default 30)")
    parser.add_argument("--jobs", type=int, default=2, help="games side by side (default 2)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)


def run(args: argparse.Namespace) -> int:
    """Train, write the adapter and its card; return the exit status.

    Raises:
        ResourceMissingError: the extra `alfworld` is not installed.
        InvalidValueError: the checkpoint is of another run, or there are too few games.
    """
    begin(args.seed, args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    try:
        base = open_base(args.model, args.threads)
        model = base.adapted(args.rank)
    except ValueError as error:
        raise InvalidValueError(str(error)) from error
    grpo = GrpoSettings(args.rate, masked=args.masked)
    with (_games_played if args.on == "alfworld" else _tasks_played)(args) as (texts, play):
        plan = TrainingRun(
            model,
            base.tokens,
            lambda model: base.writer(model, args.reply_tokens),
            Executions(lambda executions: together(play(portion(executions)))),
            CachingEmbedder(MiniLmEmbedder()),
            Vetting(load_catalogue()),
            texts,
            args.queries,
            args.held_out,
            Schedule(minutes=args.warm_minutes, seed=args.seed),
            EvolutionSettings(args.group, args.batch, args.neighbours, args.epochs, args.seed, grpo),
            read_attempts(args.attempts, args.seed),
            executor=args.executor if args.on == "alfworld" else f"the offline planner, {args.on}",
            most_tokens=args.tokens,
            suffix=base.suffix,
        )
        try:
            adapter = train(plan, args.out, tell)
        except ValueError as error:
            raise InvalidValueError(str(error)) from error
    if not is_first():
        return 0
    checked_size(adapter)
    print(adapter)
    return 0


@contextlib.contextmanager
def _games_played(args: argparse.Namespace) -> Iterator[tuple[list[str], RunAll]]:
    require_engine()
    if args.games is None:
        raise InvalidValueError("--on alfworld needs --games")
    games = load_games(args.games, _wanted(args), args.seed)
    _check_enough(len(games), args)
    executor = ExecutorSetting(
        args.executor, with_shipped_adapter(LlmConfig(adapter_path=args.executor_adapter)), args.max_steps, args.seed
    )
    with GameExecutions(games, executor, args.jobs, GameCache(args.cache, executor.mark)) as play:
        yield [task_of(game) for game in games], play


@contextlib.contextmanager
def _tasks_played(args: argparse.Namespace) -> Iterator[tuple[list[str], RunAll]]:
    args.limit = _wanted(args)
    with contextlib.closing(open_tasks(args, CachingEmbedder(MiniLmEmbedder()))) as tasks:
        _check_enough(len(tasks.texts), args)
        yield list(tasks.texts), RobotExecutions(tasks)


def _wanted(args: argparse.Namespace) -> int:
    """Return how many tasks there must be: the queries, the pool and the held-out ones, in this order."""
    return int(args.queries + args.pool + args.held_out)


def _check_enough(count: int, args: argparse.Namespace) -> None:
    """Raises: InvalidValueError: there are too few tasks."""
    if count < _wanted(args) or args.queries < 2:
        others = args.pool + args.held_out
        raise InvalidValueError(f"{count} tasks are too few for {args.queries} queries and {others} others")
