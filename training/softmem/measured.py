"""What latent tokens do to a frozen executor: its loss on the right commands, with and without them."""

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
            latent = pair.read(told.prompt, told.reply, told.wording).latent.mean
            nothing = latent[:0]
            found.append([_loss(pair, one, soft) for one in (told, untold) for soft in (nothing, latent)])
    return ExecutorLosses(*torch.tensor(found).mean(0).tolist())


def _loss(pair: SoftPair, example: SoftExample, soft: Tensor) -> Tensor:
    logits = pair.action_logits(example.before, soft, example.after, example.action)
    return nn.functional.cross_entropy(logits, torch.tensor(example.action))
