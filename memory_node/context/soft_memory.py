"""Soft-Mem on the robot: the states of a compiler's last tokens become latent tokens for an executor (MemCompiler)."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from memory_node.context.unsaid import UNSAID
from memory_node.domain.errors import InvalidValueError, NotFoundError

Array = NDArray[np.float32]

# Bound of sigma, which a sigmoid keeps to; ten times its first value in the paper.
MOST_SD = 0.261


@dataclass(frozen=True)
class Layer:
    """One linear layer. weight: (outputs, inputs), bias: (outputs,)."""

    weight: Array
    bias: Array

    def __call__(self, values: Array) -> Array:
        """Return (n, outputs) of values (n, inputs)."""
        return values @ self.weight.T + self.bias


@dataclass(frozen=True)
class SoftMemoryWeights:
    """f_phi and its placeholders, as `memory-node train softmem` leaves them.

    placeholders: (N, states), what the compiler reads behind its reply. body: the hidden layer. mean, log_sd: give mu
    and log sigma of each latent token. body and log_sd are None where the tokens are a linear projection.
    """

    placeholders: Array
    body: Layer | None
    mean: Layer
    log_sd: Layer | None

    @property
    def tokens(self) -> int:
        """N."""
        return len(self.placeholders)

    def __call__(self, states: Array, unsaid: Array) -> tuple[Array, Array | None]:
        """Return mu and log sigma, both (N, embedding), of the states (N, states) of the placeholders.

        unsaid: (UNSAID,) of the thing that the guidance is about. sigma: None where nothing is drawn.
        """
        inner = np.hstack((states, np.tile(unsaid, (len(states), 1))))
        if self.body is not None:
            hidden = self.body(inner)
            inner = (0.5 * hidden * (1.0 + erf(hidden / np.sqrt(2.0)))).astype(np.float32)  # GELU
        if self.log_sd is None:
            return self.mean(inner), None
        return self.mean(inner), np.float32(np.log(MOST_SD)) - np.logaddexp(np.float32(0.0), -self.log_sd(inner))

    def save(self, path: Path) -> None:
        """Write a file, in half precision."""
        layers = {"mean": self.mean, "log_sd": self.log_sd, "body": self.body}
        there = {name: layer for name, layer in layers.items() if layer is not None}
        arrays = {
            f"{name}.{part}": getattr(layer, part) for name, layer in there.items() for part in ("weight", "bias")
        }
        arrays["placeholders"] = self.placeholders
        np.savez_compressed(path, **{name: values.astype(np.float16) for name, values in arrays.items()})

    @classmethod
    def read(cls, path: Path) -> SoftMemoryWeights:
        """Return what a file holds.

        Raises:
            NotFoundError: there is no such file.
            InvalidValueError: it is no soft memory, or its shapes do not fit each other.
        """
        if not path.is_file():
            raise NotFoundError(f"{path} is no file; it names a soft memory (.npz)")
        try:
            with np.load(path) as file:
                arrays = {name: file[name].astype(np.float32) for name in file.files}
            layers = {
                name: Layer(arrays[f"{name}.weight"], arrays[f"{name}.bias"])
                for name in ("body", "mean", "log_sd")
                if f"{name}.bias" in arrays
            }
            weights = cls(arrays["placeholders"], layers.get("body"), layers["mean"], layers.get("log_sd"))
            weights(weights.placeholders, np.zeros(UNSAID, np.float32))
        except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
            raise InvalidValueError(f"{path} is no soft memory of `train softmem` ({error})") from error
        return weights
