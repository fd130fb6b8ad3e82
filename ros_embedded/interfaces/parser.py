"""Reads .msg, .srv and .action text (https://docs.ros.org/en/jazzy/Concepts/Basic/About-Interfaces.html).

`rosbags` reads it too, but without the defaults of fields.
"""

from __future__ import annotations

import re

import yaml

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
    r"(?P<base>[A-Za-z][\w/]*)(<=(?P<string_bound>\d+))?(?P<brackets>\[(?P<bounded><=)?(?P<size>\d*)\])?$"
)
_STATEMENT = re.compile(r"(?P<type>\S+)\s+(?P<name>[A-Za-z]\w*)\s*(?P<rest>.*)$")
_BEFORE_COMMENT = re.compile(r"""([^#"']|"(\\.|[^"\\])*"|'(\\.|[^'\\])*'|["'])*""")
# rosidl refuses other names, and so would a colcon build
_FIELD_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*$")
_CONSTANT_NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$")
_ALIASES = {"char": "uint8"}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def parse_message(name: str, text: str) -> MessageDefinition:
    """Read a .msg text as the message of the given full name.

    Raises InterfaceSyntaxError with the line that cannot be read.
    """
    entries: list[Field | Constant] = []
    for number, line in enumerate(text.splitlines(), 1):
        statement = _BEFORE_COMMENT.match(line)[0].strip()  # type: ignore[index]  # it matches nothing at least
        if statement:
            try:
                entries.append(_statement(name.split("/")[0], statement))
            except (ValueError, yaml.YAMLError) as error:
                raise InterfaceSyntaxError(f"{name}, line {number}: {line.strip()!r}: {error}") from error
    fields = tuple(entry for entry in entries if isinstance(entry, Field))
    if len({field.name for field in fields}) != len(fields):
        raise InterfaceSyntaxError(f"{name}: two fields of the same name")
    return MessageDefinition(name, fields, tuple(entry for entry in entries if isinstance(entry, Constant)))


def sections(name: str, text: str, count: int) -> list[str]:
    """The parts of a .srv or .action text. Raises InterfaceSyntaxError."""
    parts = re.split(r"^\s*---\s*$", text, flags=re.MULTILINE)
    if len(parts) != count:
        raise InterfaceSyntaxError(f"{name}: expected {count} parts separated by ---, got {len(parts)}")
    return parts


def parse_type(text: str, package: str) -> FieldType:
    """Read a field's type such as `string<=10[<=3]` or `geometry_msgs/Point[]`; raises ValueError."""
    match = _TYPE.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a type")
    base = _ALIASES.get(match["base"], match["base"])
    string_bound = int(match["string_bound"] or 0)
    if string_bound and base not in STRINGS:
        raise ValueError(f"only strings have a bound of length, not {base}")
    if base not in PRIMITIVES and base not in STRINGS:
        parts = base.split("/")
        base = "/".join((package, "msg", base) if len(parts) == 1 else (parts[0], "msg", parts[-1]))
    if match["brackets"] is None:
        return FieldType(base, string_bound)
    size = int(match["size"] or 0)
    return FieldType(base, string_bound, "unbounded" if not size else "bounded" if match["bounded"] else "fixed", size)


def parse_value(text: str, kind: FieldType) -> Value:
    """Read a constant's or default's value; raises ValueError."""
    if kind.array:
        loaded = yaml.safe_load(text)
        if not isinstance(loaded, list):
            raise ValueError(f"expected a list, got {text!r}")
        return [parse_value(str(item), kind.element) for item in loaded]
    if kind.is_string:
        quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
        return text[1:-1].replace(f"\\{text[0]}", text[0]) if quoted else text
    primitive = kind.primitive
    if primitive is None:
        raise ValueError(f"a {kind.name} has no default")
    if kind.name == "bool":
        if text.lower() not in _BOOLEANS:
            raise ValueError(f"{text!r} is no boolean")
        return _BOOLEANS[text.lower()]
    if kind.name == "byte":
        return bytes([int(text, 0)])
    if not primitive.is_integer:
        return float(text)
    number = int(text, 0)
    if not primitive.least <= number <= primitive.greatest:
        raise ValueError(f"{number} is out of the range of {kind.name}")
    return number


def _statement(package: str, statement: str) -> Field | Constant:
    match = _STATEMENT.match(statement)
    if match is None:
        raise ValueError("expected a type and a name")
    kind, rest = parse_type(match["type"], package), match["rest"]
    is_constant = rest.startswith("=")
    if not (_CONSTANT_NAME if is_constant else _FIELD_NAME).match(match["name"]):
        raise ValueError(f"{match['name']!r} is no name for a {'constant' if is_constant else 'field'}")
    if is_constant:
        return Constant(match["name"], kind, parse_value(rest[1:].strip(), kind))
    return Field(match["name"], kind, parse_value(rest, kind) if rest else None)
