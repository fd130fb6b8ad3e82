"""Soft-Mem on the robot: the states of a compiler's last tokens, and what words leave out of a thing, become latent
tokens for an executor (MemCompiler)."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.geometry import FloatArray
from memory_node.domain.scene import SceneObject

_LOOK = 32
# Offset (m), size (m), mean colour (blue, green, red; 0 to 1), and the crop's vector in fewer dimensions.
UNSAID = 3 + 3 + 3 + _LOOK


def unsaid(found: SceneObject, camera: FloatArray) -> NDArray[np.float32]:
    """Return (UNSAID,) of a thing. camera: (3,), in the map frame. What is not known of it is 0.

    A crop's vector is projected at random, by the same matrix for all of its width (Johnson and Lindenstrauss).
    """
    colour, look = np.zeros(3), np.zeros(_LOOK)
    picture = cv2.imdecode(np.frombuffer(found.crop_jpeg, np.uint8), cv2.IMREAD_COLOR) if found.crop_jpeg else None
    if picture is not None:
        colour = picture.mean((0, 1)) / 255.0
    if found.embedding is not None:
        vector = found.embedding.astype(np.float64)
        look = np.random.default_rng(0).standard_normal((_LOOK, len(vector))) @ vector / np.sqrt(_LOOK)
    return np.concatenate((found.box.center - camera, found.box.size, colour, look)).astype(np.float32)


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
