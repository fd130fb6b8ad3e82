"""A trained soft memory as a file, and back. The robot reads the mean of it alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from memory_node.context.soft_memory import Array, Layer, SoftMemoryWeights
from training.softmem.soft_memory import MOST_SD, SoftMemory


@dataclass(frozen=True)
class GaussianWeights(SoftMemoryWeights):
    """Mean and spread of f_phi. log_sd: gives log sigma of each latent token, None where nothing is drawn."""

    log_sd: Layer | None = None

    def spread(self, states: Array, unsaid: Array) -> Array | None:
        """Return log sigma (N, embedding), None where nothing is drawn; see SoftMemoryWeights."""
        if self.log_sd is None:
            return None
        bound = np.float32(np.log(MOST_SD))
        return bound - np.logaddexp(np.float32(0.0), -self.log_sd(self.inner(states, unsaid)))


def save_soft_memory(soft: SoftMemory, path: Path) -> None:
    """Write a soft memory, in half precision."""
    weights = soft_memory_weights(soft)
    layers = {"mean": weights.mean, "log_sd": weights.log_sd, "body": weights.body}
    there = {name: layer for name, layer in layers.items() if layer is not None}
    arrays = {f"{name}.{part}": getattr(layer, part) for name, layer in there.items() for part in ("weight", "bias")}
    arrays["placeholders"] = weights.placeholders
    np.savez_compressed(path, **{name: values.astype(np.float16) for name, values in arrays.items()})


def soft_memory_weights(soft: SoftMemory) -> GaussianWeights:
    """Return a soft memory as the robot computes it, with its spread."""
    body = _layer(soft.body[0]) if isinstance(soft.body, nn.Sequential) else None
    placeholders = soft.placeholders.detach().cpu().numpy()
    log_sd = _layer(soft.log_sd) if soft.log_sd is not None else None
    return GaussianWeights(placeholders, body, _layer(soft.mean), log_sd)


def load_soft_memory(path: Path) -> SoftMemory:
    """Return the soft memory of a file.

    Raises:
        NotFoundError, InvalidValueError: see SoftMemoryWeights.read.
    """
    weights = SoftMemoryWeights.read(path)
    embedding, states = len(weights.mean.bias), weights.placeholders.shape[1]
    soft = SoftMemory(states, embedding, len(weights.placeholders), linear=weights.body is None)
    with np.load(path) as file:
        arrays = {name.replace("body.", "body.0."): file[name].astype(np.float32) for name in file.files}
    soft.load_state_dict({name: torch.from_numpy(values) for name, values in arrays.items()})
    return soft


def _layer(linear: nn.Module) -> Layer:
    assert isinstance(linear, nn.Linear)
    return Layer(linear.weight.detach().cpu().numpy(), linear.bias.detach().cpu().numpy())
