"""The rows of the benchmark, their matrix and its drawings: what each memory is worth to its own category."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.life.day_form import CATEGORIES
from benchmarks.life.day_run import DayReport, StepReport
from benchmarks.life.switches import COMPILER, KARMA, LEAST_COST, OWN, CacheSetting
from benchmarks.rows import mean_of

EVERYTHING = "all"
Row = Mapping[str, Any]
Success = dict[tuple[str, str, str], dict[str, float]]
COLUMNS = (*CATEGORIES, EVERYTHING)
_FIGURES = {
    "hit_rate_warm": "hit rate after warm-up",
    "success_rate": "success",
    "reduced_exploration": "reduced exploration",
}


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

    def reduced(row: Mapping[str, Any]) -> float | None:
        most = base.get(row["category"])
        return round(1.0 - row["searches"] / most, 3) if most else None

    return [{**row, "reduced_exploration": reduced(row)} for row in rows] if base else list(rows)


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


def success_of(rows: Iterable[Row]) -> Success:
    """Return the success rate by setting (planner, without, shuffled) and category."""
    found: Success = {}
    for row in rows:
        setting = (row["planner"], row["without"] or "", row["shuffled"] or "")
        found.setdefault(setting, {})[row["category"]] = row["success_rate"]
    return found


def effect_of(setting: tuple[str, str, str], success: Success) -> str:
    """Return what removing or shuffling a memory costs its own category, in words; "" where that was not done.

    Where it has two categories, the one that it costs most counts.
    """
    planner, without, shuffled = setting
    memory = without or shuffled
    base = success.get((planner, "", ""))
    if not memory or base is None:
        return ""
    own = (EVERYTHING,) if memory == COMPILER else OWN[memory]
    costs = {one: base[one] - success[setting][one] for one in own if one in base and one in success[setting]}
    if not costs:
        return "its own category was not played"
    category = max(costs, key=lambda one: costs[one])
    said = f"costs {costs[category]:+.2f} on {category}".replace("+-", "-")
    # Sums of shares such as 0.8 - 0.5 miss 0.3 by a rounding error.
    return said if costs[category] >= LEAST_COST - 1e-9 else f"{said}: without effect"


def print_matrix(rows: Sequence[Row]) -> None:
    """Print success by setting and category, and what each removal costs."""
    success = success_of(rows)
    table = Table()
    table.add_column("success_rate")
    columns = [one for one in COLUMNS if any(one in shares for shares in success.values())]
    for column in columns:
        table.add_column(column, justify="right")
    table.add_column("removed or shuffled")
    for setting, shares in success.items():
        cells = [f"{shares[one]:.2f}" if one in shares else "" for one in columns]
        table.add_row(name_of(setting), *cells, effect_of(setting, success))
    Console(width=None if sys.stdout.isatty() else 220).print(table)


def draw_matrix(rows: Sequence[Row], path: Path) -> None:
    """Draw the matrix as a heat map."""
    from matplotlib.figure import Figure

    success = success_of(rows)
    columns = [one for one in COLUMNS if any(one in shares for shares in success.values())]
    values = [[shares.get(one, float("nan")) for one in columns] for shares in success.values()]
    figure = Figure(figsize=(2.5 + 0.9 * len(columns), 1.5 + 0.45 * len(success)), layout="constrained")
    axes = figure.add_subplot()
    picture = axes.imshow(values, vmin=0.0, vmax=1.0, cmap="viridis", aspect="auto")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(success)), [name_of(one) for one in success])
    for row, shares in enumerate(success.values()):
        for column, name in enumerate(columns):
            if name in shares:
                dark = shares[name] < 0.5
                axes.text(column, row, f"{shares[name]:.2f}", ha="center", va="center", color="w" if dark else "k")
    axes.set_title("Days of which every judged step is right")
    figure.colorbar(picture, ax=axes, label="share of days")
    figure.savefig(path, dpi=150)


def draw_sweep(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw hit rate, success and reduced exploration over all days against the capacity, a line a policy."""
    from matplotlib.figure import Figure

    chosen = [row for row in rows if row["category"] == "all" and not row["without"]]
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    for axes, (key, title) in zip(figure.subplots(1, len(_FIGURES)), _FIGURES.items()):
        for policy in dict.fromkeys(row["policy"] for row in chosen):
            known = [row for row in chosen if row["policy"] == policy and row.get(key) is not None]
            points = sorted((row["capacity"], row[key]) for row in known)
            axes.plot([x for x, _ in points], [y for _, y in points], marker="o", label=policy)
        axes.set_title(title)
        axes.set_xlabel("capacity (things)")
    axes.legend()
    figure.savefig(path, dpi=150)
