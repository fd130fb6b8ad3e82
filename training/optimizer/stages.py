"""The stages of a run: first attempts, warm start, held-out gain, evolution, held-out gain, adapter and card."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.bank import LessonBank
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.optimizer.attempt import Attempt
from memory_node.lessons.optimizer.curator import Curator, vetted
from memory_node.lessons.optimizer.prompt import OptimizerPrompts
from memory_node.lessons.optimizer.rules import RulesOptimizer
from memory_node.lessons.optimizer.vetting import Vetting
from memory_node.llm.chat import RejectedReplyError
from training.adapters.adapter import save_adapter
from training.adapters.example import Example, Speller
from training.adapters.learning import Schedule, learn
from training.adapters.processes import is_first
from training.adapters.writing import Writer
from training.optimizer.card import HeldOut, write_card
from training.optimizer.evolution import EvolutionSettings, Judge, Progress, Task, evolve, held_out_gain
from training.optimizer.executions import Execution, Executions
from training.optimizer.neighbourhood import judges
from training.optimizer.policy import Policy


def examples_of(
    attempts: Sequence[Attempt],
    bank: LessonBank,
    vetting: Vetting,
    tokens: Speller,
    most_tokens: int,
    operations: random.Random | None = None,
) -> list[Example]:
    """Return a sequence for each attempt that leaves something: the dialogue, and the reply that is learnt.

    The bank grows meanwhile, so replies of both operations are among them. Attempts are shown none, one, two and all
    three of the entries that they retrieve, in turn: a model that has only seen a full memory copies its wording, and
    has none where nothing is shown. Half of them are not shown what is about their task, as in a young memory: a model
    that has mostly seen an old one takes the first entry for its own, whatever it is about. Longer sequences than
    `most_tokens` are left out.

    operations: draws the operation of a reply among all that are valid, so that only the form of operations is learnt
        and which to take is left to the reward; None: the deterministic optimizer's.
    """
    examples = []
    for prompt, reply in _dialogues(attempts, bank, vetting, tokens, operations):
        if len(prompt) + len(reply) <= most_tokens:
            learnt = [False] * len(prompt) + [True] * len(reply)
            examples.append(Example((*prompt, *reply), tuple(learnt)))
    return examples


def _dialogues(
    attempts: Sequence[Attempt],
    bank: LessonBank,
    vetting: Vetting,
    tokens: Speller,
    operations: random.Random | None,
) -> Iterator[tuple[list[int], list[int]]]:
    prompts, optimizer = OptimizerPrompts(), RulesOptimizer()
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
            said = vetted(proposal.candidate, attempt, shown, vetting)
        except RejectedReplyError:
            continue
        if operations is not None:
            said = replace(said, replaces=operations.choice([None, *range(len(shown))]))
        yield tokens.prompt(prompts.messages(attempt, shown)), tokens.reply(said.text(proposal.analysis))


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
    none: those at the queries without memory. warm_examples: of them at most; 0: all. drawn_operations: the operations
    of its replies are drawn, and not the rules'. begins_with_rules: the first query finds the bank that the rules left
    of these attempts, otherwise an empty one. bank_attempts: so many of the attempts the rules read for the banks, 0
    for all. executor: what the card calls it. most_tokens: of a dialogue of the warm start. suffix: of adapters, see
    BaseModel.
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
    warm_examples: int = 0
    drawn_operations: bool = False
    begins_with_rules: bool = False
    bank_attempts: int = 0
    executor: str = "policy"
    most_tokens: int = 1024
    temperature: float = 1.0
    suffix: str = ".gguf"


def train(run: TrainingRun, out: Path, tell: Tell) -> Path:
    """Run all stages, each of which goes on from its checkpoint in `out`; return the adapter's file.

    tell: hears how it goes, a line at a time.

    Raises:
        ValueError: a checkpoint is of another run, or no task can be carried out.
    """
    bank = LessonBank(run.embedder)
    known = run.attempts or _first_attempts(run, tell)
    operations = random.Random(run.warm.seed) if run.drawn_operations else None
    read = examples_of(known, bank, run.vetting, run.tokens, run.most_tokens, operations)
    examples = read[: run.warm_examples or None]
    losses: Sequence[tuple[int, float]] = ()
    if examples:
        for stage in learn(run.model, examples, run.warm, out / "warm.pt"):
            losses = stage.losses
            tell(f"warm start: {losses[-1][0]} of {len(examples)} examples, loss {losses[-1][1]:.4f}")
    if is_first():
        save_adapter(run.model, out / f"warm_start{run.suffix}")
    policy = Policy(run.model, run.tokens, run.writer_of(run.model), run.temperature)
    tasks = _tasks(run)
    judge = Judge(tasks, run.executions, run.vetting)
    if run.bank_attempts:
        bank = _bank_of_rules(run, known[: run.bank_attempts])
    # The banks of held-out tasks stay: for half of them what the rules left of half of the attempts that were asked for
    # (none: an empty one), for half what they left of all.
    smaller = _bank_of_rules(run, known[: run.bank_attempts // 2])
    places = range(len(run.tasks) - run.held_out, len(run.tasks))
    cases = {_size(smaller): [(p, smaller) for p in places[::2]], _size(bank): [(p, bank) for p in places[1::2]]}
    before = _judged("after the warm start", policy, cases, judge, tell)
    progress = Progress()
    queries = tasks[: run.queries]
    first = bank.copy() if run.begins_with_rules else LessonBank(run.embedder)
    first_entries = len(first)
    for progress in evolve(policy, queries, first, judge, run.settings, out / "checkpoint.pt"):
        row = progress.curve[-1]
        tell(f"{progress.queries} queries, r_fmt {row['r_fmt']:.3f}, r_g {row['r_g']:+.3f}, {row['bank']:.0f} entries")
    after = _judged("at the end", policy, cases, judge, tell)
    adapter = out / f"optimizer{run.suffix}"
    if is_first():
        save_adapter(run.model, adapter)
        warm = (len(examples), losses)
        figures = run.executions.figures()
        judged = (*before, *after)
        write_card(out / "card.md", run.settings, run.executor, first_entries, warm, judged, progress, figures)
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


def _size(bank: LessonBank) -> str:
    return f"{len(bank)} entries" if len(bank) else "empty"


def _bank_of_rules(run: TrainingRun, attempts: Sequence[Attempt]) -> LessonBank:
    """Return what the deterministic optimizer leaves of some attempts."""
    bank = LessonBank(run.embedder)
    curator = Curator(bank, RulesOptimizer(), run.vetting)
    for attempt in attempts:
        curator.learn(attempt)
    return bank


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
