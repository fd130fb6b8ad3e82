"""Parameters of nodes and their message form."""

from __future__ import annotations

import array
from dataclasses import dataclass
from enum import Enum
from typing import Any

import yaml

from ros_embedded.interfaces import get_message

PARAMETER_SEPARATOR_STRING = "."

_FIELDS = (
    "", "bool_value", "integer_value", "double_value", "string_value", "byte_array_value", "bool_array_value",
    "integer_array_value", "double_array_value", "string_array_value",
)  # fmt: skip
_SCALARS: tuple[type, ...] = (bool, int, float, str)
_ELEMENTS: tuple[type, ...] = (bytes, bool, int, float, str)
_FIRST_ARRAY = 5


@dataclass(frozen=True, eq=False, repr=False)
class Parameter:
    """A name with a typed value; the type is guessed from the value if not given. Raises TypeError or ValueError."""

    class Type(Enum):
        """Types as numbered in rcl_interfaces/msg/ParameterType."""

        NOT_SET = 0
        BOOL = 1
        INTEGER = 2
        DOUBLE = 3
        STRING = 4
        BYTE_ARRAY = 5
        BOOL_ARRAY = 6
        INTEGER_ARRAY = 7
        DOUBLE_ARRAY = 8
        STRING_ARRAY = 9

        @classmethod
        def from_parameter_value(cls, parameter_value: Any) -> Parameter.Type:
            """The type of a Python value. Raises TypeError if it is none of the allowed ones."""
            if parameter_value is None:
                return cls.NOT_SET
            for number, kind in enumerate(_SCALARS, 1):
                if isinstance(parameter_value, kind):
                    return cls(number)
            if not isinstance(parameter_value, (list, tuple, array.array)):
                raise TypeError(f"The given value is not one of the allowed types '{parameter_value}'.")
            for number, kind in enumerate(_ELEMENTS, _FIRST_ARRAY):
                if all(isinstance(value, kind) for value in parameter_value):
                    return cls(number)
            raise TypeError(f"The given value is not a list of one of the allowed types '{parameter_value}'.")

        def check(self, parameter_value: Any) -> bool:
            """True if the value is of this type."""
            if self.value == 0:
                return parameter_value is None
            if self.value < _FIRST_ARRAY:
                return isinstance(parameter_value, _SCALARS[self.value - 1])
            kind = _ELEMENTS[self.value - _FIRST_ARRAY]
            sequences = (list, tuple, array.array) if kind in (int, float) else (list, tuple)
            return isinstance(parameter_value, sequences) and all(isinstance(value, kind) for value in parameter_value)

    name: str
    type_: Parameter.Type = None  # type: ignore[assignment]  # until it is guessed
    value: Any = None

    def __post_init__(self) -> None:
        if self.type_ is None:
            object.__setattr__(self, "type_", Parameter.Type.from_parameter_value(self.value))
        if not isinstance(self.type_, Parameter.Type):
            raise TypeError(f"type must be an instance of '{Parameter.Type!r}'")
        if not self.type_.check(self.value):
            raise ValueError(f"Type '{self.type_}' and value '{self.value}' do not agree")

    @classmethod
    def from_parameter_msg(cls, param_msg: Any) -> Parameter:
        type_ = cls.Type(param_msg.value.type)
        value = None if type_ is cls.Type.NOT_SET else getattr(param_msg.value, _FIELDS[type_.value])
        return cls(param_msg.name, type_, value)

    def get_parameter_value(self) -> Any:
        """As rcl_interfaces/msg/ParameterValue."""
        message = get_message("rcl_interfaces/msg/ParameterValue")(type=self.type_.value)
        if self.type_ is not Parameter.Type.NOT_SET:
            setattr(message, _FIELDS[self.type_.value], self.value)
        return message

    def to_parameter_msg(self) -> Any:
        return get_message("rcl_interfaces/msg/Parameter")(name=self.name, value=self.get_parameter_value())


def parameter_value_to_python(parameter_value: Any) -> Any:
    """The Python value of a ParameterValue message, None if not set. Raises RuntimeError for an unknown type."""
    if parameter_value.type == 0:
        return None
    if parameter_value.type >= len(_FIELDS):
        raise RuntimeError(f"unexpected parameter type {parameter_value.type}")
    value = getattr(parameter_value, _FIELDS[parameter_value.type])
    return list(value) if parameter_value.type >= _FIRST_ARRAY else value


def get_parameter_value(string_value: str) -> Any:
    """An rcl_interfaces/msg/ParameterValue of what the text means as YAML, or of the text itself."""
    try:
        value = yaml.safe_load(string_value)
        Parameter.Type.from_parameter_value(value)
    except (yaml.YAMLError, TypeError):
        value = None
    if value == []:  # an empty list fits all array types; a Parameter would take the first, octets
        return Parameter("", Parameter.Type.BOOL_ARRAY, []).get_parameter_value()
    return Parameter("", value=string_value if value is None else value).get_parameter_value()
