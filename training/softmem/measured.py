"""What latent tokens do: the frozen executor's loss with and without them, and whether they tell things apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from training.softmem.soft_example import SoftExample
from training.softmem.soft_pair import SoftPair


@dataclass(frozen=True)
class ExecutorLosses:
    """The mean loss of a token of the right command, not smoothed.

    words: told in words. words_and_latent: and in latent tokens. state: told the brief state alone. latent: the brief
    state and latent tokens.
    """

    words: float
    words_and_latent: float
    state: float
    latent: float


def executor_losses(pair: SoftPair, steps: Sequence[tuple[SoftExample, SoftExample]]) -> ExecutorLosses:
    """Return the losses over some steps, each as an example with the words and one without.

    The latent tokens are at their mean, as a robot gets them. Every step counts the same.
    """
    found = []
    with torch.no_grad():
        for told, untold in steps:
            latent = pair.read(told.prompt, told.reply, told.wording, told.unsaid).latent.mean
            nothing = latent[:0]
            found.append([_loss(pair, one, soft) for one in (told, untold) for soft in (nothing, latent)])
    return ExecutorLosses(*torch.tensor(found).mean(0).tolist())


def told_apart(pair: SoftPair, steps: Sequence[SoftExample]) -> float | None:
    """Return how often the latent tokens of a step are nearer to what its words leave out than to what those of another
    step leave out that says the same; None where no two steps do. By chance it is 0.5."""
    right = []
    with torch.no_grad():
        for one in filter(lambda step: step.unsaid, steps):
            latent = pair.read(one.prompt, one.reply, one.wording, one.unsaid).latent
            own = latent.log_density(pair.targets(one)).mean()
            alike = (other for other in steps if other.unsaid and other.wording == one.wording)
            right += [
                float(own > latent.log_density(pair.targets(other)).mean())
                for other in alike
                if other.unsaid != one.unsaid
            ]
    return sum(right) / len(right) if right else None


def _loss(pair: SoftPair, example: SoftExample, soft: Tensor) -> Tensor:
    logits = pair.action_logits(example.before, soft, example.after, example.action)
    return nn.functional.cross_entropy(logits, torch.tensor(example.action))
