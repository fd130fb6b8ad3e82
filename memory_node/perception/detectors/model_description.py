"""What an ONNX file says about itself: names and shapes of its inputs and outputs, and its metadata."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.onnx_runtime import onnxruntime


@dataclass(frozen=True)
class TensorDescription:
    """An input or output. shape: None where a side may be of any length. kind: as onnxruntime names it, such as
    tensor(float)."""

    name: str
    shape: tuple[int | None, ...]
    kind: str

    def __str__(self) -> str:
        sides = ", ".join("?" if side is None else str(side) for side in self.shape)
        return f"{self.name} ({sides})"


@dataclass(frozen=True)
class ModelDescription:
    """Inputs, outputs and the metadata that exporters write into the file, key by key as text."""

    inputs: tuple[TensorDescription, ...]
    outputs: tuple[TensorDescription, ...]
    metadata: Mapping[str, str]

    @classmethod
    def of(cls, session: onnxruntime.InferenceSession) -> ModelDescription:
        """Return the description of an open model."""
        metadata = dict(session.get_modelmeta().custom_metadata_map or {})
        return cls(_tensors(session.get_inputs()), _tensors(session.get_outputs()), metadata)

    @property
    def image(self) -> TensorDescription:
        """The input that takes the image.

        Raises:
            InvalidValueError: no input of one or several images.
        """
        found = [one for one in self.inputs if len(one.shape) in (3, 4) and 3 in _channel_sides(one.shape)]
        if not found:
            inputs = ", ".join(map(str, self.inputs))
            raise InvalidValueError(f"expected an image input (1, 3, height, width), found {inputs}")
        return found[0]

    @property
    def channels_last(self) -> bool:
        """Whether images are (height, width, 3), as in models from TensorFlow."""
        shape = self.image.shape
        return shape[-1] == 3 and shape[-3] != 3

    @property
    def input_size(self) -> tuple[int | None, int | None]:
        """Height and width of the image input, None where it takes any."""
        shape = self.image.shape
        return (shape[-3], shape[-2]) if self.channels_last else (shape[-2], shape[-1])

    @property
    def batch(self) -> int | None:
        """Images in one run, None where it takes any number."""
        shape = self.image.shape
        return shape[0] if len(shape) == 4 else 1

    @property
    def family(self) -> str:
        """What the exporter calls the kind of model, "" where it does not say."""
        return self.metadata.get("model_family", "").lower()

    @property
    def takes_text(self) -> bool:
        """Whether classes are told to the model as words."""
        return self.input_named("input_ids") is not None

    @property
    def is_grounded(self) -> bool:
        """Whether all classes are told in one text, as to Grounding DINO; else each for itself, as to OWL."""
        return self.takes_text and self.input_named("token_type_ids", "pixel_mask", "text_token_mask") is not None

    def input_named(self, *names: str) -> TensorDescription | None:
        """Return the first input with one of these names."""
        return next((one for one in self.inputs if one.name in names), None)

    def class_names(self) -> list[str]:
        """Return the class names that the exporter wrote into the file (key `names`, JSON or a Python literal); empty
        where it did not."""
        told = _literal(self.metadata.get("names", ""))
        if isinstance(told, dict):
            numbered = {int(number): str(name) for number, name in told.items() if str(number).lstrip("-").isdigit()}
            return [numbered[number] for number in sorted(numbered)]
        return [str(name) for name in told] if isinstance(told, list) else []

    def told_size(self) -> tuple[int, int] | None:
        """Return height and width that the exporter wrote into the file (key `imgsz`)."""
        told = _literal(self.metadata.get("imgsz", ""))
        if isinstance(told, int):
            return told, told
        if isinstance(told, list) and len(told) == 2 and all(isinstance(side, int) for side in told):
            return told[0], told[1]
        return None


def _tensors(nodes: Sequence[Any]) -> tuple[TensorDescription, ...]:
    return tuple(
        TensorDescription(
            node.name, tuple(side if isinstance(side, int) and side > 0 else None for side in node.shape), node.type
        )
        for node in nodes
    )


def _channel_sides(shape: tuple[int | None, ...]) -> tuple[int | None, int | None]:
    return shape[-3], shape[-1]


def _literal(text: str) -> Any:
    """Return what a text of metadata says: exporters write JSON or Python literals; None where it is neither."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return None
