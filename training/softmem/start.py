"""Where f_phi begins to learn: at the ridge regression of what its latent tokens are to say."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from training.softmem.soft_example import SoftExample
from training.softmem.soft_memory import SoftMemory
from training.softmem.soft_pair import SoftPair

# Weight of the squared coefficients, in mean variances of a feature times the rows.
_RIDGE = 0.1


def begin_at_regression(pair: SoftPair, examples: Sequence[SoftExample]) -> None:
    """Let the means of a pair's latent tokens say what a linear map of the placeholders' states can say."""
    with torch.no_grad():
        states = [pair.read(example.prompt, example.reply).behind for example in examples]
        targets = [pair.targets(example) for example in examples]
    fit_mean(pair.soft, torch.cat(states), torch.cat(targets))


def fit_mean(soft: SoftMemory, states: Tensor, targets: Tensor, ridge: float = _RIDGE) -> None:
    """Set the layer of the means to the regression of targets (n, embedding) on what f_phi makes of states (n, width).

    A hidden layer stays as it is: its features are drawn at random.
    """
    with torch.no_grad():
        features = soft.body(states).double()
        middle, aim = features.mean(0), targets.double().mean(0)
        apart = features - middle
        square = apart.T @ apart
        square += ridge * square.trace() / len(square) * torch.eye(len(square), dtype=square.dtype)
        weight = torch.linalg.solve(square, apart.T @ (targets.double() - aim)).T
        soft.mean.weight.copy_(weight)
        soft.mean.bias.copy_(aim - weight @ middle)
