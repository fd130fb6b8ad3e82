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
    """The mean of f_phi and its placeholders, as `memory-node train softmem` leaves them.

    placeholders: (N, states), what the compiler reads behind its reply. body: the hidden layer, None where the tokens
    are a linear projection. mean: gives mu of each latent token.
    """

    placeholders: Array
    body: Layer | None
    mean: Layer

    def inner(self, states: Array, unsaid: Array) -> Array:
        """Return what the last layer reads, (N, width); see __call__."""
        told = np.hstack((states, np.tile(unsaid, (len(states), 1))))
        if self.body is None:
            return told
        hidden = self.body(told)
        return (0.5 * hidden * (1.0 + erf(hidden / np.sqrt(2.0)))).astype(np.float32)  # GELU

    def __call__(self, states: Array, unsaid: Array) -> Array:
        """Return latent tokens (N, embedding) of the states (N, states) of the placeholders.

        unsaid: (UNSAID,) of the thing that the guidance is about.
        """
        return self.mean(self.inner(states, unsaid))

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
                found = {name: file[name].astype(np.float32) for name in file.files}
            body = Layer(found["body.weight"], found["body.bias"]) if "body.bias" in found else None
            weights = cls(found["placeholders"], body, Layer(found["mean.weight"], found["mean.bias"]))
            weights(weights.placeholders, np.zeros(UNSAID, np.float32))
        except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
            raise InvalidValueError(f"{path} is no soft memory of `train softmem` ({error})") from error
        return weights
