"""The checks of rosidl's Python setters for arrays: which values a field accepts, and the array that it stores."""

from __future__ import annotations

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


def checked_numbers(value: Any, name: str, kind: FieldType, check: bool) -> array | np.ndarray:
    """The array that stores an assigned sequence of numbers. With `check`, raises AssertionError for a misfit."""
    try:
        if check and kind.name == "float32":
            _check_finite_stay_finite(value)
        return converted_numbers(value, name, kind, check)
    except (OverflowError, TypeError, ValueError) as error:
        if not check:
            raise
        numbers, limit = _numeric(kind), FLOAT_LIMITS.get(kind.name)
        limits = f"integer in [{numbers.least}, {numbers.greatest}]"
        if limit is not None:
            limits = f"{numbers.idl_name} in [{-limit:f}, {limit:f}]"
        element = f"each value of type '{PYTHON_TYPES.get(kind.name, 'int')}' and each {limits}"
        problem = f"The '{name}' field must be a set or sequence{_length_text(kind)} and {element}"
        raise AssertionError(problem) from error


def converted_numbers(value: Any, name: str, kind: FieldType, check: bool) -> array | np.ndarray:
    """As checked_numbers, but with the errors of array() and numpy, which rosidl's constructors let through.

    An array of the right kind is kept as it is, other numbers are converted: [0, 1] fits float64[].
    """
    return (_ndarray if kind.array == "fixed" else _array)(value, name, kind, check)


def _check_finite_stay_finite(value: Any) -> None:
    if not (isinstance(value, array) and value.typecode == "f") and getattr(value, "dtype", None) != np.float32:
        sizes = np.abs(value if isinstance(value, np.ndarray) else array("d", value))
        if ((sizes > FLOAT_LIMITS["float32"]) & (sizes < np.inf)).any():
            raise OverflowError("a number is beyond the range of float32")


def _array(value: Any, name: str, kind: FieldType, check: bool) -> array:
    code = _numeric(kind).struct_code
    if isinstance(value, array) and value.typecode == code:
        kept = value
    elif isinstance(value, np.ndarray) and value.dtype == np.dtype(code) and value.ndim == 1:
        kept = array(code, value.tobytes())
    else:
        kept = array(code, value)
    if check:
        _check_length(kept, name, kind)
    return kept


def _ndarray(value: Any, name: str, kind: FieldType, check: bool) -> np.ndarray:
    kept = np.asarray(value, dtype=np.dtype(_numeric(kind).struct_code))
    if check:
        assert kept.shape == (kind.size,), f"The '{name}' numpy.ndarray() must have a size of {kind.size}"
    return kept


def check_elements(value: Any, name: str, kind: FieldType, message_class: type | None = None) -> None:
    """Assert that value is a sequence or set of messages, text, octets or bools and fits the field."""
    python_name = message_class.__name__ if message_class else PYTHON_TYPES[kind.name]
    python_type = message_class or {"bool": bool, "bytes": bytes, "str": str}[python_name]
    problem = f"The '{name}' field must be a set or sequence{_length_text(kind)} and each value of type '{python_name}'"
    assert isinstance(value, (Sequence, Set, UserList)), problem
    assert not isinstance(value, (str, UserString)), problem
    _check_length(value, name, kind)
    assert all(isinstance(item, python_type) for item in value), problem
    if kind.string_bound:
        assert all(len(item) <= kind.string_bound for item in value), (
            f"{problem} and each string value not longer than {kind.string_bound}"
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
