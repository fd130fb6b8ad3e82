"""f_phi: the states of a compiler's last tokens, and what its words leave out, become latent tokens (MemCompiler)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from memory_node.context.soft_memory import UNSAID, Array, Layer, SoftMemoryWeights

# Of a latent token's components at first, as in the paper.
FIRST_SD = 0.0261
# Bound of sigma, which a sigmoid keeps to; ten times its first value in the paper.
MOST_SD = 0.261
# By which the placeholders begin apart: alike, they would learn alike.
_APART = 0.02


@dataclass(frozen=True)
class Gaussian:
    """Independent normal components. mean, log_sd: (tokens, embedding)."""

    mean: Tensor
    log_sd: Tensor

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """Return mean + sd * eps, (tokens, embedding); gradients flow into both."""
        noise = torch.randn(self.mean.shape, generator=generator, device="cpu")
        return self.mean + self.log_sd.exp() * noise.to(self.mean)

    def log_density(self, values: Tensor) -> Tensor:
        """Return the log-density of values, (tokens,): the mean over components, so that it does not grow with them."""
        apart = (values - self.mean) * (-self.log_sd).exp()
        return (-0.5 * apart**2 - self.log_sd - 0.5 * math.log(2.0 * math.pi)).mean(-1)

    def entropy(self) -> Tensor:
        """Return the entropy of a component, the mean over all."""
        return (self.log_sd + 0.5 * math.log(2.0 * math.pi * math.e)).mean()


class SoftMemory(nn.Module):
    """(mu, log sigma) = f_phi(h, u), and the placeholders whose states h are. u: what words leave out.

    Args:
        states: width of the compiler's last layer and embeddings.
        embedding: width of the executor's embeddings.
        tokens: N.
        unknown: (states,) the compiler's embedding of [UNK], near which placeholders begin, or (tokens, states) one
            for each; None: zeros.
        neutral: (embedding,) the executor's embedding of a token that says nothing, near which latent tokens begin;
            None: zeros.
    """

    def __init__(
        self,
        states: int,
        embedding: int,
        tokens: int = 16,
        unknown: Tensor | None = None,
        neutral: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.tokens = tokens
        first = torch.zeros(states) if unknown is None else unknown.detach()
        apart = _APART * torch.randn(tokens, states, device="cpu").to(first)
        self.placeholders = nn.Parameter(first + apart)
        self.body = nn.Sequential(nn.Linear(states + UNSAID, states), nn.GELU())
        self.mean = nn.Linear(states, embedding)
        self.log_sd = nn.Linear(states, embedding)
        nn.init.normal_(self.mean.weight, std=FIRST_SD / math.sqrt(states))
        with torch.no_grad():
            self.mean.bias.copy_(torch.zeros(embedding) if neutral is None else neutral.detach())
        nn.init.normal_(self.log_sd.weight, std=_APART)
        nn.init.constant_(self.log_sd.bias, math.log(FIRST_SD / (MOST_SD - FIRST_SD)))

    def forward(self, states: Tensor, unsaid: Tensor) -> Gaussian:
        """Return the latent tokens of states (tokens, width). unsaid: (UNSAID,)."""
        inner = self.body(torch.hstack((states, unsaid.expand(len(states), -1))))
        # A bound whose gradient nowhere ends: at a clamp the spread would stay.
        return Gaussian(self.mean(inner), math.log(MOST_SD) + nn.functional.logsigmoid(self.log_sd(inner)))


def latent_loss(latent: Gaussian, targets: Tensor) -> Tensor:
    """Return L_latent = -(1/N) sum log p(e~_i). targets: (tokens, embedding)."""
    return -latent.log_density(targets).mean()


def orthogonality_loss(soft_states: Tensor, text_states: Tensor) -> Tensor:
    """Return L_orth = |cos(mean h_soft, sg[mean h_text])|; the text's states get no gradient."""
    return nn.functional.cosine_similarity(soft_states.mean(0), text_states.mean(0).detach(), dim=0).abs()


def entropy_loss(latent: Gaussian) -> Tensor:
    """Return L_entropy, the negative entropy: it keeps the spread of the latent tokens from collapsing."""
    return -latent.entropy()


@dataclass(frozen=True)
class GaussianWeights(SoftMemoryWeights):
    """Mean and spread of f_phi. log_sd: gives log sigma of each latent token."""

    log_sd: Layer

    def spread(self, states: Array, unsaid: Array) -> Array:
        """Return log sigma (N, embedding); see SoftMemoryWeights."""
        bound = np.float32(np.log(MOST_SD))
        return bound - np.logaddexp(np.float32(0.0), -self.log_sd(self.inner(states, unsaid)))


def save_soft_memory(soft: SoftMemory, path: Path) -> None:
    """Write a soft memory, in half precision."""
    weights = soft_memory_weights(soft)
    layers = {"mean": weights.mean, "log_sd": weights.log_sd, "body": weights.body}
    arrays = {f"{name}.{part}": getattr(layer, part) for name, layer in layers.items() for part in ("weight", "bias")}
    arrays["placeholders"] = weights.placeholders
    np.savez_compressed(path, **{name: values.astype(np.float16) for name, values in arrays.items()})


def soft_memory_weights(soft: SoftMemory) -> GaussianWeights:
    """Return a soft memory as the robot computes it, with its spread."""
    placeholders = soft.placeholders.detach().cpu().numpy()
    return GaussianWeights(placeholders, _layer(soft.body[0]), _layer(soft.mean), _layer(soft.log_sd))


def load_soft_memory(path: Path) -> SoftMemory:
    """Return the soft memory of a file.

    Raises:
        NotFoundError, InvalidValueError: see SoftMemoryWeights.read.
    """
    weights = SoftMemoryWeights.read(path)
    embedding, states = len(weights.mean.bias), weights.placeholders.shape[1]
    soft = SoftMemory(states, embedding, len(weights.placeholders))
    with np.load(path) as file:
        arrays = {name.replace("body.", "body.0."): file[name].astype(np.float32) for name in file.files}
    soft.load_state_dict({name: torch.from_numpy(values) for name, values in arrays.items()})
    return soft


def _layer(linear: nn.Module) -> Layer:
    assert isinstance(linear, nn.Linear)
    return Layer(linear.weight.detach().cpu().numpy(), linear.bias.detach().cpu().numpy())
