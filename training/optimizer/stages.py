"""The stages of a run: first attempts, warm start, held-out gain, evolution, held-out gain, adapter and card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_node.domain.ports import TextEmbedder
from memory_node.experience.optimizer.attempt import Attempt
from memory_node.experience.optimizer.bank import MemoryBank
from memory_node.experience.optimizer.vetting import Vetting
from training.adapters.adapter import save_adapter
from training.adapters.learning import Schedule, learn
from training.adapters.processes import is_first
from training.optimizer.card import HeldOut, write_card
from training.optimizer.dialogue_tokens import DialogueTokens
from training.optimizer.evolution import EvolutionSettings, Judge, Progress, Task, evolve, held_out_gain
from training.optimizer.executions import Execution, Executions
from training.optimizer.neighbourhood import neighbourhoods
from training.optimizer.policy import Policy
from training.optimizer.warm_start import examples_of

Tell = Callable[[str], None]


@dataclass(frozen=True)
class TrainingRun:
    """What a run is made of.

    model, tokens: of the policy. executions: of tasks by their places; the first `queries` are trained on, `held_out`
    ones behind them are not. neighbours: tasks that judge a memory; 0: the task itself, an ablation. warm, settings: of
    the two stages of learning. executor: what the card calls it. most_tokens: of a dialogue of the warm start;
    reply_tokens: of a sampled reply.
    """

    model: Any
    tokens: DialogueTokens
    executions: Executions
    embedder: TextEmbedder
    vetting: Vetting
    queries: int
    held_out: int
    neighbours: int
    warm: Schedule
    settings: EvolutionSettings
    executor: str = "policy"
    most_tokens: int = 1024
    reply_tokens: int = 200
    temperature: float = 1.0


def train(run: TrainingRun, out: Path, tell: Tell) -> Path:
    """Run all stages, each of which goes on from its checkpoint in `out`; return the adapter's file.

    tell: hears how it goes, a line at a time.

    Raises:
        ValueError: a checkpoint is of another run, or no task can be carried out.
    """
    attempts = _first_attempts(run)
    tell(f"{sum(one.success for one in attempts[: run.queries])} of {run.queries} tasks are done without memory")
    bank = MemoryBank(run.embedder)
    known = [attempt for attempt in attempts[: run.queries] if attempt.deeds]
    examples = examples_of(known, bank, run.vetting, run.tokens, run.most_tokens)
    losses: Sequence[tuple[int, float]] = ()
    if examples:
        for stage in learn(run.model, examples, run.warm, out / "warm.pt"):
            losses = stage.losses
            tell(f"warm start: {losses[-1][0]} of {len(examples)} examples, loss {losses[-1][1]:.4f}")
    policy = Policy(run.model, run.tokens, run.reply_tokens, run.temperature)
    judge = Judge(_tasks(run, attempts), run.executions, run.vetting)
    # The banks of held-out tasks stay: what the rules left of the train tasks.
    cases = [(place, bank) for place in range(run.queries, run.queries + run.held_out)]
    before = HeldOut(len(cases), *held_out_gain(policy, cases, judge))
    tell(f"held out after the warm start: r_fmt {before.form:.3f}, r_g {before.gain:+.3f}")
    progress = Progress()
    tasks = _tasks(run, attempts)[: run.queries]
    for progress in evolve(policy, tasks, MemoryBank(run.embedder), judge, run.settings, out / "checkpoint.pt"):
        row = progress.curve[-1]
        tell(f"{progress.queries} queries, r_fmt {row['r_fmt']:.3f}, r_g {row['r_g']:+.3f}, {row['bank']:.0f} entries")
    after = HeldOut(len(cases), *held_out_gain(policy, cases, judge))
    tell(f"held out at the end: r_fmt {after.form:.3f}, r_g {after.gain:+.3f}")
    adapter = out / "optimizer.gguf"
    if is_first():
        save_adapter(run.model, adapter)
        warm = (len(examples), losses)
        figures = run.executions.figures()
        write_card(out / "card.md", run.settings, run.executor, warm, before, after, progress, figures)
    return adapter


def _first_attempts(run: TrainingRun) -> list[Attempt]:
    """Return every task's attempt without memory; one that cannot be carried out has no deeds.

    Raises:
        ValueError: none can.
    """
    rollouts = run.executions.rollouts([Execution(place, ()) for place in range(run.queries + run.held_out)])
    attempts = [rollout.attempt or Attempt(f"q{place}", "no task", (), False) for place, rollout in enumerate(rollouts)]
    if not any(attempt.deeds for attempt in attempts[: run.queries]):
        raise ValueError(f"no task could be carried out: {rollouts[0].lost}")
    return attempts


def _tasks(run: TrainingRun, attempts: Sequence[Attempt]) -> list[Task]:
    queries = [attempt.query for attempt in attempts]
    if run.neighbours:
        near = neighbourhoods(queries, run.embedder, run.neighbours, among=run.queries)
    else:
        near = [(place,) for place in range(len(queries))]
    return [Task(query, places) for query, places in zip(queries, near)]
