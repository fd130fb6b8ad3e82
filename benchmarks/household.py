"""`memory-node bench household`: instructions carried out in the ALFRED homes, with and without memory."""

from __future__ import annotations

import argparse
import enum
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.ablated_memory import MODES
from benchmarks.household_cases import SPLITS, SUITES, Case, load_cases
from benchmarks.household_faults import Faults
from benchmarks.household_homes import Homes
from benchmarks.household_life import Lives, Trial, ignore_trial
from benchmarks.model_figures import add_planner_arguments, llm_config, model_figures
from benchmarks.ranking.ranked_planner import BY_CHANCE, open_bench_planner
from benchmarks.rows import emit, share_of, shuffled
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.clock import system_clock
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason
from memory_node.lessons.config import GRAPHS, ExperienceConfig, OptimizerConfig, OptimizerKind, Part
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import ExperienceLog
from memory_node.lessons.optimizer.curator import open_curator
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.executor import ExecutedStep
from memory_node.planner.planner import Planner
from memory_node.planner.planner_config import PLANNERS, OfflineConfig, PlannerConfig
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder

_PERCEPTION = frozenset({FailureReason.NOT_FOUND, FailureReason.NOT_VISIBLE, FailureReason.WRONG_OBJECT})
_EXECUTION = frozenset(
    {FailureReason.UNREACHABLE, FailureReason.EXECUTION, FailureReason.TIMEOUT, FailureReason.CANCELED}
)


class ErrorKind(str, enum.Enum):
    """What an instruction failed of; the first that fits."""

    QUESTION = "question"  # the robot asked instead
    NO_PLAN = "no_plan"  # nothing was begun: the instruction was not understood, or no reply could be used
    WRONG_TERMINATION = "wrong_termination"  # reasoning: the planner takes for done what is not
    PERCEPTION = "perception"  # the last failed skill did not find its thing, or had a wrong one
    PLANNING = "planning"  # the last failed skill lacked a step before it, or could not be called so
    EXECUTION = "execution"  # the last failed skill failed by itself
    UNFINISHED = "unfinished"  # no skill failed, and the steps or the time ran out

    def __str__(self) -> str:
        return self.value


def error_counts(trials: Sequence[Trial]) -> dict[str, int]:
    """Return how many trials failed of each kind, without those that none did."""
    kinds = Counter(error_of(trial) for trial in trials if not trial.success)
    return {str(kind): kinds[kind] for kind in ErrorKind if kinds[kind]}


def error_of(trial: Trial) -> ErrorKind:
    """Return what a failed trial failed of."""
    result = trial.result
    if result.outcome.question:
        return ErrorKind.QUESTION
    if not result.steps:
        return ErrorKind.NO_PLAN
    if result.success:
        return ErrorKind.WRONG_TERMINATION
    reasons = [step.result.reason for step in result.steps if not step.result.success]
    if not reasons:
        return ErrorKind.UNFINISHED
    if reasons[-1] in _PERCEPTION:
        return ErrorKind.PERCEPTION
    return ErrorKind.EXECUTION if reasons[-1] in _EXECUTION else ErrorKind.PLANNING


def rows_of(
    trials: Sequence[Trial], baseline: Sequence[Trial] | None, planner: str = "offline"
) -> list[dict[str, Any]]:
    """Return one row a category and one for "all"; baseline: the same cases without memory, None leaves them out."""
    categories = list(dict.fromkeys(trial.case.category for trial in trials))
    rows = []
    for category in [*categories, "all"]:
        chosen = [trial for trial in trials if category in (trial.case.category, "all")]
        names = {trial.case.id for trial in chosen}
        without = None if baseline is None else [trial for trial in baseline if trial.case.id in names]
        rows.append({"planner": planner} | _row(category, chosen, without))
    return rows


def _row(category: str, trials: Sequence[Trial], baseline: Sequence[Trial] | None) -> dict[str, Any]:
    lookups = sum(len(trial.result.lookups) for trial in trials)
    return {
        "category": category,
        "tasks": len(trials),
        "success_rate": share_of(sum(trial.success for trial in trials), len(trials)),
        "goal_condition_rate": share_of(sum(trial.met for trial in trials), sum(trial.conditions for trial in trials)),
        "memory_retrieval_accuracy": share_of(
            sum(trial.recalls_right for trial in trials), sum(trial.recalls for trial in trials)
        ),
        "lookup_accuracy": share_of(
            sum(trial.lookups_right for trial in trials), sum(trial.lookups_needed for trial in trials)
        ),
        "memory_hit_rate": share_of(sum(trial.result.lookups_hit for trial in trials), lookups),
        "reduced_exploration": _reduced([trial.result.explorations for trial in trials], baseline, "explorations"),
        "reduced_time": _reduced([trial.result.skill_s for trial in trials], baseline, "skill_s"),
        "skills_mean": share_of(sum(trial.result.skills for trial in trials), len(trials)),
        "distance_mean_m": share_of(sum(trial.result.distance_m for trial in trials), len(trials)),
        "context_tokens_mean": share_of(sum(trial.context_tokens for trial in trials), len(trials)),
        "errors": error_counts(trials),
        **model_figures(trials),
    }


def _reduced(values: Sequence[float], baseline: Sequence[Trial] | None, name: str) -> float | None:
    if baseline is None:
        return None
    before = sum(float(getattr(trial.result, name)) for trial in baseline)
    return round(1.0 - sum(values) / before, 4) if before else None


_ALL: frozenset[Part] = frozenset({"working", "episodic", "semantic"})


@dataclass(frozen=True)
class Row:
    """Which parts of experience answer, whether a failed task is tried again, and who writes the bank of memories."""

    parts: frozenset[Part] = frozenset()
    retries: bool = False
    optimizer: OptimizerKind = "none"


# First BrainMem's ablation, each row with all parts of those above it; then the optimizer's bank with all of them.
ROWS: dict[str, Row] = {
    "none": Row(),
    "+working": Row(frozenset({"working"})),
    "+episodic": Row(frozenset({"working", "episodic"})),
    "+semantic": Row(_ALL),
    "+feedback": Row(_ALL, retries=True),
    "+optimizer": Row(_ALL, retries=True, optimizer="rules"),
    "episodic alone": Row(frozenset({"episodic"})),
    "semantic alone": Row(frozenset({"semantic"})),
}


@dataclass(frozen=True)
class StreamSetting:
    """What all rows share. objects: the mode of object memory, "full" or "none". experience: all but its parts.
    on_trial: is told each first attempt as it ends."""

    homes: Homes
    embedder: TextEmbedder
    planner: Planner
    faults: Faults
    objects: str = "full"
    orders: int = 5
    seed: int = 0
    experience: ExperienceConfig = field(default_factory=ExperienceConfig)
    on_trial: Callable[[Trial], None] = ignore_trial


def run_stream(
    cases: Sequence[Case], setting: StreamSetting, names: Sequence[str] = tuple(ROWS)
) -> Iterator[dict[str, Any]]:
    """Yield one row for each name, with means and standard deviations over the orders, when it is whole."""
    with progress_bar() as bar:
        for name in names:
            task: Any = bar.add_task(f"experience {name}", total=len(cases) * setting.orders)
            advance = partial(bar.advance, task)
            streams = [_live(cases, setting, name, order, advance) for order in range(setting.orders)]
            yield _stream_row(name, streams)


def _live(
    cases: Sequence[Case], setting: StreamSetting, name: str, order: int, advance: Callable[[], object]
) -> list[Trial]:
    """Carry out the cases in one shuffled order with a robot that has learnt nothing yet; return the first attempts."""
    row, kinds = ROWS[name], load_catalogue()
    config = setting.experience.changed(parts=row.parts)
    curator = open_curator(OptimizerConfig(kind=row.optimizer), setting.embedder, kinds, ModelShelf())
    experience = Experience(config, ExperienceLog(), system_clock, kinds=kinds, curator=curator)
    mode = (("full+" if setting.objects == "full" else "") + "experience") if row.parts else setting.objects
    lives = Lives(mode, setting.homes, setting.embedder, setting.planner, experience, setting.faults, setting.seed)
    trials = []
    for case in shuffled(cases, setting.seed, order):
        trials.append(lives.run(case))
        setting.on_trial(trials[-1])
        attempt, success = 1, trials[-1].success
        while row.retries and not success and experience.may_retry(attempt):
            attempt += 1
            success = lives.run(case, attempt).success
        advance()
    experience.close()
    return trials


def _stream_row(name: str, streams: Sequence[Sequence[Trial]]) -> dict[str, Any]:
    def over_orders(figure: Callable[[Sequence[Trial]], float]) -> tuple[float, float]:
        values = [figure(trials) for trials in streams]
        return round(statistics.fmean(values), 4), round(statistics.stdev(values), 4) if len(values) > 1 else 0.0

    success, success_std = over_orders(lambda trials: statistics.fmean(trial.success for trial in trials))
    met, met_std = over_orders(lambda trials: sum(t.met for t in trials) / max(sum(t.conditions for t in trials), 1))
    skills, _ = over_orders(lambda trials: statistics.fmean(trial.result.skills for trial in trials))
    repeated, _ = over_orders(_repeated_failures)
    tokens, _ = over_orders(lambda trials: statistics.fmean(trial.context_tokens for trial in trials))
    return {
        "experience": name,
        "tasks": len(streams[0]),
        "orders": len(streams),
        "success_rate": success,
        "success_std": success_std,
        "goal_condition_rate": met,
        "goal_condition_std": met_std,
        "skills_mean": skills,
        "repeated_failures": repeated,
        "context_tokens_mean": tokens,
    }


def _repeated_failures(trials: Sequence[Trial]) -> float:
    """Return how many failures a task has that were met before in the stream: same skill, classes and reason."""
    met: set[str] = set()
    repeated = 0
    for trial in trials:
        for failure in trial.failures:
            if not FailureReason(failure.rpartition(": ")[2]).by_chance:
                repeated += failure in met
                met.add(failure)
    return repeated / max(len(trials), 1)


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
    parser.add_argument("--planner", choices=(*PLANNERS, *BY_CHANCE), default="offline")
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

    def opened(name: str) -> Planner:
        settings = _settings(args)
        return open_bench_planner(name, args.mode, embedder, settings, args.fallback, asks=False, seed=str(args.seed))

    planner = opened(args.planner)
    beside = BY_CHANCE if args.planner == "llm" else ()  # whatever a model is worth is more than chance
    tell = _print_trial if args.trials else ignore_trial
    if args.faults:
        objects = "none" if args.memory in ("none", "experience") else "full"
        setting = StreamSetting(
            homes, embedder, planner, Faults(seed=args.seed), objects, args.orders, args.seed, learning, tell
        )
        for name, names in ((args.planner, args.rows), *((one, ("none",)) for one in beside)):
            rows = run_stream(cases, replace(setting, planner=planner if name == args.planner else opened(name)), names)
            emit(({"planner": name} | row for row in rows), args.json)
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
    emit(rows_of(trials, baseline, args.planner), args.json)
    for name in beside:
        drawn = live(cases, homes, args.memory, embedder, opened(name), learning, args.unknown, tell)
        emit(rows_of(drawn, None, name), args.json)
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
    experience = Experience(learning, ExperienceLog(), system_clock)
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
