"""Malformed ROS messages for `bench hostile`: each field is drawn from values that break programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

NAN, INFINITE = float("nan"), float("inf")
_WHOLE = {
    "int8": (-(2**7), 2**7 - 1),
    "uint8": (0, 2**8 - 1),
    "char": (0, 2**8 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}
_NUMBERS = st.sampled_from(
    [0.0, -0.0, 1.0, 0.5, -1.0, 7.0, NAN, INFINITE, -INFINITE, 1e30, -1e30, 5e-324, 3.4e38, 99_999.0, 100_001.0]
) | st.floats(-50.0, 50.0)
_DOUBLES = _NUMBERS | st.sampled_from([1.7e308, -1.7e308, 1e300])
# Files that a path among the texts would make.
ESCAPES = (Path("/tmp/robot_memory_outside"), Path("/tmp/robot_memory_outside.db"))
_TEXTS = st.sampled_from(
    [
        "",
        " ",
        "\t\n",
        "Mug",
        "Apple",
        "Mug@1.0,1.0,0.8",
        "Apple@nan,nan,nan",
        "Apple@1e309,0,0",
        "Apple@1,2",
        "@",
        "@@@",
        "map",
        "/map",
        "odom",
        "camera",
        "robot",
        "dirty",
        "cleaned",
        "opened",
        "closed",
        "none",
        "PickupObject",
        "GoToObject",
        "Explore",
        "relabel",
        "merge",
        "split",
        "delete",
        "name_room",
        "../../etc/passwd",
        "..",
        "../outside",
        str(ESCAPES[0]),
        str(ESCAPES[1]),
        "a\\b",
        "'; DROP TABLE objects; --",
        "{{ 7 * 7 }}",
        "%s%n%x",
        "\u202eright to left",
        "größer",
        "🍎",
        "rgb8",
        "16UC1",
        "32FC1",
        "mono8",
        "0" * 40,
        "x" * 201,
    ]
) | st.text(max_size=20)
_LONG_TEXTS = st.sampled_from(["y" * 10_001, "z" * 200_000]) | _TEXTS
_ARRAY = re.compile(r"^(?:sequence<(?P<of>[^,>]+)(?:,\s*(?P<most>\d+))?>|(?P<item>[^\[]+)\[(?P<size>\d+)\])$")


def messages(kind: type, depth: int = 0) -> st.SearchStrategy[Any]:
    """Return a strategy of messages of a kind. Some fields keep their defaults, in half of the messages most: else all
    would be refused for the first field, and nothing would come to what is behind."""
    fields = kind.get_fields_and_field_types()  # type: ignore[attr-defined]

    @st.composite
    def message(draw: st.DrawFn) -> Any:
        made, kept = kind(), draw(st.sampled_from([1, 4]))
        for name, type_name in fields.items():
            if draw(st.integers(0, 2 + kept)) > kept:
                setattr(made, name, draw(_values(type_name, depth)))
        return made

    return message()


def _values(type_name: str, depth: int) -> st.SearchStrategy[Any]:
    array = _ARRAY.match(type_name)
    if array is not None:
        item = (array["of"] or array["item"]).strip()
        size = int(array["size"]) if array["size"] else None
        return _arrays(item, size, min(int(array["most"] or 4), 4), depth)
    base = type_name.partition("<")[0]
    if base in ("boolean", "bool"):
        return st.booleans()
    if base in ("float", "float32"):
        return _NUMBERS
    if base in ("double", "float64"):
        return _DOUBLES
    if base in ("byte", "octet"):
        return st.binary(min_size=1, max_size=1)
    if base in _WHOLE:
        low, high = _WHOLE[base]
        edges = [value for value in (low, -1, 0, 1, 2, 1000, 999_999_999, high) if low <= value <= high]
        return st.sampled_from(edges) | st.integers(low, high)
    if base in ("string", "wstring"):
        return _TEXTS if depth else _LONG_TEXTS
    return messages(_message_class(base), depth + 1)


def _arrays(item: str, size: int | None, most: int, depth: int) -> st.SearchStrategy[Any]:
    if item in ("uint8", "octet", "byte", "int8") and size is None:
        return st.binary(max_size=300).map(lambda data: _bytes(item, data))
    if size is not None:
        return st.lists(_values(item, depth), min_size=size, max_size=size)
    if depth > 3:
        return st.just([])
    few = st.lists(_values(item, depth + 1), max_size=most)
    if depth > 0:  # a thousand times a thousand would be hostile to the network alone
        return few
    # One value a thousand times over: long lists are cheap to make and dear to work through.
    return few | st.tuples(_values(item, depth + 1), st.sampled_from([50, 1_001])).map(lambda pair: [pair[0]] * pair[1])


def _bytes(item: str, data: bytes) -> Any:
    if item == "int8":
        return [byte - 128 for byte in data]
    return [bytes([byte]) for byte in data] if item in ("octet", "byte") else data


def _message_class(type_name: str) -> type:
    """Return the class of "geometry_msgs/Point" or "geometry_msgs/msg/Point"."""
    import importlib

    package, *_, name = type_name.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)
