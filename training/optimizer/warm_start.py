"""What the warm start learns: well-formed analyses of train attempts, as the deterministic optimizer writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_node.experience.optimizer.attempt import Attempt
from memory_node.experience.optimizer.bank import MemoryBank
from memory_node.experience.optimizer.curator import MemoryCurator
from memory_node.experience.optimizer.prompt import OptimizerPrompts
from memory_node.experience.optimizer.rules import RulesOptimizer
from memory_node.experience.optimizer.vetting import Vetting
from training.adapters.example import Example
from training.optimizer.dialogue_tokens import DialogueTokens


def examples_of(
    attempts: Sequence[Attempt], bank: MemoryBank, vetting: Vetting, tokens: DialogueTokens, most_tokens: int
) -> list[Example]:
    """Return a sequence for each attempt that leaves something: the dialogue, and the reply that is learnt.

    The bank grows meanwhile, so replies of both operations are among them. Longer ones than `most_tokens` are left out.
    """
    examples = []
    for prompt, reply in _dialogues(attempts, bank, vetting, tokens):
        if len(prompt) + len(reply) <= most_tokens:
            learnt = [False] * len(prompt) + [True] * len(reply)
            examples.append(Example((*prompt, *reply), tuple(learnt)))
    return examples


def _dialogues(
    attempts: Sequence[Attempt], bank: MemoryBank, vetting: Vetting, tokens: DialogueTokens
) -> Iterator[tuple[list[int], list[int]]]:
    prompts, curator = OptimizerPrompts(), MemoryCurator(bank, RulesOptimizer(), vetting)
    for attempt in attempts:
        shown = bank.retrieve(attempt.query)
        curated = curator.learn(attempt)
        proposal = curated.proposal
        if curated.change is not None and proposal is not None and proposal.candidate is not None:
            said = proposal.candidate.text(proposal.analysis)
            yield tokens.prompt(prompts.messages(attempt, shown)), tokens.reply(said)
