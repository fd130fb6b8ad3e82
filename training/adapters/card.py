"""The card of an adapter: its data, its recipe, and its loss curve."""

from __future__ import annotations

from pathlib import Path

from training.adapters.learning import Progress, Schedule

_ROWS = 12


def write_card(
    path: Path, title: str, told: str, kind: str, command: str, schedule: Schedule, progress: Progress
) -> None:
    """Write the card as Markdown: no figure of a benchmark, for these are measured, not trained.

    told: what the weights do, and what they learnt from. kind: what they are. command: with which they were made.
    """
    step = max(1, len(progress.losses) // _ROWS)
    windows = [progress.losses[start : start + step] for start in range(0, len(progress.losses), step)]
    rows = [f"| {window[-1][0]} | {sum(loss for _, loss in window) / len(window):.3f} |" for window in windows]
    recipe = (
        f"{kind}. {progress.taken} examples over all epochs. Learning rate"
        f" {schedule.rate:g}, {schedule.per_update} examples an update, {schedule.epochs} epoch(s), seed"
        f" {schedule.seed}."
    )
    table = ("| examples | loss of a learnt token |", "|---|---|", *rows)
    path.write_text("\n".join((f"# {title}", "", told, "", recipe, "", f"    {command}", "", *table, "")), "utf-8")
