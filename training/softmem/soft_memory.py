"""f_phi: the states of a compiler's last tokens, and what its words leave out, become latent tokens (MemCompiler)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from memory_node.context.soft_memory import UNSAID

# Of a latent token's components at first, as in the paper.
FIRST_SD = 0.0261
# Bound of sigma, which a sigmoid keeps to; ten times its first value in the paper.
MOST_SD = 0.261
# By which the placeholders begin apart: alike, they would learn alike.
_APART = 0.02


@dataclass(frozen=True)
class Gaussian:
    """Independent normal components. mean, log_sd: (tokens, embedding); log_sd None: nothing is drawn."""

    mean: Tensor
    log_sd: Tensor | None

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """Return mean + sd * eps, (tokens, embedding); gradients flow into both."""
        if self.log_sd is None:
            return self.mean
        noise = torch.randn(self.mean.shape, generator=generator, device="cpu")
        return self.mean + self.log_sd.exp() * noise.to(self.mean)

    def log_density(self, values: Tensor) -> Tensor:
        """Return the log-density of values, (tokens,): the mean over components, so that it does not grow with them.

        Where nothing is drawn it is that of the first spread.
        """
        log_sd = torch.full_like(self.mean, math.log(FIRST_SD)) if self.log_sd is None else self.log_sd
        apart = (values - self.mean) * (-log_sd).exp()
        return (-0.5 * apart**2 - log_sd - 0.5 * math.log(2.0 * math.pi)).mean(-1)

    def entropy(self) -> Tensor:
        """Return the entropy of a component, the mean over all; 0 where nothing is drawn."""
        if self.log_sd is None:
            return torch.zeros((), device=self.mean.device)
        return (self.log_sd + 0.5 * math.log(2.0 * math.pi * math.e)).mean()


class SoftMemory(nn.Module):
    """(mu, log sigma) = f_phi(h, u), and the placeholders whose states h are. u: what words leave out.

    Args:
        states: width of the compiler's last layer and embeddings.
        embedding: width of the executor's embeddings.
        tokens: N.
        linear: one linear projection, without a hidden layer and without the Gaussian, for comparison.
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
        linear: bool = False,
        unknown: Tensor | None = None,
        neutral: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.tokens = tokens
        first = torch.zeros(states) if unknown is None else unknown.detach()
        apart = _APART * torch.randn(tokens, states, device="cpu").to(first)
        self.placeholders = nn.Parameter(first + apart)
        told = states + UNSAID
        self.body = nn.Identity() if linear else nn.Sequential(nn.Linear(told, states), nn.GELU())
        self.mean = nn.Linear(told if linear else states, embedding)
        self.log_sd = None if linear else nn.Linear(states, embedding)
        nn.init.normal_(self.mean.weight, std=FIRST_SD / math.sqrt(states))
        with torch.no_grad():
            self.mean.bias.copy_(torch.zeros(embedding) if neutral is None else neutral.detach())
        if self.log_sd is not None:
            nn.init.normal_(self.log_sd.weight, std=_APART)
            nn.init.constant_(self.log_sd.bias, math.log(FIRST_SD / (MOST_SD - FIRST_SD)))

    def forward(self, states: Tensor, unsaid: Tensor) -> Gaussian:
        """Return the latent tokens of states (tokens, width). unsaid: (UNSAID,)."""
        inner = self.body(torch.hstack((states, unsaid.expand(len(states), -1))))
        if self.log_sd is None:
            return Gaussian(self.mean(inner), None)
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
