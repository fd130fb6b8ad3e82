"""What a small YAML file beside a model says of it: MODEL.yaml beside MODEL.onnx; and Hugging Face's own JSON there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import yaml

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.parameters import Parameters, parameter
from memory_node.domain.resources import read_yaml
from memory_node.perception.detectors.layout_names import LayoutName
from memory_node.perception.detectors.preprocessing import Fit, Preprocessing

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
