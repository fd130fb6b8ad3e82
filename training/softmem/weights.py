"""A trained soft memory as the file that the robot reads, and back."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from memory_node.context.soft_memory import Layer, SoftMemoryWeights
from training.softmem.soft_memory import SoftMemory


def save_soft_memory(soft: SoftMemory, path: Path) -> None:
    """Write a soft memory."""
    soft_memory_weights(soft).save(path)


def soft_memory_weights(soft: SoftMemory) -> SoftMemoryWeights:
    """Return a soft memory as the robot computes it."""
    body = _layer(soft.body[0]) if isinstance(soft.body, nn.Sequential) else None
    placeholders = soft.placeholders.detach().cpu().numpy()
    log_sd = _layer(soft.log_sd) if soft.log_sd is not None else None
    return SoftMemoryWeights(placeholders, body, _layer(soft.mean), log_sd)


def load_soft_memory(path: Path) -> SoftMemory:
    """Return the soft memory of a file.

    Raises:
        NotFoundError, InvalidValueError: see SoftMemoryWeights.read.
    """
    weights = SoftMemoryWeights.read(path)
    embedding, states = len(weights.mean.bias), weights.placeholders.shape[1]
    soft = SoftMemory(states, embedding, weights.tokens, linear=weights.body is None)
    found = {"placeholders": weights.placeholders}
    layers = {"mean": weights.mean, "log_sd": weights.log_sd, "body.0": weights.body}
    for name, layer in layers.items():
        if layer is not None:
            found |= {f"{name}.weight": layer.weight, f"{name}.bias": layer.bias}
    soft.load_state_dict({name: torch.from_numpy(values) for name, values in found.items()})
    return soft


def _layer(linear: nn.Module) -> Layer:
    assert isinstance(linear, nn.Linear)
    return Layer(linear.weight.detach().cpu().numpy(), linear.bias.detach().cpu().numpy())
