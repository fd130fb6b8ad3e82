"""What is told of a model: by its ONNX file, and by a small YAML file or Hugging Face's own JSON beside it."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.onnx_runtime import onnxruntime
from memory_node.domain.parameters import Parameters, parameter
from memory_node.domain.resources import read_yaml
from memory_node.perception.config import LayoutName
from memory_node.perception.detectors.preprocessing import Fit, Preprocessing


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
        found = [one for one in self.inputs if len(one.shape) in (3, 4) and 3 in (one.shape[-3], one.shape[-1])]
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


def _literal(text: str) -> Any:
    """Return what a text of metadata says: exporters write JSON or Python literals; None where it is neither."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return None


_HUGGING_FACE = "preprocessor_config.json"


class ModelNotes(Parameters):
    """Keys of the YAML file; what is not said is told from the model."""

    layout: LayoutName = parameter("auto", "the layout of the outputs")
    fit: Literal["auto", "letterbox", "letterbox_top_left", "stretch", "scaled", "none"] = parameter(
        "auto", "how an image enters the input"
    )
    size: tuple[int, ...] = parameter((), "height and width of the input")
    scale: float = parameter(0.0, "factor of colours 0 to 255; 0: the layout's own", 0.0, 1.0)
    mean: tuple[float, ...] = parameter((), "subtracted after scaling: red, green, blue")
    std: tuple[float, ...] = parameter((), "divided by after that")
    channels: Literal["auto", "rgb", "bgr"] = parameter("auto", "order of the colours")
    pad: int = parameter(-1, "colour around a letterboxed image; -1: the layout's own", -1, 255)
    names: tuple[str, ...] = parameter((), "the classes, in the model's order")

    def followed(self, told: Preprocessing) -> Preprocessing:
        """Return a layout's preprocessing with what these notes say instead."""
        return Preprocessing(
            fit=told.fit if self.fit == "auto" else self.fit,
            scale=self.scale or told.scale,
            mean=_three(self.mean, "mean") or told.mean,
            std=_three(self.std, "std") or told.std,
            channels=told.channels if self.channels == "auto" else self.channels,
            pad=told.pad if self.pad < 0 else self.pad,
        )


def read_notes(model: Path) -> ModelNotes:
    """Return what lies beside a model: MODEL.yaml, else Hugging Face's preprocessor_config.json, else nothing.

    Raises:
        InvalidValueError: it cannot be read, or says something that cannot be.
    """
    told = model.with_suffix(".yaml")
    if told.is_file():
        try:
            values = read_yaml(told)
        except (OSError, yaml.YAMLError) as error:
            raise InvalidValueError(f"{told}: no readable YAML: {error}") from error
        if not isinstance(values, dict):
            raise InvalidValueError(f"{told}: expected keys and values, got {type(values).__name__}")
        return ModelNotes.of({key: _tuple(value) for key, value in values.items()}, str(told))
    config = model.with_name(_HUGGING_FACE)
    return _hugging_face(config) if config.is_file() else ModelNotes()


def _hugging_face(path: Path) -> ModelNotes:
    try:
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        fit, sides = _entry(told)
        normal = bool(told.get("do_normalize"))
        return ModelNotes(
            fit=fit,
            size=sides,
            scale=float(told.get("rescale_factor", 1.0 / 255.0)) if told.get("do_rescale", True) else 1.0,
            mean=tuple(float(value) for value in told["image_mean"]) if normal else (),
            std=tuple(float(value) for value in told["image_std"]) if normal else (),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidValueError(f"{path}: no readable preprocessing: {error!r}") from error


def _entry(told: dict[str, Any]) -> tuple[Fit | Literal["auto"], tuple[int, ...]]:
    """Return how Hugging Face's processors fit an image, and height and width or the most of both sides.

    OWL-ViT's stretch it, OWLv2's pad it to a square; DETR's and Grounding DINO's have a shorter and a longest side.
    """
    size = told.get("size") or {}
    if isinstance(size, int) and "max_size" in told:
        size = {"shortest_edge": size, "longest_edge": told["max_size"]}
    if isinstance(size, (int, list)):
        height, width = (size, size) if isinstance(size, int) else size
        size = {"height": height, "width": width}
    if {"shortest_edge", "longest_edge"} <= set(size):
        return "scaled", (int(size["shortest_edge"]), int(size["longest_edge"]))
    sides = (int(size["height"]), int(size["width"])) if {"height", "width"} <= set(size) else ()
    kind = str(told.get("image_processor_type") or told.get("feature_extractor_type") or "")
    return ("stretch" if kind.startswith("OwlViT") else "auto"), sides


def _tuple(value: Any) -> Any:
    if isinstance(value, dict):  # names by their numbers, as YOLO's data files have them
        return tuple(str(value[key]) for key in sorted(value))
    return tuple(value) if isinstance(value, list) else value


def _three(values: tuple[float, ...], what: str) -> tuple[float, float, float] | None:
    if not values:
        return None
    if len(values) != 3:
        raise InvalidValueError(f"{what}: expected three numbers, got {len(values)}")
    return values[0], values[1], values[2]
