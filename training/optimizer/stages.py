"""The stages of a run: first attempts, warm start, held-out gain, evolution, held-out gain, adapter and card."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.bank import LessonBank
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.optimizer.attempt import Attempt
from memory_node.lessons.optimizer.curator import Curator
from memory_node.lessons.optimizer.prompt import optimizer_dialogue
from memory_node.lessons.optimizer.rules import RulesOptimizer
from memory_node.lessons.optimizer.vetting import Vetting
from memory_node.llm.chat import RejectedReplyError
from training.adapters.adapter import save_adapter
from training.adapters.example import Example, Speller, answered
from training.adapters.learning import Schedule, learn
from training.adapters.processes import is_first
from training.adapters.writing import Writer
from training.optimizer.evolution import (
    EvolutionSettings,
    HeldOut,
    Judge,
    Progress,
    Task,
    evolve,
    held_out_gain,
    write_card,
)
from training.optimizer.executions import Execution, Executions, judges
from training.optimizer.policy import Policy


def examples_of(
    attempts: Sequence[Attempt],
    bank: LessonBank,
    vetting: Vetting,
    tokens: Speller,
    most_tokens: int,
) -> list[Example]:
    """Return a sequence for each attempt that leaves something: the dialogue, and the reply that is learnt.

    The bank grows meanwhile, so replies of both operations are among them. Attempts are shown none, one, two and all
    three of the entries that they retrieve, in turn: a model that has only seen a full memory copies its wording, and
    has none where nothing is shown. Half of them are not shown what is about their task, as in a young memory: a model
    that has mostly seen an old one takes the first entry for its own, whatever it is about. Longer sequences than
    `most_tokens` are left out.
    """
    examples: list[Example | None] = []
    optimizer = RulesOptimizer()
    curator = Curator(bank, optimizer, vetting)
    for number, attempt in enumerate(attempts):
        turn, count = divmod(number, bank.limits.shown + 1)
        shown = bank.retrieve(attempt.query)[:count]
        curator.learn(attempt)
        if turn % 2:
            shown = _as_in_a_young_memory(attempt, shown, optimizer)
        proposal = optimizer.propose(attempt, shown)
        if proposal.candidate is None:
            continue
        try:
            said = vetting.read(proposal.candidate.text(), attempt, shown)
        except RejectedReplyError:
            continue
        reply = said.text(proposal.analysis)
        examples.append(answered(optimizer_dialogue(attempt, shown), reply, tokens, most_tokens))
    return [example for example in examples if example is not None]


def _as_in_a_young_memory(attempt: Attempt, shown: tuple[Lesson, ...], optimizer: RulesOptimizer) -> tuple[Lesson, ...]:
    """Return the entries without those that the optimizer would replace: beside the rest it adds."""
    candidate = optimizer.propose(attempt, shown).candidate
    if candidate is None or candidate.replaces is None:
        return shown
    rest = shown[: candidate.replaces] + shown[candidate.replaces + 1 :]
    return _as_in_a_young_memory(attempt, rest, optimizer)


Tell = Callable[[str], None]


@dataclass(frozen=True)
class TrainingRun:
    """What a run is made of.

    model, tokens: of the policy. writer_of: opens what writes its replies. executions: of tasks by their places. tasks:
    the text of each. The first `queries` are trained on; the last `held_out` are neither that nor neighbours; those
    between are neighbours only. warm, settings: of the two stages of learning. attempts: what the warm start reads;
    none: those at the queries without memory. executor: what the card calls it. most_tokens: of a dialogue of the warm
    start. suffix: of adapters, see BaseModel.
    """

    model: Any
    tokens: Speller
    writer_of: Callable[[Any], Writer]
    executions: Executions
    embedder: TextEmbedder
    vetting: Vetting
    tasks: Sequence[str]
    queries: int
    held_out: int
    warm: Schedule
    settings: EvolutionSettings
    attempts: Sequence[Attempt] = ()
    executor: str = "policy"
    most_tokens: int = 1024
    suffix: str = ".gguf"


def train(run: TrainingRun, out: Path, tell: Tell) -> Path:
    """Run all stages, each of which goes on from its checkpoint in `out`; return the adapter's file.

    tell: hears how it goes, a line at a time.

    Raises:
        ValueError: a checkpoint is of another run, or no task can be carried out.
    """
    bank = LessonBank(run.embedder)
    known = run.attempts or _first_attempts(run, tell)
    examples = examples_of(known, bank, run.vetting, run.tokens, run.most_tokens)
    losses: Sequence[tuple[int, float]] = ()
    if examples:
        for stage in learn(run.model, examples, run.warm, out / "warm.pt"):
            losses = stage.losses
            tell(f"warm start: {losses[-1][0]} of {len(examples)} examples, loss {losses[-1][1]:.4f}")
    if is_first():
        save_adapter(run.model, out / f"warm_start{run.suffix}")
    policy = Policy(run.model, run.tokens, run.writer_of(run.model))
    tasks = _tasks(run)
    judge = Judge(tasks, run.executions, run.vetting)
    # The banks of held-out tasks stay: for half of them an empty one, for half what the rules left of all attempts.
    empty = LessonBank(run.embedder)
    places = range(len(run.tasks) - run.held_out, len(run.tasks))
    cases = {"empty": [(p, empty) for p in places[::2]], f"{len(bank)} entries": [(p, bank) for p in places[1::2]]}
    before = _judged("after the warm start", policy, cases, judge, tell)
    progress = Progress()
    queries = tasks[: run.queries]
    for progress in evolve(policy, queries, LessonBank(run.embedder), judge, run.settings, out / "checkpoint.pt"):
        row = progress.curve[-1]
        tell(f"{progress.queries} queries, r_fmt {row['r_fmt']:.3f}, r_g {row['r_g']:+.3f}, {row['bank']:.0f} entries")
    after = _judged("at the end", policy, cases, judge, tell)
    adapter = out / f"optimizer{run.suffix}"
    if is_first():
        save_adapter(run.model, adapter)
        warm = (len(examples), losses)
        figures = run.executions.figures()
        judged = (*before, *after)
        write_card(out / "card.md", run.settings, run.executor, warm, judged, progress, figures)
    return adapter


def _first_attempts(run: TrainingRun, tell: Tell) -> list[Attempt]:
    """Return the attempts without memory at the queries that could be carried out.

    Raises:
        ValueError: none can.
    """
    rollouts = run.executions.rollouts([Execution(place, ()) for place in range(run.queries)])
    attempts = [rollout.attempt for rollout in rollouts if rollout.attempt is not None]
    if not attempts:
        raise ValueError(f"no task could be carried out: {rollouts[0].lost}")
    tell(f"{sum(one.success for one in attempts)} of {run.queries} tasks are done without memory")
    return attempts


def _judged(
    when: str, policy: Policy, cases: Mapping[str, Sequence[tuple[int, LessonBank]]], judge: Judge, tell: Tell
) -> list[HeldOut]:
    """Return how the policy does on held-out tasks, with each of the banks."""
    found = []
    for name, tried in cases.items():
        form, gain = held_out_gain(policy, tried, judge)
        found.append(HeldOut(when, name, len(tried), form, gain))
        tell(f"held out {when}, bank {name}: r_fmt {form:.3f}, r_g {gain:+.3f}")
    return found


def _tasks(run: TrainingRun) -> list[Task]:
    near = judges(run.tasks, run.embedder, run.settings.neighbours, trained=len(run.tasks) - run.held_out)
    return [Task(query, places) for query, places in zip(run.tasks, near)]
