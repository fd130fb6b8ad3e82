"""The checks of rosidl's Python setters for arrays: what a field of many elements accepts and what it keeps."""

from __future__ import annotations

import math
from array import array
from collections import UserList, UserString
from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from ros_embedded.interfaces.definitions import FieldType, Primitive

FLOAT_LIMITS = {"float32": 3.402823466e38, "float64": 1.7976931348623157e308}
PYTHON_TYPES = {
    "bool": "bool",
    "byte": "bytes",
    "string": "str",
    "wstring": "str",
    "float32": "float",
    "float64": "float",
}


def checked_array(value: Any, name: str, kind: FieldType, check: bool) -> array:
    """The array.array that a sequence of numbers is kept in; one of the right type code is kept as it is."""
    primitive = _numeric(kind)
    code = primitive.struct_code
    if isinstance(value, array):
        if check:
            assert value.typecode == code, f"The '{name}' array.array() must have the type code of '{code}'"
            _check_length(value, name, kind)
        return value if value.typecode == code else array(code, value)
    is_same_layout = isinstance(value, np.ndarray) and value.dtype == np.dtype(code) and value.ndim == 1
    if not (is_same_layout or (code == "B" and isinstance(value, (bytes, bytearray)))):
        if check and not isinstance(value, np.ndarray):
            check_elements(value, name, kind)
        return array(code, value)
    kept = array(code)
    kept.frombytes(value.tobytes() if is_same_layout else value)
    if check:
        _check_length(kept, name, kind)
    return kept


def checked_ndarray(value: Any, name: str, kind: FieldType, check: bool) -> np.ndarray:
    """The numpy array that a fixed number of numbers is kept in; one of the right dtype is kept as it is."""
    dtype = np.dtype(_numeric(kind).struct_code)
    if check and isinstance(value, np.ndarray):
        assert value.dtype == dtype, f"The '{name}' numpy.ndarray() must have the dtype of '{dtype}'"
        assert value.shape == (kind.size,), f"The '{name}' numpy.ndarray() must have a size of {kind.size}"
        return value
    if check:
        check_elements(value, name, kind)
    return np.array(value, dtype=dtype)


def check_elements(value: Any, name: str, kind: FieldType, message_class: type | None = None) -> None:
    """Assert that value is a sequence or set that fits the field's type, length and range."""
    python_name = message_class.__name__ if message_class else PYTHON_TYPES.get(kind.name, "int")
    python_type = message_class or {"bool": bool, "bytes": bytes, "str": str, "float": float, "int": int}[python_name]
    problem = f"The '{name}' field must be a set or sequence{_length_text(kind)} and each value of type '{python_name}'"
    assert isinstance(value, (Sequence, Set, UserList)), problem
    assert not isinstance(value, (str, UserString)), problem
    _check_length(value, name, kind)
    assert all(isinstance(item, python_type) for item in value), problem
    if kind.string_bound:
        assert all(len(item) <= kind.string_bound for item in value), (
            f"{problem} and each string value not longer than {kind.string_bound}"
        )
    primitive = kind.primitive
    if primitive is None or not value:
        return
    if primitive.is_integer:
        in_range = min(value) >= primitive.least and max(value) <= primitive.greatest
        assert in_range, f"{problem} and each integer in [{primitive.least}, {primitive.greatest}]"
    elif kind.name == "float32":
        limit = FLOAT_LIMITS["float32"]
        assert all(not (item < -limit or item > limit) or math.isinf(item) for item in value), (
            f"{problem} and each float in [{-limit}, {limit}]"
        )


def _check_length(value: Any, name: str, kind: FieldType) -> None:
    if kind.array == "fixed":
        assert len(value) == kind.size, f"The '{name}' field must have a length of {kind.size}, not {len(value)}"
    elif kind.array == "bounded":
        assert len(value) <= kind.size, f"The '{name}' field must have a size <= {kind.size}, not {len(value)}"


def _length_text(kind: FieldType) -> str:
    return {"fixed": f" with length {kind.size}", "bounded": f" with length <= {kind.size}"}.get(kind.array, "")


def _numeric(kind: FieldType) -> Primitive:
    primitive = kind.primitive
    assert primitive is not None
    return primitive
