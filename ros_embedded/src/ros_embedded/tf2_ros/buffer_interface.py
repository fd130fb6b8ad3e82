"""The interface of buffers, and the registry of types that can be transformed and converted."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.duration import Duration

NO_WAIT = Duration()


class TypeException(Exception):  # noqa: N818
    """No function is registered for a type."""


class _TypeMap:
    """Functions by the types that they work on, shared by all instances of a class, as tf2_ros has it."""

    _functions: dict[Any, Callable[..., Any]]

    def add(self, key: Any, callback: Callable[..., Any]) -> None:
        self._functions[key] = callback

    def get(self, key: Any) -> Callable[..., Any]:
        """Raises TypeException."""
        if key not in self._functions:
            raise TypeException(f"Type {key} is not loaded or supported")
        return self._functions[key]


class TransformRegistration(_TypeMap):
    """Functions that transform an object of a type by a TransformStamped."""

    _functions = {}  # noqa: RUF012


class ConvertRegistration(_TypeMap):
    """Functions that convert between types: directly, by (from, to), or by a message."""

    _functions = {}  # noqa: RUF012

    def add_from_msg(self, key: Any, callback: Callable[..., Any]) -> None:
        self.add(("from_msg", key), callback)

    def add_to_msg(self, key: Any, callback: Callable[..., Any]) -> None:
        self.add(("to_msg", key), callback)

    def add_convert(self, key: tuple[Any, Any], callback: Callable[..., Any]) -> None:
        self.add(key, callback)

    def get_from_msg(self, key: Any) -> Callable[..., Any]:
        return self.get(("from_msg", key))

    def get_to_msg(self, key: Any) -> Callable[..., Any]:
        return self.get(("to_msg", key))

    def get_convert(self, key: tuple[Any, Any]) -> Callable[..., Any]:
        return self.get(key)


def convert(a: Any, b_type: Any) -> Any:
    """Convert an object to another type. Raises TypeException."""
    known = ConvertRegistration()
    try:
        direct = known.get_convert((type(a), b_type))
    except TypeException:
        if type(a) is b_type:
            return deepcopy(a)
        return known.get_from_msg(b_type)(known.get_to_msg(type(a))(a))
    return direct(a)


def Stamped(obj: Any, stamp: Any, frame_id: str) -> Any:  # noqa: N802 - tf2_ros's name
    """Give an object a header."""
    obj.header = get_message("std_msgs/msg/Header")(frame_id=frame_id, stamp=stamp)
    return obj


class BufferInterface:
    """Transforms stamped objects; a subclass provides the lookups."""

    lookup_transform: Callable[..., Any]

    def __init__(self) -> None:
        self.registration = TransformRegistration()

    def transform(
        self, object_stamped: Any, target_frame: str, timeout: Duration = NO_WAIT, new_type: Any = None
    ) -> Any:
        """Transform an object with a header to another frame at its own time. Raises TypeException."""
        do_transform, header = self.registration.get(type(object_stamped)), object_stamped.header
        result = do_transform(
            object_stamped, self.lookup_transform(target_frame, header.frame_id, header.stamp, timeout)
        )
        return result if new_type is None else convert(result, new_type)
