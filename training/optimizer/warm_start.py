"""What the warm start learns: well-formed analyses of train attempts, as the deterministic optimizer writes them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memory_node.lessons.bank import LessonBank
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.optimizer.attempt import Attempt
from memory_node.lessons.optimizer.curator import Curator, vetted
from memory_node.lessons.optimizer.prompt import OptimizerPrompts
from memory_node.lessons.optimizer.rules import RulesOptimizer
from memory_node.lessons.optimizer.vetting import Vetting
from memory_node.llm.errors import RejectedReplyError
from training.adapters.example import Example, Speller


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
