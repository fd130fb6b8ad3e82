"""The rows of the benchmark: what all scenarios of a category came to under one setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.averages import mean_of
from benchmarks.life.day_form import CATEGORIES
from benchmarks.life.day_run import DayReport, StepReport
from benchmarks.life.sweep import CacheSetting
from benchmarks.life.switches import KARMA

EVERYTHING = "all"


@dataclass(frozen=True)
class Setting:
    """Who plays.

    without: the memory that is not read; shuffled: the one that holds what another scenario's did; "" for none. cache:
    of the short-term memory, None for the shipped one. seeds: how often each scenario is played; the rows are means.
    """

    planner: str = "offline"
    without: str = ""
    shuffled: str = ""
    seeds: int = 1
    cache: CacheSetting | None = None

    @property
    def name(self) -> str:
        """What the setting is called."""
        said = name_of((self.planner, self.without, self.shuffled))
        return said if self.cache is None else f"{said}, {self.cache.policy} of {self.cache.capacity}"


def name_of(setting: tuple[str, str, str]) -> str:
    """Return what planner, memory that is off and memory that is shuffled are called together."""
    planner, without, shuffled = setting
    said = f"without {without}" if without else f"shuffled {shuffled}" if shuffled else "everything"
    return f"{planner}, {said}"


def rows_of(setting: Setting, reports: Sequence[DayReport]) -> Iterator[dict[str, Any]]:
    """Yield a row for each category, and one for all of them."""
    sound = [report for report in reports if not report.broken]
    for category in (*CATEGORIES, EVERYTHING):
        chosen = [report for report in sound if category in (EVERYTHING, report.category)]
        if chosen:
            yield _row(setting, category, chosen)


def _row(setting: Setting, category: str, reports: Sequence[DayReport]) -> dict[str, Any]:
    steps = [step for report in reports for step in report.judged]
    times = max(setting.seeds, 1)
    lookups = sum(report.lookups for report in reports)
    return {
        "planner": setting.planner,
        "without": setting.without or None,
        "shuffled": setting.shuffled or None,
        **_cache_figures(setting, reports),
        "category": category,
        "scenarios": len({report.id for report in reports}),
        "steps_judged": len(steps) // times,
        "success_rate": mean_of([report.right for report in reports]),
        "wrong_things": _over(times, sum(step.wrong_things for step in steps)),
        "needless_questions": _over(times, sum(step.needless_question for step in steps)),
        "hit_rate": round(sum(report.hits for report in reports) / lookups, 3) if lookups else None,
        "calls_mean": mean_of([len(step.calls) for step in steps], 1),
        "metres_mean": mean_of([step.metres for step in steps], 2),
        "tokens_in_mean": mean_of([step.tokens_in for step in steps], 1),
        "tokens_new_mean": mean_of([step.tokens_new for step in steps], 1),
    }


def _cache_figures(setting: Setting, reports: Sequence[DayReport]) -> dict[str, Any]:
    """Return the figures of a sweep; nothing without one."""
    if setting.cache is None:
        return {}
    lookups = sum(report.warm_lookups for report in reports)
    return {
        "policy": setting.cache.policy,
        "capacity": setting.cache.capacity,
        "hit_rate_warm": round(sum(report.warm_hits for report in reports) / lookups, 3) if lookups else None,
        "searches": sum(step.searches for report in reports for step in report.judged),
    }


def with_reduced_exploration(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of a sweep with 1 - searches / searches without short-term memory, as KARMA has it.

    Other rows stay as they are.
    """
    base = {row["category"]: row["searches"] for row in rows if row["without"] == KARMA and "searches" in row}
    if not base:
        return list(rows)
    return [
        {**row, "reduced_exploration": round(1.0 - row["searches"] / base[row["category"]], 3)}
        if base.get(row["category"])
        else {**row, "reduced_exploration": None}
        for row in rows
    ]


def _over(times: int, count: int) -> float:
    return count if times == 1 else round(count / times, 2)


def scenario_row(setting: Setting, report: DayReport) -> dict[str, Any]:
    """Return one scenario's row, with what was expected and what came."""
    return {
        "planner": setting.planner,
        "without": setting.without or None,
        "shuffled": setting.shuffled or None,
        "category": report.category,
        "scenario": report.id,
        "right": report.right,
        "broken": report.broken,
        "crash": report.crash,
        "steps": [_step_row(step) for step in report.steps],
    }


def _step_row(step: StepReport) -> dict[str, Any]:
    problems = dict(step.verdict.problems) if step.verdict is not None else None
    return {
        "event": step.index,
        "words": step.words,
        "right": step.verdict.right if step.verdict is not None else None,
        "problems": problems,
        "done": step.success,
        "asked": step.asked,
        "said": step.said,
        "calls": list(step.calls),
        "metres": round(step.metres, 2),
    }
