"""The card that goes with an adapter: what it learnt from, how, and how its loss fell."""

from __future__ import annotations

from pathlib import Path

from training.executor.learning import Progress, Schedule

_ROWS = 12


def write_card(path: Path, schedule: Schedule, progress: Progress, examples: int, size_bytes: int) -> None:
    """Write the card as Markdown: no figure of a benchmark, for these are measured, not trained."""
    step = max(1, len(progress.losses) // _ROWS)
    windows = [progress.losses[start : start + step] for start in range(0, len(progress.losses), step)]
    rows = [f"| {window[-1][0]} | {sum(loss for _, loss in window) / len(window):.3f} |" for window in windows]
    told = (
        f"A LoRA adapter ({size_bytes / 1e6:.1f} MB) of the embedded model. It chooses the next command of an ALFWorld",
        f"game among the admissible ones by likelihood. It learnt from {examples} train games that the offline planner",
        f"won, {progress.games} over all epochs; nothing of a game's solution was used. A quarter of the steps had the",
        "right command as advice, a quarter one of another game, the others none.",
        "",
        f"Learning rate {schedule.rate:g}, {schedule.games_per_update} games an update, {schedule.epochs} epoch(s),",
        f"seed {schedule.seed}.",
        "",
        "| games | loss of a command's token |",
        "|---|---|",
    )
    text = "\n".join(("# Executor policy", "", *told, *rows, ""))
    path.write_text(text, encoding="utf-8")
