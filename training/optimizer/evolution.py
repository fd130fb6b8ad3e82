"""Online evolution: queries follow one another, the best candidate of each enters the bank, batches move the policy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

from memory_node.lessons.bank import LessonBank
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.optimizer.attempt import Attempt, Candidate
from memory_node.lessons.optimizer.prompt import optimizer_dialogue, reply_grammar
from memory_node.lessons.optimizer.vetting import Vetting
from memory_node.llm.chat import RejectedReplyError
from training.adapters.adapter import resume, save_checkpoint, shuffled_epochs
from training.adapters.processes import from_first, portion, together
from training.optimizer.executions import Execution, Executions, Rollout, gain
from training.optimizer.policy import Group, GrpoSettings, Policy, update


@dataclass(frozen=True)
class EvolutionSettings:
    """group: candidates of a query (the paper's G); batch: queries of an update; neighbours: tasks by which a memory is
    judged, 0: its own (an ablation); epochs: passes over the queries."""

    group: int
    batch: int
    neighbours: int = 3
    epochs: int = 1
    seed: int = 0
    grpo: GrpoSettings = field(default_factory=GrpoSettings)


@dataclass(frozen=True)
class Judged:
    """A candidate with its reward. form: r_fmt, 1 where it may enter a bank; gain: r_g, 0 where it may not."""

    candidate: Candidate | None
    form: float
    gain: float

    @property
    def reward(self) -> float:
        """r_fmt + r_g."""
        return self.form + self.gain


@dataclass(frozen=True)
class Task:
    """A train task. query: its text; neighbours: the places of the tasks by which its memories are judged."""

    query: str
    neighbours: tuple[int, ...]


@dataclass
class Progress:
    """Where a run stands. queries: carried out; curve: a row for each update; pending: groups of a batch that is not
    whole are carried out again after a restart."""

    queries: int = 0
    curve: list[dict[str, float]] = field(default_factory=list)


class Judge:
    """Rewards candidates by carrying neighbours out with them and without."""

    def __init__(self, tasks: Sequence[Task], executions: Executions, vetting: Vetting) -> None:
        self._tasks = tasks
        self._executions = executions
        self._vetting = vetting

    def carried_out(self, cases: Sequence[tuple[int, LessonBank]]) -> list[Rollout]:
        """Return the rollouts of some tasks, each with a bank as it is."""
        return self._executions.rollouts([self._execution(*case) for case in cases])

    def judge(self, place: int, attempt: Attempt, bank: LessonBank, replies: Sequence[str]) -> list[Judged]:
        """Return the rewards of some replies to an attempt. All rollouts of all of them run side by side."""
        shown = bank.retrieve(attempt.query)
        candidates = [self._read(reply, attempt, shown) for reply in replies]
        neighbours = self._tasks[place].neighbours
        wanted = [self._execution(one, bank) for one in neighbours]
        for candidate in candidates:
            if candidate is not None:
                tried = bank.copy()
                tried.apply(candidate, shown, attempt, "candidate")
                wanted += [self._execution(one, tried) for one in neighbours]
        rollouts = self._executions.rollouts(wanted)
        size = len(neighbours)
        reference, rest = rollouts[:size], rollouts[size:]
        judged = []
        for candidate in candidates:
            if candidate is None:
                judged.append(Judged(None, 0.0, 0.0))
                continue
            judged.append(Judged(candidate, 1.0, gain(reference, rest[:size]) if size else 0.0))
            rest = rest[size:]
        return judged

    def _execution(self, place: int, bank: LessonBank) -> Execution:
        return Execution(place, bank.retrieve(self._tasks[place].query))

    def _read(self, reply: str, attempt: Attempt, shown: Sequence[Lesson]) -> Candidate | None:
        try:
            return self._vetting.read(reply, attempt, shown)
        except RejectedReplyError:
            return None


def evolve(
    policy: Policy, tasks: Sequence[Task], bank: LessonBank, judge: Judge, settings: EvolutionSettings, checkpoint: Path
) -> Iterator[Progress]:
    """Train the policy; yield after every update. What the checkpoint holds is gone on from.

    The order of the queries, the seeds of sampling and the bank are those of an uninterrupted run.

    Raises:
        ValueError: the checkpoint is of another run.
    """
    optimizer = torch.optim.AdamW([weight for _, weight in policy.free()], lr=settings.grpo.rate, weight_decay=0.0)
    run = {**asdict(settings), "tasks": len(tasks)}
    progress = _put_back(resume(checkpoint, dict(policy.free()), optimizer, run), policy, bank)
    policy.renew()
    order = shuffled_epochs(len(tasks), settings.epochs, settings.seed)
    while progress.queries < len(order):
        taken = order[progress.queries : progress.queries + settings.batch]
        groups: list[Group] = []
        seen: list[Judged] = []
        for number, place in enumerate(taken, progress.queries):
            (rollout,) = judge.carried_out([(place, bank)])
            if rollout.attempt is None:
                continue
            shown = bank.retrieve(rollout.attempt.query)
            messages, grammar = optimizer_dialogue(rollout.attempt, shown), reply_grammar(len(shown))
            drawn = settings.seed * 1_000_003 + number
            replies = from_first(partial(policy.sample, messages, settings.group, drawn, grammar))
            judged = judge.judge(place, rollout.attempt, bank, [reply.text for reply in replies])
            groups.append(Group(tuple(replies), tuple(one.reward for one in judged)))
            seen += judged
            take_best(bank, judged, rollout.attempt)
        figures = update(policy, groups, settings.grpo, optimizer) if groups else {}
        progress.queries += len(taken)
        progress.curve.append({"queries": float(progress.queries), **_means(seen), "bank": float(len(bank)), **figures})
        save_checkpoint(
            checkpoint,
            dict(policy.free()),
            optimizer,
            run,
            reference=policy.reference,
            bank=json.dumps([entry.to_dict() for entry in bank]),
            progress=asdict(progress),
        )
        yield progress


def take_best(bank: LessonBank, judged: Sequence[Judged], attempt: Attempt) -> None:
    """Apply the candidate of the highest reward to the bank, the first among equals; none that is ill formed."""
    best = max(judged, key=lambda one: one.reward)
    if best.candidate is not None:
        bank.apply(best.candidate, bank.retrieve(attempt.query), attempt, "learned")


def held_out_gain(policy: Policy, cases: Sequence[tuple[int, LessonBank]], judge: Judge) -> tuple[float, float]:
    """Return the mean r_fmt and r_g of greedy replies to tasks that are not trained on, each with a bank that stays."""
    rollouts = judge.carried_out(cases)
    tried = [(*case, one.attempt) for case, one in zip(cases, rollouts) if one.attempt is not None]
    shown = [bank.retrieve(attempt.query) for _, bank, attempt in tried]
    asked = [
        (optimizer_dialogue(attempt, entries), reply_grammar(len(entries)))
        for (_, _, attempt), entries in zip(tried, shown)
    ]
    replies = together([policy.sample(one, 1, 0, grammar, greedy=True)[0].text for one, grammar in portion(asked)])
    judged = [
        one
        for (place, bank, attempt), reply in zip(tried, replies)
        for one in judge.judge(place, attempt, bank, [reply])
    ]
    means = _means(judged)
    return means["r_fmt"], means["r_g"]


def _means(judged: Sequence[Judged]) -> dict[str, float]:
    count = max(len(judged), 1)
    return {"r_fmt": sum(one.form for one in judged) / count, "r_g": sum(one.gain for one in judged) / count}


def _put_back(state: Mapping[str, Any] | None, policy: Policy, bank: LessonBank) -> Progress:
    """Put the reference and the bank back to where a run stood, and return its progress."""
    if state is None:
        return Progress()
    policy.set_reference(state["reference"])
    for entry in tuple(bank):
        bank.remove(entry.id)
    for entry in map(Lesson.from_dict, json.loads(state["bank"])):  # in their order, which decides between equals
        bank.put(entry)
    return Progress(state["progress"]["queries"], state["progress"]["curve"])


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
    warm: tuple[int, Sequence[tuple[int, float]]],
    held_out: Sequence[HeldOut],
    progress: Progress,
    executions: dict[str, int],
) -> None:
    """Write the card as Markdown. warm: examples of the warm start, and (examples seen, loss) after each update."""
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
