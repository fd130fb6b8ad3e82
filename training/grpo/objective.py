"""The objective of group-relative policy optimization (Shao et al. 2024, arXiv:2402.03300), as MemCompiler uses it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

# Clip range of the ratio of new to old probabilities. It is asymmetric: good tokens may gain more than bad ones may
# lose.
CLIP_LOW, CLIP_HIGH = 0.8, 1.28


def advantages(rewards: Sequence[float]) -> list[float]:
    """Return A = (r - mean) / sd of the rollouts of one task; 0 where all ended alike."""
    values = torch.tensor(list(rewards), dtype=torch.float64)
    spread = float(values.std(correction=0)) if len(values) else 0.0
    if spread == 0.0:
        return [0.0] * len(values)
    return [float(value) for value in (values - values.mean()) / spread]


def clipped_gain(log_probabilities: Tensor, old: Tensor, advantage: float) -> Tensor:
    """Return min(rho A, clip(rho, 0.8, 1.28) A) of each token, rho = p / p_old. The loss is minus its mean; no KL."""
    rho = (log_probabilities - old).exp()
    return torch.minimum(rho * advantage, rho.clamp(CLIP_LOW, CLIP_HIGH) * advantage)
