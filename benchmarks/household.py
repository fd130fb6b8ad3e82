"""`memory-node bench household`: instructions carried out in the ALFRED homes, with and without memory."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.ablated_memory import MODES
from benchmarks.household_cases import SPLITS, SUITES, Case, load_cases
from benchmarks.household_faults import Faults
from benchmarks.household_homes import Homes
from benchmarks.household_life import Lives, Trial, ignore_trial
from benchmarks.household_metrics import rows_of
from benchmarks.household_stream import ROWS, StreamSetting, run_stream
from benchmarks.model_figures import add_planner_arguments, llm_config
from benchmarks.ranking.ranked_planner import VALUED, open_bench_planner
from benchmarks.rows import emit
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.clock import system_clock
from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.config import GRAPHS, ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import NullLog
from memory_node.planner.executor import ExecutedStep
from memory_node.planner.planner import Planner
from memory_node.planner.planner_config import PLANNERS, OfflineConfig, PlannerConfig
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder

_DEFAULT = ExperienceConfig()


def add_experience_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--working-memory",
        type=int,
        default=_DEFAULT.window,
        metavar="STEPS",
        help=f"steps in working memory (default {_DEFAULT.window})",
    )
    parser.add_argument(
        "--top-k",
        type=int,
        default=_DEFAULT.top_k,
        metavar="K",
        help=f"experiences that are told at most (default {_DEFAULT.top_k})",
    )
    parser.add_argument(
        "--without-graphs",
        nargs="+",
        choices=sorted(GRAPHS),
        default=[],
        metavar="GRAPH",
        help=f"of episodic memory, not told: {', '.join(sorted(GRAPHS))}",
    )


def experience_config(args: argparse.Namespace) -> ExperienceConfig:
    """Return the parameters that the options give.

    Raises:
        InvalidValueError: one is out of its range.
    """
    return _DEFAULT.changed(
        window=args.working_memory,
        top_k=args.top_k,
        graphs=GRAPHS - set(args.without_graphs),
    )


# Failures of one goal after which an executor with faults gives up.
_PATIENCE = 3


def share(text: str) -> float:
    """Return a share from 0 to 1.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, got {text!r}")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's options."""
    parser.add_argument("--scenes", type=Path, required=True, help="scenes.json.gz of the floor plans")
    parser.add_argument("--tasks", type=Path, required=True, help="the suite's instructions (.json or .jsonl, .gz)")
    parser.add_argument("--suite", choices=SUITES, default="alfred")
    parser.add_argument(
        "--split",
        choices=SPLITS,
        default="all",
        help="of alfred: tasks that models may learn from, or the others",
    )
    parser.add_argument("--memory", choices=MODES, default="full", help="which parts of memory answer")
    parser.add_argument("--planner", choices=(*PLANNERS, VALUED), default="offline")
    parser.add_argument("--limit", type=int, default=0, help="carry out a sample of this many (default: all)")
    parser.add_argument(
        "--no-baseline", action="store_true", help="skip the run without memory: no reduced_... figures"
    )
    parser.add_argument(
        "--faults",
        action="store_true",
        help="measure instead what experience is worth to an executor that forgets preparations: a row for each part",
    )
    parser.add_argument("--orders", type=int, default=5, help="with --faults: shuffled orders of the tasks (default 5)")
    parser.add_argument(
        "--rows", nargs="+", choices=tuple(ROWS), default=tuple(ROWS), help="with --faults: these rows (default all)"
    )
    parser.add_argument(
        "--unknown",
        type=share,
        metavar="SHARE",
        help="every instruction is a day of its own, and so much of the home's classes (0 to 1) was not seen before",
    )
    parser.add_argument("--trials", action="store_true", help="print every instruction's outcome to standard error")
    add_experience_arguments(parser)
    add_planner_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the benchmark; return the exit status."""
    cases = load_cases(args.tasks, args.suite, args.limit, args.seed, args.split)
    kinds = load_catalogue()
    embedder = CachingEmbedder(MiniLmEmbedder())
    homes = Homes(args.scenes, kinds, args.seed)
    learning = experience_config(args)
    planner = open_bench_planner(
        args.planner, args.mode, embedder, _settings(args), args.fallback, asks=False, seed=str(args.seed)
    )
    tell = _print_trial if args.trials else ignore_trial
    if args.faults:
        objects = "none" if args.memory in ("none", "experience") else "full"
        setting = StreamSetting(
            homes, embedder, planner, Faults(seed=args.seed), objects, args.orders, args.seed, learning, tell
        )
        emit(run_stream(cases, setting, args.rows), args.json)
        return 0
    trials = live(cases, homes, args.memory, embedder, planner, learning, args.unknown, tell)
    baseline: list[Trial] | None = None
    if args.memory == "none":
        baseline = trials
    elif not args.no_baseline:
        baseline = live(cases, homes, "none", embedder, planner, learning)
    for trial in trials:
        for problem in trial.problems:
            print(f"{trial.case.id}: condition counted as failed: {problem}", file=sys.stderr)
    emit(rows_of(trials, baseline), args.json)
    return 0


def _settings(args: argparse.Namespace) -> PlannerConfig:
    """Return the planner's parameters; with faults one whose patience ends as early as a person's would."""
    offline = OfflineConfig(max_failures=_PATIENCE) if args.faults else OfflineConfig()
    return PlannerConfig(offline=offline, llm=llm_config(args))


def live(
    cases: Sequence[Case],
    homes: Homes,
    mode: str,
    embedder: TextEmbedder,
    planner: Planner,
    learning: ExperienceConfig,
    unknown: float | None = None,
    on_trial: Callable[[Trial], None] = ignore_trial,
) -> list[Trial]:
    """Carry out all cases and return their trials in order.

    All of a floor plan are one life; with `unknown` each is its own, and so much of the home was not seen before.
    on_trial: is told each as it ends.
    """
    # What the robot learns from its episodes goes with it from home to home.
    experience = Experience(learning, NullLog(), system_clock)
    lives, trials = Lives(mode, homes, embedder, planner, experience, unknown=unknown), []
    with progress_bar() as bar:
        task: Any = bar.add_task(f"memory {mode}", total=len(cases))
        for case in cases:
            trials.append(lives.run(case))
            on_trial(trials[-1])
            bar.advance(task)
    return trials


def _print_trial(trial: Trial) -> None:
    result = trial.result
    said = "ok  " if trial.success else "FAIL"
    lines = [f"{said} {trial.met}/{trial.conditions} {trial.case.id}: {trial.case.instruction}"]
    if not trial.success:
        lines.append(f"     goals: {'; '.join(result.outcome.goals)}")
        lines += [f"     {failure}" for failure in (*result.outcome.failures, result.failure) if failure]
        lines += [f"       {step.step.goal_index} {_outcome_of(step)}" for step in result.steps]
    print("\n".join(lines), file=sys.stderr, flush=True)


def _outcome_of(step: ExecutedStep) -> str:
    return f"{step.step.call}" + ("" if step.result.success else f": {step.result.reason}")
