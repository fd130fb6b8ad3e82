"""Reads .msg, .srv and .action text (https://docs.ros.org/en/jazzy/Concepts/Basic/About-Interfaces.html).

`rosbags` has a parser too, but it drops the defaults of fields.
"""

from __future__ import annotations

import re

from ros_embedded.interfaces.definitions import (
    PRIMITIVES,
    STRINGS,
    Constant,
    Field,
    FieldType,
    MessageDefinition,
    Value,
)


class InterfaceSyntaxError(ValueError):
    """An interface definition that cannot be read; names the file's type and line."""


_TYPE = re.compile(
    r"(?P<base>[^\[<]+)(<=\+?(?P<string_bound>\d+))?(?P<brackets>\[((?P<bounded><=)?\+?(?P<size>\d+))?\])?$"
)
# rosidl refuses other names
_FIELD_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*$")
_CONSTANT_NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$")
_MESSAGE_NAME = re.compile(r"(Sample_)?[A-Z][A-Za-z0-9]*(_(Request|Response|Goal|Result|Feedback))*$")
_TEXT_ELEMENT = re.compile(
    r"""\s*((?P<quote>["'])(?P<quoted>(\\(?P=quote)|(?!\\?(?P=quote)).)*)(?P=quote)|(?P<plain>[^\s,"'][^,]*))\s*,?"""
)
_ALIASES = {"char": "uint8"}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def parse_message(name: str, text: str) -> MessageDefinition:
    """Read a .msg text as the message of the given full name; as in rosidl, # begins a comment within quotes too.

    Raises InterfaceSyntaxError with the line that cannot be read.
    """
    entries: list[Field | Constant] = []
    for number, line in enumerate(text.splitlines(), 1):
        statement = line.partition("#")[0].replace("\t", " ").rstrip()
        if statement:
            try:
                entries.append(_statement(name.split("/")[0], statement))
            except ValueError as error:
                raise InterfaceSyntaxError(f"{name}, line {number}: {line.strip()!r}: {error}") from error
    fields = tuple(entry for entry in entries if isinstance(entry, Field))
    constants = tuple(entry for entry in entries if isinstance(entry, Constant))
    for kind, named in (("fields", fields), ("constants", constants)):
        if len({entry.name for entry in named}) != len(named):
            raise InterfaceSyntaxError(f"{name}: two {kind} of the same name")
    return MessageDefinition(name, fields, constants)


def sections(name: str, text: str, count: int) -> list[str]:
    """The parts of a .srv or .action text. Raises InterfaceSyntaxError."""
    parts = re.split(r"^\s*---\s*$", text, flags=re.MULTILINE)
    if len(parts) != count:
        raise InterfaceSyntaxError(f"{name}: expected {count} parts separated by ---, got {len(parts)}")
    return parts


def _statement(package: str, statement: str) -> Field | Constant:
    type_text, _, rest = statement.partition(" ")
    if not type_text or not rest:
        raise ValueError("expected a type at the line's beginning, and a name")
    kind, is_constant = parse_type(type_text, package), "=" in rest
    name, _, value = (part.strip() for part in rest.strip().partition("=" if is_constant else " "))
    if not (_CONSTANT_NAME if is_constant else _FIELD_NAME).match(name):
        raise ValueError(f"{name!r} is no name for a {'constant' if is_constant else 'field'}")
    if not is_constant:
        return Field(name, kind, parse_value(value, kind) if value else None)
    if kind.array or kind.string_bound:
        raise ValueError(f"a constant is no {type_text}")
    return Constant(name, kind, parse_value(value, kind))


def _message_name(text: str, package: str) -> str:
    owner, _, name = text.rpartition("/")
    if not _FIELD_NAME.match(owner or package) or not _MESSAGE_NAME.match(name):
        raise ValueError(f"{text!r} is neither a built-in type nor the name of a message")
    return f"{owner or package}/msg/{name}"


def parse_type(text: str, package: str) -> FieldType:
    """Read a field's type such as `string<=10[<=3]` or `geometry_msgs/Point[]`; raises ValueError."""
    match = _TYPE.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a type")
    base = _ALIASES.get(match["base"], match["base"])
    bound, size = (None if digits is None else int(digits) for digits in (match["string_bound"], match["size"]))
    if 0 in (bound, size):
        raise ValueError("sizes and bounds are above 0")
    if bound and base not in STRINGS:
        raise ValueError(f"only strings have a bound of length, not {base}")
    if base not in PRIMITIVES and base not in STRINGS:
        base = _message_name(base, package)
    if match["brackets"] is None:
        return FieldType(base, bound or 0)
    if size is None:
        return FieldType(base, bound or 0, "unbounded")
    return FieldType(base, bound or 0, "bounded" if match["bounded"] else "fixed", size)


def parse_value(text: str, kind: FieldType) -> Value:
    """Read a constant's or default's value; raises ValueError."""
    if kind.is_message:
        raise ValueError(f"a {kind.name} has no default")
    if not kind.array:
        return _text(text, kind.string_bound) if kind.is_string else _number(text, kind)
    if text[:1] != "[" or text[-1] != "]":
        raise ValueError(f"expected a list, got {text!r}")
    elements = _texts(text[1:-1]) if kind.is_string else text[1:-1].split(",") if text[1:-1] else []
    if kind.size and (len(elements) > kind.size or (kind.array == "fixed" and len(elements) != kind.size)):
        raise ValueError(f"{len(elements)} elements where the type has {kind.size}")
    return [parse_value(element.strip(), kind.element) for element in elements]


def _texts(text: str) -> list[str]:
    elements, place = [], 0
    while text[place:].strip():
        match = _TEXT_ELEMENT.match(text, place)
        if match is None:
            raise ValueError(f"{text[place:]!r} does not begin with an element")
        quote = match["quote"]
        elements.append(match["quoted"].replace(f"\\{quote}", quote) if quote else match["plain"])
        place = match.end()
    return elements


def _text(text: str, bound: int) -> str:
    quote = text[:1]
    if quote and quote in "\"'" and text[-1] == quote:
        text = text[1:-1]
        if re.search(rf"(?<!\\){quote}", text):
            raise ValueError("quotes within the text are not escaped")
        text = text.replace(f"\\{quote}", quote)
    if bound and len(text) > bound:
        raise ValueError(f"{len(text)} characters where the type has {bound}")
    return text


def _number(text: str, kind: FieldType) -> bool | int | float | bytes:
    primitive = PRIMITIVES[kind.name]
    if kind.name == "bool":
        if text.lower() not in _BOOLEANS:
            raise ValueError(f"{text!r} is no boolean")
        return _BOOLEANS[text.lower()]
    if kind.name != "byte" and not primitive.is_integer:
        return float(text)
    try:
        number = int(text)
    except ValueError:
        number = int(text, 0)
    if kind.name == "byte":
        return bytes([number])
    if not primitive.least <= number <= primitive.greatest:
        raise ValueError(f"{number} is out of the range of {kind.name}")
    return number
