"""The training loop, resumable after every step, until the examples or the time are used up; and its card."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from training.adapters.adapter import decoder, free_weights, resume, save_checkpoint, scores, shuffled_epochs
from training.adapters.example import Example
from training.adapters.processes import device, from_first, portion, sum_gradients, together


@dataclass(frozen=True)
class Schedule:
    """How long and how fast. rate: the highest learning rate, reached after the first 5 % of the updates and then let
    down to 0 along a cosine; per_update: examples whose gradients are added up; minutes: after which it ends early;
    bfloat16: multiply matrices in bfloat16 (weights and their changes stay float32)."""

    epochs: int = 1
    rate: float = 5e-4
    per_update: int = 4
    minutes: float = 55.0
    seed: int = 0
    bfloat16: bool = False


@dataclass
class Progress:
    """Where a run stands: examples taken, and (examples, mean loss of a learnt token) after each update."""

    taken: int = 0
    losses: list[tuple[int, float]] = field(default_factory=list)


def loss_of(model: Any, example: Example) -> Tensor:
    """Return the mean negative log-likelihood of what is to be learnt of one example.

    model: a causal or image-text Hugging Face model, perhaps with adapters. The vocabulary's scores are computed for
        those alone.
    """
    tokens = torch.tensor([example.tokens])
    learnt = torch.tensor(example.learnt)
    states = decoder(model)(tokens).last_hidden_state[0]
    before = learnt[1:].nonzero().flatten()
    return nn.functional.cross_entropy(scores(model, states[before]), tokens[0, before + 1])


def learn(
    model: Any,
    examples: Sequence[Any],
    schedule: Schedule,
    checkpoint: Path,
    loss_of_one: Callable[[Any, Any], Tensor] = loss_of,
) -> Iterator[Progress]:
    """Train the model's free weights; yield after every update. What the checkpoint holds is gone on from.

    loss_of_one: returns the loss of the model on one example.

    Raises:
        ValueError: the checkpoint is of another run.
    """
    free = free_weights(model)
    optimizer = torch.optim.AdamW(free.values(), lr=schedule.rate, weight_decay=0.0)
    run = {**asdict(schedule), "minutes": 0.0, "examples": len(examples)}
    progress = _progress_of(resume(checkpoint, free, optimizer, run))
    order = shuffled_epochs(len(examples), schedule.epochs, schedule.seed)
    began = time.monotonic()
    model.train()
    while progress.taken < len(order) and from_first(lambda: time.monotonic() - began < 60.0 * schedule.minutes):
        taken = order[progress.taken : progress.taken + schedule.per_update]
        for group in optimizer.param_groups:
            group["lr"] = rate_at((progress.taken + len(taken)) / len(order), schedule.rate)
        losses = []
        for number in portion(taken):
            with torch.autocast(device().type, torch.bfloat16, enabled=schedule.bfloat16):
                loss = loss_of_one(model, examples[number]) / len(taken)
            loss.backward()
            losses.append(float(loss.detach()))
        sum_gradients(free.values())
        nn.utils.clip_grad_norm_(list(free.values()), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        progress.taken += len(taken)
        progress.losses.append((progress.taken, sum(together(losses))))
        save_checkpoint(checkpoint, free, optimizer, run, progress=asdict(progress))
        yield progress


def rate_at(share: float, highest: float) -> float:
    """Return the learning rate after a share of all examples, in (0, 1]."""
    warm_up = 0.05
    if share <= warm_up:
        return highest * share / warm_up
    return 0.5 * highest * (1.0 + float(torch.cos(torch.tensor(torch.pi * (share - warm_up) / (1.0 - warm_up)))))


def _progress_of(state: Mapping[str, Any] | None) -> Progress:
    if state is None:
        return Progress()
    return Progress(state["progress"]["taken"], [tuple(one) for one in state["progress"]["losses"]])


_ROWS = 12


def write_card(
    path: Path, title: str, told: str, kind: str, command: str, schedule: Schedule, progress: Progress
) -> None:
    """Write the card as Markdown: no figure of a benchmark, for these are measured, not trained.

    told: what the weights do, and what they learnt from. kind: what they are. command: with which they were made.
    """
    step = max(1, len(progress.losses) // _ROWS)
    windows = [progress.losses[start : start + step] for start in range(0, len(progress.losses), step)]
    rows = [f"| {window[-1][0]} | {sum(loss for _, loss in window) / len(window):.3f} |" for window in windows]
    recipe = (
        f"{kind}. {progress.taken} examples over all epochs. Learning rate"
        f" {schedule.rate:g}, {schedule.per_update} examples an update, {schedule.epochs} epoch(s), seed"
        f" {schedule.seed}."
    )
    table = ("| examples | loss of a learnt token |", "|---|---|", *rows)
    path.write_text("\n".join((f"# {title}", "", told, "", recipe, "", f"    {command}", "", *table, "")), "utf-8")
