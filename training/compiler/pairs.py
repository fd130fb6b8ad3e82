"""`memory-node train compiler-pairs`: a teacher walks train tasks; each step that led to success becomes a pair."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.alfworld.games import load_games
from benchmarks.alfworld.learnt import Learnt
from benchmarks.household_cases import Case, load_cases
from benchmarks.household_faults import Faults
from benchmarks.household_homes import Homes
from benchmarks.household_lives import Lives
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.config import CompilerConfig
from memory_node.context.guidance import GuidancePort
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.domain.clock import system_clock
from memory_node.domain.errors import InvalidValueError
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.log import NullLog
from memory_node.memory import RobotMemory
from memory_node.planner.open_planner import open_planner
from memory_node.planner.planner import Planner
from memory_node.search.caching_embedder import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.compiler.game_pairs import GameTeacher
from training.compiler.pair_files import write_pairs
from training.compiler.teacher import CompilerPair, RecordingTeacher, balanced

_TEACHER = "teacher"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--on", choices=("household", "alfworld"), default="household")
    parser.add_argument("--scenes", type=Path, help="household: scenes.json.gz of the floor plans")
    parser.add_argument("--tasks", type=Path, help="household: train tasks (.jsonl or .json, .gz)")
    parser.add_argument("--suite", default="alfred", help="household: the format of the tasks (default alfred)")
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
    walked, told = _alfworld(args) if args.on == "alfworld" else _household(args)
    pairs = balanced(told, random.Random(args.seed).random)
    write_pairs(args.out, pairs)
    tasks = len({pair.task for pair in pairs})
    print(f"{len(pairs)} pairs of {tasks} of {walked} tasks: {args.out}", file=sys.stderr)
    return 0


def _household(args: argparse.Namespace) -> tuple[int, list[CompilerPair]]:
    if args.scenes is None or args.tasks is None:
        raise InvalidValueError("--on household needs --scenes and --tasks")
    cases = load_cases(args.tasks, args.suite, args.limit, args.seed)
    teacher = Teacher(
        Homes(args.scenes, load_catalogue(), args.seed), CachingEmbedder(MiniLmEmbedder()), args.seed, args.chooses
    )
    return len(cases), list(teacher.walk(cases))


def _alfworld(args: argparse.Namespace) -> tuple[int, list[CompilerPair]]:
    if args.games is None:
        raise InvalidValueError("--on alfworld needs --games")
    games = load_games(args.games, args.limit, args.seed)
    with Learnt(args.memory_file, learns=False) as learnt:
        return len(games), list(GameTeacher(args.attempts, chooses=args.chooses).walk(games, learnt.census))


class Teacher:
    """The offline planner, which forgets preparations as in `bench household --faults`, guided by the rules.

    Nothing is privileged: it knows what the robot's memory knows. Only whether a task succeeded comes from the home.
    """

    def __init__(self, homes: Homes, embedder: CachingEmbedder, seed: int, chooses: bool = False) -> None:
        self._chooses = chooses
        self._homes = homes
        self._embedder = embedder
        self._seed = seed
        self._planner: Planner = open_planner("offline", embedder, fallback=False, asks=False)
        self._config = CompilerConfig()
        self._told: list[CompilerPair] = []
        self._task = ""

    def walk(self, cases: Sequence[Case]) -> Iterator[CompilerPair]:
        """Yield the pairs of the tasks that succeed, task by task."""
        experience = Experience(ExperienceConfig(), NullLog(), system_clock)
        lives = Lives(
            "full+experience",
            self._homes,
            self._embedder,
            self._planner,
            experience,
            Faults(seed=self._seed),
            self._seed,
            self._recorded,
        )
        with progress_bar() as bar:
            progress: Any = bar.add_task("teacher", total=len(cases))
            for case in cases:
                self._task, self._told = case.id, []
                trial = lives.run(case)
                if trial.success:
                    yield from self._told
                bar.advance(progress)
        experience.close()

    def _recorded(self, memory: RobotMemory) -> GuidancePort:
        rules = RulesCompiler(self._config.detects_loops, self._config.most_tries)
        teacher = RecordingTeacher(rules, self._config.llm.max_entries, lambda: self._task, self._take, self._chooses)
        return memory.guidance.changed(compilers={_TEACHER: teacher}).port(_TEACHER)

    def _take(self, pair: CompilerPair) -> None:
        self._told.append(pair)
