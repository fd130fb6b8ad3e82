"""`memory-node train executor-runs`: the offline planner carries train tasks out; each run becomes a dialogue."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.household_cases import Case, load_cases
from benchmarks.household_goals import judge_of
from benchmarks.household_homes import Homes
from benchmarks.household_life import Life
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.guidance import GuidancePort
from memory_node.domain.clock import system_clock
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.extractor import RuleExtractor
from memory_node.lessons.log import NullLog
from memory_node.memory import RobotMemory
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.open_planner import open_understander
from memory_node.planner.planner_config import LlmConfig
from memory_node.search.caching_embedder import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.executor.run_files import append_dialogues, dialogues_of, read_dialogues
from training.executor.teacher import Lesson, TeachingPlanner

# Which memory answers, and how often. In the first one memory is compiled at each step, as the planner's node has it.
_COMPILED = "full+experience"
_MODES = {_COMPILED: 0.3, "full": 0.5, "no-long-term": 0.1, "none": 0.1}
# How much of a home's classes a life has never seen when a day begins: in half of them nothing is missing.
_UNKNOWN = (0.0, 0.0, 0.5, 1.0)
# The share of instructions that begin with calls at random.
_STRAYED = 0.3
# Of a run whose prompt is made anew at each step, so many steps are kept: each is a dialogue of its own.
_COMPILED_STEPS = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--scenes", type=Path, required=True, help="scenes.json.gz of the floor plans")
    parser.add_argument("--tasks", type=Path, required=True, help="ALFRED's train tasks (.jsonl or .json, .gz)")
    parser.add_argument("--limit", type=int, default=0, help="carry out a sample of this many (default: all)")
    parser.add_argument("--words", nargs="+", default=(), metavar="WORD", help="only instructions with one of these in")
    parser.add_argument("--seed", type=int, default=0, help="of sample and chance (default 0)")
    parser.add_argument("--out", type=Path, required=True, help="the dialogues; tasks that are in it are left out")


def run(args: argparse.Namespace) -> int:
    """Carry out the tasks and write what each taught; return the exit status."""
    cases = load_cases(args.tasks, "alfred", args.limit, args.seed, "train")
    cases = [case for case in cases if not args.words or any(word in case.instruction.lower() for word in args.words)]
    random.Random(args.seed).shuffle(cases)  # whatever is there when it is ended early is of all homes
    done = {dialogue.task for dialogue in read_dialogues(args.out)} if args.out.exists() else set()
    school = School(Homes(args.scenes, load_catalogue(), args.seed), args.seed)
    taught = 0
    for case, lesson in school.teach([case for case in cases if case.id not in done]):
        if lesson.complete:
            chance = random.Random(f"{args.seed} {case.id}")
            dialogues = dialogues_of(case.id, lesson)
            append_dialogues(args.out, chance.sample(dialogues, min(_COMPILED_STEPS, len(dialogues))))
            taught += 1
    print(f"{taught} runs taught something: {args.out}", file=sys.stderr)
    return 0


class School:
    """Robots in all homes, each with a memory of its own; what experience teaches goes with them from home to home."""

    def __init__(self, homes: Homes, seed: int) -> None:
        kinds = load_catalogue()
        self._homes = homes
        self._embedder = CachingEmbedder(MiniLmEmbedder())
        self._chance = random.Random(seed)
        offline = OfflinePlanner(open_understander(kinds, self._embedder, asks=False), kinds)
        self._planner = TeachingPlanner(offline, kinds, LlmConfig(mode="rank", brief=True), self._chance, _STRAYED)
        self._experience = Experience(ExperienceConfig(), RuleExtractor(), NullLog(), system_clock)
        self._lives: dict[tuple[str, str], Life] = {}

    def teach(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Lesson]]:
        """Yield each case with what it taught."""
        kinds = load_catalogue()
        with progress_bar() as bar:
            progress: Any = bar.add_task("teacher", total=len(cases))
            for case in cases:
                life = self._life(case.floor_plan, *self._chance.choices(list(_MODES), list(_MODES.values())))
                life.run(case, self._homes.world(case), partial(judge_of, case, kinds=kinds))
                yield case, self._planner.lesson
                bar.advance(progress)
        self._experience.close()

    def _life(self, floor_plan: str, mode: str) -> Life:
        if (floor_plan, mode) not in self._lives:
            guidance = _rules_of if mode == _COMPILED else None
            unknown = self._chance.choice(_UNKNOWN)
            life = Life(mode, self._embedder, self._planner, self._experience, guidance=guidance, unknown=unknown)
            self._lives[floor_plan, mode] = life
        return self._lives[floor_plan, mode]


def _rules_of(memory: RobotMemory) -> GuidancePort:
    return memory.guidance.port("rules")
