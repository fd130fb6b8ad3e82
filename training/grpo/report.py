"""What a run of reinforcement leaves: weights, the curve as a picture, and a card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from training.grpo.learning import Curve, GrpoSchedule
from training.softmem.soft_pair import SoftPair
from training.softmem.weights import save_soft_memory

# Updates over which the reward is smoothed.
_WINDOW = 4


def write_report(
    folder: Path, command: str, schedule: GrpoSchedule, curve: Curve, before: Any, after: Any, pair: SoftPair
) -> None:
    """Write full.npz where there is a soft memory, curve.png and card.md."""
    if pair.soft.tokens:
        save_soft_memory(pair.soft, folder / "full.npz")
    _draw(smoothed(curve.rewards), curve.rewards, folder / "curve.png")
    rows = (f"| {number} | {reward:.3f} |" for number, reward in enumerate(curve.rewards, 1))
    told = (
        f"# Compiler {'and soft memory' if pair.soft.tokens else 'in words'}, reinforced",
        f"{curve.updates} updates of {schedule.tasks} games with {schedule.rollouts} rollouts each, rate"
        f" {schedule.rate:g}, temperature {schedule.temperature:g}, seed {schedule.seed}. The reward is 1 for a game"
        " that is won; the executor is frozen.",
        f"Games that nobody learnt from, played with the likeliest replies: before {before}, after {after}.",
        f"    {command}",
        "\n".join(("| update | games won |", "|---|---|", *rows)),
    )
    (folder / "card.md").write_text("\n\n".join(told) + "\n", "utf-8")


def smoothed(rewards: list[float]) -> list[float]:
    """Return the mean of the last rewards at each update."""
    windows = (rewards[max(0, end - _WINDOW) : end] for end in range(1, len(rewards) + 1))
    return [sum(window) / len(window) for window in windows]


def _draw(smooth: list[float], rewards: list[float], path: Path) -> None:
    figure = Figure(figsize=(6.0, 3.5), layout="constrained")
    axes = figure.add_subplot()
    updates = range(1, len(rewards) + 1)
    axes.plot(updates, rewards, "o", alpha=0.4, label="of an update")
    axes.plot(updates, smooth, label=f"mean of {_WINDOW} updates")
    axes.set(xlabel="update", ylabel="games won", ylim=(0.0, 1.05))
    axes.legend()
    figure.savefig(path, dpi=120)
