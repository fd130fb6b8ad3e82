"""Message classes with the semantics of rosidl's generated Python, made from definitions when first asked for."""

from __future__ import annotations

import math
import os
import re
from array import array
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ros_embedded.interfaces import field_checks
from ros_embedded.interfaces.definitions import Field, FieldType, MessageDefinition, Value

CHECK_FIELDS = os.environ.get("ROS_PYTHON_CHECK_FIELDS", "1") != "0"


class MessageMeta(type):
    """Keeps the constants of a message class from being changed."""

    _CONSTANTS: frozenset[str] = frozenset()

    def __setattr__(cls, name: str, value: Any) -> None:
        if name in cls._CONSTANTS:
            raise AttributeError(f"constant {name!r} of {cls.__name__} cannot be changed")
        super().__setattr__(name, value)


def full_name(message_class: type) -> str | None:
    """The name of a message class (`std_msgs/msg/Header`), also of one that a real ROS made; None of other classes."""
    if not hasattr(message_class, "get_fields_and_field_types"):
        return None
    own = getattr(message_class, "_TYPE_NAME", None)
    return own or "/".join((*message_class.__module__.split(".")[:2], message_class.__name__))


class Message(metaclass=MessageMeta):
    """The base of message classes; each adds a slot and a checked property for every field."""

    __slots__ = ()
    _TYPE_NAME: ClassVar[str]
    _fields_and_field_types: ClassVar[dict[str, str]] = {}

    @classmethod
    def get_fields_and_field_types(cls) -> dict[str, str]:
        """The type of each field by its name, such as {'data': 'sequence<uint8>'}."""
        return dict(cls._fields_and_field_types)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, self.__class__):
            return False
        for name in self._fields_and_field_types:
            mine, theirs = getattr(self, name), getattr(other, name)
            if not (np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else mine == theirs):
                return False
        return True

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = []
        for name in self._fields_and_field_types:
            value = getattr(self, name)
            values.append(f"{name}={value.tolist() if isinstance(value, array) else value!r}")
        module = self.__class__.__module__.rpartition(".")[0]
        return f"{module}.{self.__class__.__name__}({', '.join(values)})"


def make_message_class(definition: MessageDefinition, class_of: Callable[[str], type]) -> type:
    """Make the class of a definition; class_of gives the classes of the messages that it is built of."""
    package, kind, name = definition.name.split("/")
    fields = definition.fields
    values = {constant.name: constant.value for constant in definition.constants}
    values |= {f"{field.name.upper()}__DEFAULT": field.default for field in fields if field.default is not None}
    names: dict[str, Any] = {
        "__name__": module_name(package, kind, name),
        "field_property": property,
        "Message": Message,
    }
    names |= {"array": array, "isinf": math.isinf, "np": np, "checks": field_checks}
    names |= {"CHECK_FIELDS": CHECK_FIELDS, "FIELDS": frozenset(field.name for field in fields), "KINDS": {}}
    for field in fields:
        names["KINDS"][field.name] = field.type
        if field.type.is_message:
            names[_class_name(field.type)] = class_of(field.type.name)
    source = "\n".join([f"class {name}(Message):", *_init_lines(fields), *(_property(field) for field in fields)])
    exec(compile(source, f"<{definition.name}>", "exec"), names)
    made = names[name]
    for key, value in values.items():
        setattr(made, key, value)
    made._TYPE_NAME = definition.name
    made._fields_and_field_types = {field.name: field.type.slot_text for field in fields}
    made.__doc__ = f"Message class '{name}'."
    made._CONSTANTS = frozenset(values)
    return made


def snake_case(name: str) -> str:
    """The file name that rosidl gives to an interface: `AddTwoInts` -> `add_two_ints`, `TFMessage` -> `tf_message`."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()


def module_name(package: str, kind: str, name: str) -> str:
    """Name the private module in which rosidl defines an interface: `std_msgs.msg._string`."""
    return f"{package}.{kind}._{snake_case(name.split('_')[0])}"


def _class_name(kind: FieldType) -> str:
    return kind.name.replace("/", "__")


def _init_lines(fields: tuple[Field, ...]) -> list[str]:
    """Source of __init__. Messages are made often, so it has no loops and checks only values that the caller gives."""
    slots = "".join(f"'_{field.name}', " for field in fields)
    lines = [
        f"  __slots__ = [{slots}'_check_fields']",
        "  def __init__(self, **kwargs):",
        "    self._check_fields = kwargs.pop('check_fields', CHECK_FIELDS) if kwargs else CHECK_FIELDS",
        "    if kwargs and self._check_fields:",
        "      assert kwargs.keys() <= FIELDS, \\",
        "        'Invalid arguments passed to constructor: %s' % ', '.join(sorted(kwargs.keys() - FIELDS))",
    ]
    for field in fields:
        given = f"kwargs['{field.name}']"
        value = (
            f"self._{field.name} = {_kept_numbers(field, given, 'converted')}" if field.type.is_numeric_array else ""
        )
        lines.append(f"    if '{field.name}' in kwargs: {value or f'self.{field.name} = {given}'}")
        lines.append(f"    else: self._{field.name} = {_default_text(field)}")
    return lines


def _default_text(field: Field) -> str:
    kind = field.type
    primitive = kind.primitive
    if primitive is not None and kind.is_numeric_array:
        values = repr(field.default) if field.default is not None else ""
        if kind.array != "fixed":
            return f"array('{primitive.struct_code}', {values or '()'})"
        return f"np.{'array' if values else 'zeros'}({values or kind.size}, np.dtype('{primitive.struct_code}'))"
    if field.default is not None:
        return _literal(field.default)
    if kind.array in ("bounded", "unbounded"):
        return "[]"
    zero = f"{_class_name(kind)}()" if kind.is_message else _zero_text(kind)
    return f"[{zero} for _ in range({kind.size})]" if kind.array else zero


def _zero_text(kind: FieldType) -> str:
    return {"bool": "False", "byte": "b'\\0'", "float32": "0.0", "float64": "0.0"}.get(
        kind.name, "''" if kind.is_string else "0"
    )


def _literal(value: Value) -> str:
    """Source text of a default; repr() of inf and nan is not source text."""
    return f"float('{value}')" if isinstance(value, float) and not math.isfinite(value) else repr(value)


def _property(field: Field) -> str:
    name = field.name
    return "\n".join(
        [
            "  @field_property",
            f"  def {name}(self): return self._{name}",
            f"  @{name}.setter",
            f"  def {name}(self, value):",
            *(f"    {line}" for line in _setter_lines(field)),
        ]
    )


def _setter_lines(field: Field) -> list[str]:
    name, kind = field.name, field.type
    if kind.is_numeric_array:
        return [f"self._{name} = {_kept_numbers(field, 'value', 'checked')}"]
    if kind.array:
        element = _class_name(kind) if kind.is_message else "None"
        test = [f"checks.check_elements(value, '{name}', KINDS['{name}'], {element})"]
    else:
        test = [f"assert {condition}, {problem!r}" for condition, problem in _scalar_tests(name, kind)]
    return ["if self._check_fields:", *(f"  {line}" for line in test), f"self._{name} = value"]


def _kept_numbers(field: Field, value: str, how: str) -> str:
    return f"checks.{how}_numbers({value}, '{field.name}', KINDS['{field.name}'], self._check_fields)"


def _scalar_tests(name: str, kind: FieldType) -> list[tuple[str, str]]:
    """Conditions on `value`, each with the error text for a value that breaks it."""
    begin = f"The '{name}' field must be"
    primitive = kind.primitive
    if kind.is_message:
        short = kind.name.rpartition("/")[2]
        return [(f"isinstance(value, {_class_name(kind)})", f"{begin} a sub message of type '{short}'")]
    if kind.string_bound:
        bounded = f"isinstance(value, str) and len(value) <= {kind.string_bound}"
        return [(bounded, f"{begin} string value not longer than {kind.string_bound}")]
    if primitive is None:
        return [("isinstance(value, str)", f"{begin} of type 'str'")]
    if kind.name == "byte":
        is_octet = "isinstance(value, (bytes, bytearray)) and len(value) == 1"
        return [(is_octet, f"{begin} of type 'bytes' or 'ByteString' with length 1")]
    python_type = field_checks.PYTHON_TYPES.get(kind.name, "int")
    tests = [(f"isinstance(value, {python_type})", f"{begin} of type '{python_type}'")]
    if primitive.is_integer:
        unsigned = "" if primitive.least else "unsigned "
        limits = f"[{primitive.least}, {primitive.greatest}]"
        in_range = f"{primitive.least} <= value <= {primitive.greatest}"
        tests.append((in_range, f"{begin} an {unsigned}integer in {limits}"))
    elif kind.name in field_checks.FLOAT_LIMITS:
        limit = field_checks.FLOAT_LIMITS[kind.name]
        in_range = f"not (value < {-limit!r} or value > {limit!r}) or isinf(value)"
        tests.append((in_range, f"{begin} a {primitive.idl_name} in [{-limit}, {limit}]"))
    return tests
