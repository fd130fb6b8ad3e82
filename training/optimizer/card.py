"""The card that goes with a trained optimizer: what it learnt from, how, and its curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from training.optimizer.evolution import EvolutionSettings, Progress

_ROWS = 24


@dataclass(frozen=True)
class HeldOut:
    """Mean r_fmt and r_g of greedy replies on held-out tasks with a bank that stays.

    when: at which point of the run; bank: which bank; tasks: how many.
    """

    when: str
    bank: str
    tasks: int
    form: float
    gain: float


def write_card(
    path: Path,
    settings: EvolutionSettings,
    executor: str,
    first_entries: int,
    warm: tuple[int, Sequence[tuple[int, float]]],
    held_out: Sequence[HeldOut],
    progress: Progress,
    executions: dict[str, int],
) -> None:
    """Write the card as Markdown. first_entries: of the bank that the first query found. warm: examples of the warm
    start, and (examples seen, loss) after each update."""
    grpo = settings.grpo
    judges = f"the {settings.neighbours} nearest other tasks" if settings.neighbours else "the same task once more"
    examples, losses = warm
    lines = [
        "# Optimizer of memory",
        "",
        "A LoRA adapter of the embedded model. It reads an attempt at a task and the memories that the task retrieves,",
        "and says what to remember, as something new or in the place of one of them. It is judged by what that does",
        f"for {judges}, carried out by a frozen executor ({executor}).",
        "",
        f"Warm start: {examples} well-formed analyses of train attempts by the deterministic optimizer: it",
        "imitates the rules, and only what the reward below has changed is its own.",
    ]
    if losses:
        lines.append(
            f"Loss of a reply's token: {losses[0][1]:.3f} at first, {losses[-1][1]:.3f} after {losses[-1][0]}."
        )
    lines += [
        "",
        f"Reinforcement: {progress.queries} queries, {settings.group} candidates each, {settings.batch} queries an",
        f"update, rate {grpo.rate:g}, clip {grpo.clip:g}, KL {grpo.kl:g}, masked: {grpo.masked}, seed {settings.seed}.",
        f"The first query found a bank of {first_entries} entries.",
        f"Rollouts: {executions['run']} run, {executions['cached']} known already, {executions['again']} run again",
        f"after their process died, {executions['lost']} of these in vain (they count as failures).",
        "",
        "Held-out tasks, greedy, each with a bank that stays:",
        "",
        "| | bank | tasks | r_fmt | r_g |",
        "|---|---|---|---|---|",
        *(f"| {one.when} | {one.bank} | {one.tasks} | {one.form:.3f} | {one.gain:+.3f} |" for one in held_out),
        "",
        "In training, means of the sampled candidates:",
        "",
        "| queries | r_fmt | r_g | bank | KL | clipped |",
        "|---|---|---|---|---|---|",
    ]
    step = max(1, len(progress.curve) // _ROWS)
    for row in progress.curve[::step]:
        kl, clipped = row.get("kl", 0.0), row.get("clipped", 0.0)
        shown = f"{row['r_fmt']:.3f} | {row['r_g']:+.3f} | {row['bank']:.0f} | {kl:.4f} | {clipped:.3f}"
        lines.append(f"| {row['queries']:.0f} | {shown} |")
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
