"""`memory-node train compiler-pairs`: a teacher walks train tasks; each step that led to success becomes a pair."""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.alfworld.games import load_games
from benchmarks.alfworld.learnt import Learnt
from memory_node.app.progress import progress_bar
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.domain.errors import InvalidValueError
from memory_node.search.caching_embedder import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.compiler.game_pairs import GameTeacher
from training.compiler.pair_files import write_pairs
from training.compiler.teacher import CompilerPair, RecordingTeacher, balanced
from training.robot_tasks import RobotTasks, add_task_arguments, open_tasks

_TEACHER = "teacher"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--on", choices=("household", "life", "alfworld"), default="household")
    add_task_arguments(parser)
    parser.add_argument("--games", type=Path, metavar="FILE|DIR", help="alfworld: train games")
    parser.add_argument("--from", dest="memory_file", type=Path, metavar="FILE", help="alfworld: memory learnt before")
    parser.add_argument("--attempts", type=Path, metavar="FILE", help="alfworld: transcripts of games to remember")
    parser.add_argument("--limit", type=int, default=0, help="walk a sample of this many (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="of sample, faults and choice (default 0)")
    parser.add_argument(
        "--chooses",
        action="store_true",
        help="replies choose by numbers (expert.llm.compiler.chooses), all four outputs",
    )
    parser.add_argument("--out", type=Path, required=True, help="the pairs, one JSON object a line")


def run(args: argparse.Namespace) -> int:
    """Walk the tasks and write the pairs; return the exit status.

    Raises:
        InvalidValueError: the files of the tasks are not named.
    """
    walked, told = _alfworld(args) if args.on == "alfworld" else _robot(args)
    pairs = balanced(told, random.Random(args.seed).random)
    write_pairs(args.out, pairs)
    tasks = len({pair.task for pair in pairs})
    print(f"{len(pairs)} pairs of {tasks} of {walked} tasks: {args.out}", file=sys.stderr)
    return 0


def _robot(args: argparse.Namespace) -> tuple[int, list[CompilerPair]]:
    with contextlib.closing(open_tasks(args, CachingEmbedder(MiniLmEmbedder()), learns=True)) as tasks:
        return len(tasks.names), list(walk(tasks, args.chooses))


def _alfworld(args: argparse.Namespace) -> tuple[int, list[CompilerPair]]:
    if args.games is None:
        raise InvalidValueError("--on alfworld needs --games")
    games = load_games(args.games, args.limit, args.seed)
    with Learnt(args.memory_file, learns=False) as learnt:
        return len(games), list(GameTeacher(args.attempts, chooses=args.chooses).walk(games, learnt.census))


def walk(tasks: RobotTasks, chooses: bool) -> Iterator[CompilerPair]:
    """Yield the pairs of the tasks that come out right, task by task: the offline planner, guided by the rules.

    Nothing is privileged: it knows what the robot's memory knows. Only whether a task came out right comes from the
    home.
    """
    told: list[CompilerPair] = []
    rules = RulesCompiler()
    with progress_bar() as bar:
        progress: Any = bar.add_task("teacher", total=len(tasks.names))
        for number, name in enumerate(tasks.names):
            told.clear()
            teacher = RecordingTeacher(rules, partial(str, name), told.append, chooses)
            if tasks.play(number, teacher).right == 1.0:
                yield from told
            bar.advance(progress)
