"""A stream of tasks in shuffled orders under injected faults, with and without each part of experience."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks.household_cases import Case
from benchmarks.household_faults import Faults
from benchmarks.household_homes import Homes
from benchmarks.household_life import Lives, Trial, ignore_trial
from benchmarks.rows import shuffled
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.clock import system_clock
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason
from memory_node.lessons.config import ExperienceConfig, OptimizerConfig, OptimizerKind, Part
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import NullLog
from memory_node.lessons.optimizer.curator import open_curator
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.planner import Planner

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
            yield _row(name, streams)


def _live(
    cases: Sequence[Case], setting: StreamSetting, name: str, order: int, advance: Callable[[], object]
) -> list[Trial]:
    """Carry out the cases in one shuffled order with a robot that has learnt nothing yet; return the first attempts."""
    row, kinds = ROWS[name], load_catalogue()
    config = setting.experience.changed(parts=row.parts)
    curator = open_curator(OptimizerConfig(kind=row.optimizer), setting.embedder, kinds, ModelShelf())
    experience = Experience(config, NullLog(), system_clock, kinds=kinds, curator=curator)
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


def _row(name: str, streams: Sequence[Sequence[Trial]]) -> dict[str, Any]:
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
