"""What an interface definition says, and how messages combine to services and actions."""

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


def _integer(bits: int, code: str, type_id: int, signed: bool) -> Primitive:
    least, greatest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return Primitive(bits // 8, code, f"{'' if signed else 'u'}int{bits}", type_id, least, greatest)


PRIMITIVES: dict[str, Primitive] = {
    "bool": Primitive(1, "?", "boolean", 15),
    "byte": Primitive(1, "c", "octet", 16),
    "int8": _integer(8, "b", 2, True),
    "uint8": _integer(8, "B", 3, False),
    "int16": _integer(16, "h", 4, True),
    "uint16": _integer(16, "H", 5, False),
    "int32": _integer(32, "i", 6, True),
    "uint32": _integer(32, "I", 7, False),
    "int64": _integer(64, "q", 8, True),
    "uint64": _integer(64, "Q", 9, False),
    "float32": Primitive(4, "f", "float", 10),
    "float64": Primitive(8, "d", "double", 11),
}
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
        """True if the element is another message."""
        return "/" in self.name

    @property
    def is_string(self) -> bool:
        """True if the element is a string or wstring."""
        return self.name in STRINGS

    @property
    def primitive(self) -> Primitive | None:
        """The element's entry in PRIMITIVES; None for strings and messages."""
        return PRIMITIVES.get(self.name)

    @property
    def element(self) -> FieldType:
        """The type of one element of an array; the type itself if it is no array."""
        return replace(self, array="", size=0)

    @property
    def msg_text(self) -> str:
        """As written in a .msg file."""
        base = self.name + (f"<={self.string_bound}" if self.string_bound else "")
        if self.is_message:
            package, _, name = self.name.split("/")
            base = f"{package}/{name}"
        return base + {"": "", "fixed": f"[{self.size}]", "bounded": f"[<={self.size}]", "unbounded": "[]"}[self.array]

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
        sequence = f"sequence<{base}, {self.size}>"
        return {"": base, "fixed": f"{base}[{self.size}]", "bounded": sequence, "unbounded": f"sequence<{base}>"}[
            self.array
        ]


@dataclass(frozen=True)
class Field:
    """One field; default is None where the definition gives none."""

    name: str
    type: FieldType
    default: Value | None = None
    comment: str = ""


@dataclass(frozen=True)
class Constant:
    """A named constant of a message."""

    name: str
    type: FieldType
    value: Value
    comment: str = ""


@dataclass(frozen=True)
class MessageDefinition:
    """A message, or a part of a service or action, by its full name such as `std_srvs/srv/Trigger_Request`."""

    name: str
    fields: tuple[Field, ...]
    constants: tuple[Constant, ...] = ()
    source: str = ""

    @property
    def wire_fields(self) -> tuple[Field, ...]:
        """The fields as they travel: C structures are never empty, so an empty message carries one byte."""
        return self.fields or (Field("structure_needs_at_least_one_member", FieldType("uint8")),)


@dataclass(frozen=True)
class ServiceDefinition:
    """A service by its full name, with the text it was read from."""

    name: str
    request: MessageDefinition
    response: MessageDefinition
    source: str = ""


@dataclass(frozen=True)
class ActionDefinition:
    """An action by its full name, with the text it was read from."""

    name: str
    goal: MessageDefinition
    result: MessageDefinition
    feedback: MessageDefinition
    source: str = ""


_UUID = Field("goal_id", FieldType("unique_identifier_msgs/msg/UUID"))


def _message(name: str, *fields: tuple[str, FieldType]) -> MessageDefinition:
    return MessageDefinition(name, tuple(Field(*field) for field in fields))


def event_of(service: str) -> MessageDefinition:
    """The message published by service introspection."""
    return _message(
        f"{service}_Event",
        ("info", FieldType("service_msgs/msg/ServiceEventInfo")),
        ("request", FieldType(f"{service}_Request", array="bounded", size=1)),
        ("response", FieldType(f"{service}_Response", array="bounded", size=1)),
    )


def service_as_message(service: str) -> MessageDefinition:
    """The structure that stands for a service in REP-2011 type descriptions."""
    return _message(
        service,
        *((f"{part}_message", FieldType(f"{service}_{part.title()}")) for part in ("request", "response", "event")),
    )


def action_as_message(action: str) -> MessageDefinition:
    """The structure that stands for an action in REP-2011 type descriptions."""
    names = ("Goal", "Result", "Feedback", "SendGoal", "GetResult", "FeedbackMessage")
    keys = ("goal", "result", "feedback", "send_goal_service", "get_result_service", "feedback_message")
    return _message(action, *((key, FieldType(f"{action}_{name}")) for key, name in zip(keys, names)))


def send_goal_service(action: str) -> ServiceDefinition:
    """The service by which a client sends a goal."""
    name = f"{action}_SendGoal"
    request = MessageDefinition(f"{name}_Request", (_UUID, Field("goal", FieldType(f"{action}_Goal"))))
    stamp = FieldType("builtin_interfaces/msg/Time")
    return ServiceDefinition(
        name, request, _message(f"{name}_Response", ("accepted", FieldType("bool")), ("stamp", stamp))
    )


def get_result_service(action: str) -> ServiceDefinition:
    """The service by which a client waits for a goal's result."""
    name = f"{action}_GetResult"
    response = _message(f"{name}_Response", ("status", FieldType("int8")), ("result", FieldType(f"{action}_Result")))
    return ServiceDefinition(name, MessageDefinition(f"{name}_Request", (_UUID,)), response)


def feedback_message(action: str) -> MessageDefinition:
    """The message of an action's feedback topic."""
    return MessageDefinition(f"{action}_FeedbackMessage", (_UUID, Field("feedback", FieldType(f"{action}_Feedback"))))
