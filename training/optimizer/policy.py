"""The policy that is trained, and its update: group relative policy optimisation (Shao et al. 2024) as UMEM uses it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.likelihood import candidate_tree
from memory_node.llm.chat import Message
from training.adapters.adapter import decoder, scores
from training.adapters.example import Speller
from training.adapters.processes import portion, sum_gradients, together
from training.adapters.writing import Sampling, Writer, Written, log_probabilities
from training.optimizer.executions import advantages


@dataclass(frozen=True)
class TokenTree:
    """tokens, positions: (n,), of the beginning and then of the texts, each token once for all texts that agree up to
    it. seen: (n, n), whether a token sees another one: itself, and those that lead to it. before: for each text the
    places in `tokens` behind which its tokens stand."""

    tokens: Tensor
    positions: Tensor
    seen: Tensor
    before: tuple[Tensor, ...]

    @property
    def attention_mask(self) -> Tensor:
        """What is added to attention logits, (1, 1, n, n): 0 where a token is seen, -inf where not."""
        return torch.zeros(self.seen.shape).masked_fill(~self.seen, float("-inf"))[None, None]


def token_tree(beginning: Sequence[int], texts: Sequence[Sequence[int]]) -> TokenTree:
    """Return some texts behind one beginning, each of one token at least."""
    tree, first = candidate_tree(texts), len(beginning)
    tokens = [*beginning, *(node.token for node in tree.nodes)]
    parents = [*range(-1, first - 1), *(first + node.parent if node.parent >= 0 else first - 1 for node in tree.nodes)]
    seen = torch.eye(len(tokens), dtype=torch.bool)
    for place, parent in enumerate(parents[1:], 1):
        seen[place] |= seen[parent]
    before = []
    for text, end in zip(texts, tree.ends):
        path = [parents[first + end]]
        while len(path) < len(text):
            path.append(parents[path[-1]])
        before.append(torch.tensor(path[::-1]))
    return TokenTree(torch.tensor(tokens), seen.sum(1) - 1, seen, tuple(before))


TEMPERATURE = 1.0  # of sampling, as in the paper


class Policy:
    """model: a causal or image-text Hugging Face model; its free weights are the adapter. writer: of that model.

    The weights with which it was made are the reference that the KL divergence is taken to.
    """

    def __init__(self, model: Any, tokens: Speller, writer: Writer) -> None:
        self.model = model
        self.tokens = tokens
        self._writer = writer
        self._reference = {name: weight.detach().clone() for name, weight in self.free()}

    def free(self) -> list[tuple[str, Any]]:
        """Return the weights that are trained, by name."""
        return [(name, weight) for name, weight in self.model.named_parameters() if weight.requires_grad]

    def set_reference(self, weights: dict[str, Tensor]) -> None:
        """Take other weights for the reference: those that an interrupted run began with."""
        self._reference = {name: weight.clone() for name, weight in weights.items()}

    @property
    def reference(self) -> dict[str, Tensor]:
        """The weights of the reference."""
        return self._reference

    @contextmanager
    def as_reference(self) -> Iterator[None]:
        """Let the model be the reference for a while."""
        kept = {name: weight.detach().clone() for name, weight in self.free()}
        self._load(self._reference)
        try:
            yield
        finally:
            self._load(kept)

    def renew(self) -> None:
        """Write with the weights as they are now; for whoever has changed them."""
        self._writer.renew()

    def sample(
        self, messages: Sequence[Message], count: int, seed: int, grammar: str = "", greedy: bool = False
    ) -> list[Written]:
        """Return `count` replies to a dialogue, the same for the same seed and weights. grammar: see Writer."""
        sampling = Sampling(0.0 if greedy else TEMPERATURE, np.random.default_rng(seed), grammar)
        return self._writer.write(messages, count, sampling)

    def allowed(self, replies: Sequence[Written]) -> list[Tensor | None]:
        """Return which tokens might be said at each place of some replies; see Writer."""
        return [self._writer.allowed(reply) for reply in replies]

    def log_likelihoods(self, replies: Sequence[Written], allowed: Sequence[Tensor | None]) -> list[Tensor]:
        """Return the log-likelihood of each token of each reply to one dialogue, each (len(tokens),), with gradients,
        among the tokens that might be said there. allowed: see `allowed`.

        What replies begin with alike is read once, as the dialogue is; each sees the dialogue and itself alone.
        """
        tree = token_tree(replies[0].prompt, [reply.tokens for reply in replies])
        states = decoder(self.model)(
            tree.tokens[None],
            attention_mask=tree.attention_mask,
            position_ids=tree.positions[None],
            use_cache=False,
        ).last_hidden_state[0]
        return [
            log_probabilities(scores(self.model, states[before]).float(), reply.tokens, TEMPERATURE, may)
            for reply, before, may in zip(replies, tree.before, allowed, strict=True)
        ]

    def _load(self, weights: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, weight in self.free():
                weight.copy_(weights[name])


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
