"""Interface definitions: messages, their fields, types and constants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Value = bool | int | float | str | bytes | list


@dataclass(frozen=True)
class Primitive:
    """A built-in type: size and alignment in CDR, code in `struct` and `array`, IDL name and REP-2011 id."""

    size_bytes: int
    struct_code: str
    idl_name: str
    type_id: int
    least: int = 0
    greatest: int = 0

    @property
    def is_integer(self) -> bool:
        """True for int8 to uint64."""
        return self.greatest > 0

    @property
    def is_numeric(self) -> bool:
        """True where rosidl's Python keeps sequences as array.array and fixed arrays as numpy.ndarray."""
        return self.is_integer or self.struct_code in "fd"


PRIMITIVES = {
    "bool": Primitive(1, "?", "boolean", 15),
    "byte": Primitive(1, "c", "octet", 16),
    "float32": Primitive(4, "f", "float", 10),
    "float64": Primitive(8, "d", "double", 11),
}
for _id, _code in enumerate("bBhHiIqQ", 2):
    _bits, _signed = 8 << (_id - 2) // 2, _code.islower()
    _name = f"{'' if _signed else 'u'}int{_bits}"
    _least, _greatest = (-(1 << _bits - 1), (1 << _bits - 1) - 1) if _signed else (0, (1 << _bits) - 1)
    PRIMITIVES[_name] = Primitive(_bits // 8, _code, _name, _id, _least, _greatest)
STRINGS = ("string", "wstring")


@dataclass(frozen=True)
class FieldType:
    """The type of a field.

    name is a key of PRIMITIVES, one of STRINGS, or the full name of a message such as `std_msgs/msg/Header`;
    string_bound and bounded sizes are 0 where there is no bound.
    """

    name: str
    string_bound: int = 0
    array: Literal["", "fixed", "bounded", "unbounded"] = ""
    size: int = 0

    @property
    def is_message(self) -> bool:
        return "/" in self.name

    @property
    def is_string(self) -> bool:
        return self.name in STRINGS

    @property
    def primitive(self) -> Primitive | None:
        """The element's entry in PRIMITIVES; None for strings and messages."""
        return PRIMITIVES.get(self.name)

    @property
    def is_numeric_array(self) -> bool:
        """True where the values are kept in array.array or numpy.ndarray."""
        return bool(self.array) and self.primitive is not None and self.primitive.is_numeric

    @property
    def element(self) -> FieldType:
        """The type of one element of an array; the type itself if it is no array."""
        return replace(self, array="", size=0)

    @property
    def slot_text(self) -> str:
        """As get_fields_and_field_types() of rosidl's Python classes writes it."""
        if self.is_message:
            package, _, name = self.name.split("/")
            base = f"{package}/{name}"
        elif self.is_string:
            base = self.name + (f"<{self.string_bound}>" if self.string_bound else "")
        else:
            base = PRIMITIVES[self.name].idl_name
        sequences = {"bounded": f"sequence<{base}, {self.size}>", "unbounded": f"sequence<{base}>"}
        return {"": base, "fixed": f"{base}[{self.size}]", **sequences}[self.array]


@dataclass(frozen=True)
class Field:
    """One field; default is None where the definition gives none."""

    name: str
    type: FieldType
    default: Value | None = None


@dataclass(frozen=True)
class Constant:
    """A named constant of a message."""

    name: str
    type: FieldType
    value: Value


@dataclass(frozen=True)
class MessageDefinition:
    """A message, or a part of a service or action, by its full name such as `std_srvs/srv/Trigger_Request`."""

    name: str
    fields: tuple[Field, ...]
    constants: tuple[Constant, ...] = ()

    @property
    def wire_fields(self) -> tuple[Field, ...]:
        """The fields on the wire: an empty message carries one byte, because C structures are never empty."""
        return self.fields or (Field("structure_needs_at_least_one_member", FieldType("uint8")),)
