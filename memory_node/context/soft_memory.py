"""Soft-Mem on the robot: the states of a compiler's last tokens become latent tokens for an executor (MemCompiler)."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from memory_node.domain.errors import InvalidValueError, NotFoundError

Array = NDArray[np.float32]

# Most of sigma, its first value in the paper. Without a bound it grows to how far mu is off.
MOST_SD = 0.0261


def adapter_beside(path: Path) -> Path:
    """Return where the adapter that reads the placeholders of a soft memory's file is to lie."""
    return path.with_suffix(".gguf")


def adapter_of(path: Path) -> Path | None:
    """Return the adapter that reads the placeholders of a soft memory's file, None where it has none: a GGUF file, or
    the folder of a model that the robot's process does not run."""
    beside, folder = adapter_beside(path), path.with_suffix("")
    if beside.is_file():
        return beside
    return folder if folder.is_dir() else None


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

    placeholders: (N, states), what the compiler reads behind its reply. body: the hidden layer, None where the
    projection is linear. mean, log_sd: give mu and log sigma of each latent token. adapter: path of the LoRA adapter
    that the compiler reads the placeholders with, beside its own; "" for none.
    """

    placeholders: Array
    body: Layer | None
    mean: Layer
    log_sd: Layer
    adapter: str = ""

    @property
    def tokens(self) -> int:
        """N."""
        return len(self.placeholders)

    def __call__(self, states: Array) -> tuple[Array, Array]:
        """Return mu and log sigma, both (N, embedding), of the states (N, states) of the placeholders."""
        inner = states
        if self.body is not None:
            hidden = self.body(states)
            inner = (0.5 * hidden * (1.0 + erf(hidden / np.sqrt(2.0)))).astype(np.float32)  # GELU
        return self.mean(inner), np.minimum(self.log_sd(inner), np.float32(np.log(MOST_SD)))

    def save(self, path: Path) -> None:
        """Write a file, in half precision."""
        layers = {"mean": self.mean, "log_sd": self.log_sd, **({"body": self.body} if self.body is not None else {})}
        arrays = {
            f"{name}.{part}": getattr(layer, part) for name, layer in layers.items() for part in ("weight", "bias")
        }
        arrays["placeholders"] = self.placeholders
        np.savez_compressed(path, **{name: values.astype(np.float16) for name, values in arrays.items()})

    @classmethod
    def read(cls, path: Path) -> SoftMemoryWeights:
        """Return what a file holds, with the adapter beside it.

        Raises:
            NotFoundError: there is no such file.
            InvalidValueError: it is no soft memory, or its shapes do not fit each other.
        """
        if not path.is_file():
            raise NotFoundError(f"{path} is no file; it names a soft memory (.npz)")
        try:
            with np.load(path) as file:
                arrays = {name: file[name].astype(np.float32) for name in file.files}
            layers = {name: Layer(arrays[f"{name}.weight"], arrays[f"{name}.bias"]) for name in ("mean", "log_sd")}
            body = Layer(arrays["body.weight"], arrays["body.bias"]) if "body.weight" in arrays else None
            weights = cls(arrays["placeholders"], body, **layers, adapter=str(adapter_of(path) or ""))
            weights(weights.placeholders)
        except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
            raise InvalidValueError(f"{path} is no soft memory of `train softmem` ({error})") from error
        return weights
