"""Declares a frozen config dataclass as ROS parameters, and reads it back validated."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

from memory_node.domain.errors import InvalidValueError

Config = TypeVar("Config")


def parameter(
    default: Any, description: str, low: float | None = None, high: float | None = None, choices: tuple[str, ...] = ()
) -> Any:
    """Return a dataclass field that `declare` turns into a described ROS parameter; low and high are inclusive."""
    metadata = {"description": description, "low": low, "high": high, "choices": choices}
    return dataclasses.field(default=default, metadata=metadata)


def declare(node: Node, config_type: type[Config], prefix: str = "") -> Config:
    """Declare each field of a frozen dataclass as a read-only parameter; nested dataclasses become `outer.inner`.

    Raises:
        InvalidValueError: a value outside the field's range or choices.
    """
    types = typing.get_type_hints(config_type)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(config_type):  # type: ignore[arg-type]
        name = prefix + field.name
        if dataclasses.is_dataclass(types[field.name]):
            values[field.name] = declare(node, typing.cast(type, types[field.name]), name + ".")
            continue
        default = _default(field)
        ros_default = list(default) if isinstance(default, tuple) else default
        value = node.declare_parameter(name, ros_default, _descriptor(field, default)).value
        choices = field.metadata.get("choices")
        if choices and value not in choices:
            raise InvalidValueError(f"parameter {name}: expected one of {', '.join(choices)}, got {value!r}")
        values[field.name] = tuple(value) if isinstance(default, tuple) else value
    return config_type(**values)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _descriptor(field: dataclasses.Field[Any], default: Any) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(description=field.metadata.get("description", ""), read_only=True)
    choices = field.metadata.get("choices")
    if choices:
        descriptor.additional_constraints = "one of " + ", ".join(choices)
    low, high = field.metadata.get("low"), field.metadata.get("high")
    if low is None or high is None or isinstance(default, bool):
        return descriptor
    if isinstance(default, int):
        descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high), step=0)]
    else:
        descriptor.floating_point_range = [FloatingPointRange(from_value=float(low), to_value=float(high), step=0.0)]
    return descriptor
