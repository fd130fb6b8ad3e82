"""What a run of any training keeps: weights, optimiser and where it stands, so that it goes on after it was ended."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from training.adapters.processes import is_first


def free_weights(model: Any) -> dict[str, Tensor]:
    """Return the weights of a model that are trained, by name."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def save_checkpoint(
    path: Path, free: Mapping[str, Tensor], optimizer: torch.optim.Optimizer, run: Mapping[str, Any], **state: Any
) -> None:
    """Write a checkpoint, once for all processes. run: what tells this run from others; state: where it stands."""
    if not is_first():
        return
    weights = {name: weight.detach() for name, weight in free.items()}
    beside = path.with_suffix(".part")
    torch.save({"weights": weights, "optimizer": optimizer.state_dict(), "run": dict(run), **state}, beside)
    beside.replace(path)  # a run that is killed meanwhile goes on from the one before


def resume(
    path: Path, free: Mapping[str, Tensor], optimizer: torch.optim.Optimizer, run: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Put weights and optimiser back to where a run stood, and return its whole checkpoint; None where there is none.

    Raises:
        ValueError: the checkpoint is of another run.
    """
    if not path.is_file():
        return None
    state: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
    if state["run"] != run:
        raise ValueError(f"{path} is of another run: {state['run']}, not {run}")
    _put(free, state["weights"])
    optimizer.load_state_dict(state["optimizer"])
    return state


def load_weights(model: Any, checkpoint: Path) -> None:
    """Take over what a run has learnt.

    Raises:
        ValueError: the checkpoint is of a model with other weights.
    """
    weights = torch.load(checkpoint, weights_only=True, map_location="cpu")["weights"]
    take_weights(free_weights(model), weights, checkpoint)


def take_weights(free: Mapping[str, Tensor], learnt: Mapping[str, Tensor], source: Path) -> None:
    """Take over weights by name. source: the file that they are of.

    Raises:
        ValueError: they are of a model with other weights.
    """
    if _shapes(learnt) != _shapes(free):
        raise ValueError(f"{source} is of a model with other free weights; is --rank the same?")
    _put(free, learnt)


def shuffled_epochs(count: int, epochs: int, seed: int) -> list[int]:
    """Return the numbers below `count` once for each epoch, each epoch shuffled."""
    order: list[int] = []
    for epoch in range(epochs):
        one = list(range(count))
        random.Random(f"{seed} {epoch}").shuffle(one)
        order += one
    return order


def _put(free: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        for name, weight in free.items():
            weight.copy_(weights[name])


def _shapes(weights: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(weight.shape) for name, weight in weights.items()}
