"""Group relative policy optimisation (Shao et al. 2024) as UMEM uses it: no division by the deviation, clip and KL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from training.adapters.processes import portion, sum_gradients, together
from training.adapters.writing import Written
from training.optimizer.policy import Policy
from training.optimizer.reward import advantages

Masked = Literal["none", "extraction", "management"]


@dataclass(frozen=True)
class GrpoSettings:
    """rate: of learning; clip: of the ratio of likelihoods, to both sides; kl: weight of the divergence from the
    reference; steps: of the optimiser for each batch. masked: whose tokens get no gradient, the value's or the
    operation's (the paper's ablations)."""

    rate: float = 1e-6
    clip: float = 0.2
    kl: float = 0.001
    steps: int = 1
    masked: Masked = "none"
    largest_gradient: float = 1.0


@dataclass(frozen=True)
class Group:
    """The replies to one dialogue, and their rewards."""

    replies: tuple[Written, ...]
    rewards: tuple[float, ...]


def update(policy: Policy, groups: Sequence[Group], settings: GrpoSettings, optimizer: Any) -> dict[str, float]:
    """Take the optimiser's steps on a batch of groups; return the last step's mean loss, divergence and share of
    clipped tokens, {} where nothing was to be learnt.

    A group of equal rewards has no advantages: it is left out, and so is its divergence, which weighs a thousandth.
    """
    told = [group for group in groups if len(set(group.rewards)) > 1]
    if not told:
        return {}
    own = portion(told)
    policy.model.eval()  # no dropout: the ratio to the first likelihoods would not begin at 1
    references: list[Sequence[Tensor]] = []
    first: list[Sequence[Tensor]] = []
    for _ in range(settings.steps):
        optimizer.zero_grad(set_to_none=True)
        figures: list[tuple[float, float, float]] = []
        for number, group in enumerate(own):
            # A vocabulary for each token: asked once for both likelihoods, and kept for one group at a time.
            allowed = policy.allowed(group.replies)
            if len(references) == number:
                with policy.as_reference(), torch.no_grad():
                    references.append(policy.log_likelihoods(group.replies, allowed))
            now = policy.log_likelihoods(group.replies, allowed)
            if len(first) == number:
                first.append([found.detach() for found in now])
            loss, kl, clipped = _loss(policy, group, now, first[number], references[number], settings)
            (loss / len(told)).backward()
            figures.append((float(loss.detach()), kl, clipped))
        weights = [weight for _, weight in policy.free()]
        sum_gradients(weights)
        nn.utils.clip_grad_norm_(weights, settings.largest_gradient)
        optimizer.step()
    policy.renew()
    means = (sum(values) / len(told) for values in zip(*together(figures)))
    return dict(zip(("loss", "kl", "clipped"), means))


def _loss(
    policy: Policy,
    group: Group,
    now: Sequence[Tensor],
    first: Sequence[Tensor],
    references: Sequence[Tensor],
    settings: GrpoSettings,
) -> tuple[Tensor, float, float]:
    """Return the loss, the divergence and the share of clipped tokens of a group, each the mean over its replies.

    now, first, references: log-likelihoods of each reply's tokens, by the weights as they are, as they were when the
    replies were drawn, and as they were after the warm start.
    """
    found = [
        _loss_of_reply(policy, reply, one, before, gain, reference, settings)
        for reply, one, before, gain, reference in zip(group.replies, now, first, advantages(group.rewards), references)
    ]
    losses, kl, clipped = zip(*found)
    return torch.stack(losses).mean(), sum(kl) / len(found), sum(clipped) / len(found)


def _loss_of_reply(
    policy: Policy,
    reply: Written,
    now: Tensor,
    first: Tensor,
    gain: float,
    reference: Tensor,
    settings: GrpoSettings,
) -> tuple[Tensor, float, float]:
    ratio = (now - first).exp()
    bounded = ratio.clamp(1.0 - settings.clip, 1.0 + settings.clip)
    # Schulman's estimator of the divergence: never negative, and without bias.
    kl = (reference - now).exp() - (reference - now) - 1.0
    counts = torch.tensor(counted(reply, policy, settings.masked), dtype=now.dtype)
    each = -torch.minimum(ratio * gain, bounded * gain) + settings.kl * kl
    loss = (each * counts).sum() / counts.sum().clamp(min=1.0)
    return loss, float(kl.detach().mean()), float((ratio != bounded).float().mean())


def counted(reply: Written, policy: Policy, masked: Masked) -> list[bool]:
    """Return which tokens of a reply get a gradient: all but those that begin in the masked part."""
    if masked == "none":
        return [True] * len(reply.tokens)
    tag = "value" if masked == "extraction" else "operation"
    begin, end = reply.text.find(f"<{tag}>"), reply.text.find(f"</{tag}>")
    if begin < 0 or end < 0:
        return [True] * len(reply.tokens)
    starts = [len(policy.tokens.text(reply.tokens[:number])) for number in range(len(reply.tokens))]
    return [not begin <= start < end for start in starts]
