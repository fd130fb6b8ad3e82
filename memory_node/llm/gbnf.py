"""Grammars in GBNF, llama.cpp's notation: the pieces that our grammars are put together from."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory_node.domain.errors import InvalidValueError

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def literal(text: str) -> str:
    """Return a text as GBNF takes it word for word."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(letter: str) -> str:
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    return letter if letter.isprintable() else f"\\U{ord(letter):08X}"


class Rules:
    """The rules of a grammar by name, in the order in which they were added."""

    def __init__(self) -> None:
        self._bodies: dict[str, str] = {}

    def add(self, name: str, body: str) -> str:
        """Add a rule and return its name. name: letters, digits and dashes."""
        self._bodies[name] = body
        return name

    def add_choice(self, name: str, texts: Iterable[str]) -> str:
        """Add a rule for one of several texts and return its name."""
        return self.add(name, one_of_texts(dict.fromkeys(texts, "")))

    def __contains__(self, name: str) -> bool:
        return name in self._bodies

    def text(self) -> str:
        """Return the grammar."""
        return "\n".join(f"{name} ::= {body}" for name, body in self._bodies.items())


def one_of(bodies: Sequence[str]) -> str:
    """Return what stands for any of several bodies."""
    return bodies[0] if len(bodies) == 1 else f"({' | '.join(bodies)})"


def repeated(body: str, least: int, most: int) -> str:
    """Return what stands for a body so many times."""
    return f"({body}){{{least},{most}}}"


def one_of_texts(followed_by: Mapping[str, str]) -> str:
    """Return what stands for one of several texts, each with what follows it ("" for nothing).

    Beginnings that texts share are written once: llama.cpp follows all alternatives at the same time, letter by
    letter, and a home has hundreds of ids.
    """
    return _shared(sorted(followed_by), 0, followed_by)


def _shared(texts: Sequence[str], start: int, followed_by: Mapping[str, str]) -> str:
    """Return what stands for one of sorted texts that agree up to `start`, from there on."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(text[start : start + 1], []).append(text)
    bodies = []
    for first, group in groups.items():
        if len(group) == 1:
            rest = literal(group[0][start:]) if first else ""
            bodies.append(f"{rest} {followed_by[group[0]]}".strip() or '""')
        else:
            end = _agreed(group, start)
            bodies.append(f"{literal(group[0][start:end])} {_shared(group, end, followed_by)}")
    return one_of(bodies)


def _agreed(texts: Sequence[str], start: int) -> int:
    """Return up to where sorted texts agree: as far as the first and the last of them."""
    first, last = texts[0], texts[-1]
    end = start
    while end < min(len(first), len(last)) and first[end] == last[end]:
        end += 1
    return end


_LETTER = r"""([^"\\\x00-\x1F\x7F] | "\\" ["\\/bfnrt])"""
_NUMBERS = {
    "integer": '"-"? ("0" | [1-9] [0-9]{0,14})',
    "number": '"-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,6})?',
    "boolean": '"true" | "false"',
    "null": '"null"',
}
_MOST_ITEMS = 50
_MOST_LETTERS = 2000


def json_grammar(schema: Mapping[str, Any]) -> str:
    """Return the grammar of the JSON values of a schema, for replies that keep to it by construction.

    It takes what pydantic writes for our replies: objects, lists, texts, numbers, truth values, choices, references.
    All properties are required, in their order: a model that may leave some out leaves out most. Ranges and patterns
    are checked afterwards, because a grammar cannot express them.

    Raises:
        InvalidValueError: the schema holds what is not taken here.
    """
    return _cached_grammar(json.dumps(schema))


@functools.lru_cache(maxsize=64)
def _cached_grammar(schema: str) -> str:
    return _Grammar(json.loads(schema)).text()


class _Grammar:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._definitions: Mapping[str, Any] = schema.get("$defs", {})
        self._rules = Rules()
        self._rules.add("root", "value")
        self._rules.add("value", self._body(schema, "value"))
        self._rules.add("letter", _LETTER)

    def text(self) -> str:
        return self._rules.text()

    def _body(self, schema: Mapping[str, Any], name: str) -> str:
        """Return what stands for a schema; rules of its parts are called after `name`."""
        if "$ref" in schema:
            return self._referenced(str(schema["$ref"]))
        if "const" in schema or "enum" in schema:
            values = schema.get("enum", [schema.get("const")])
            return one_of([literal(json.dumps(value, ensure_ascii=False)) for value in values])
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema and (key != "allOf" or len(schema[key]) == 1):
                return one_of([self._body(part, f"{name}-{i}") for i, part in enumerate(schema[key])])
        kind = schema.get("type")
        if kind == "object" and not isinstance(schema.get("additionalProperties"), Mapping):
            return self._object(schema.get("properties", {}), name)
        if kind == "array":
            return self._array(schema, name)
        if kind == "string":
            most = min(int(schema.get("maxLength", _MOST_LETTERS)), _MOST_LETTERS)
            return f'"\\"" {repeated("letter", min(int(schema.get("minLength", 0)), most), most)} "\\""'
        if kind in _NUMBERS:
            return f"({_NUMBERS[kind]})"
        raise InvalidValueError(f"no grammar for the JSON schema {json.dumps(schema)[:200]}")

    def _object(self, properties: Mapping[str, Any], name: str) -> str:
        parts = []
        for i, (key, schema) in enumerate(properties.items()):
            before = "{" if i == 0 else ", "
            part = self._rules.add(f"{name}-p{i}", self._body(schema, f"{name}-p{i}"))
            parts.append(f"{literal(f'{before}{json.dumps(key, ensure_ascii=False)}: ')} {part}")
        return " ".join([*parts, '"}"']) if parts else '"{}"'

    def _array(self, schema: Mapping[str, Any], name: str) -> str:
        least = int(schema.get("minItems", 0))
        most = int(schema.get("maxItems", max(least, _MOST_ITEMS)))
        if most == 0:
            return '"[]"'
        item = self._rules.add(f"{name}-i", self._body(schema.get("items", {}), f"{name}-i"))
        more = repeated(f'", " {item}', max(least - 1, 0), most - 1)
        filled = f"{item} {more}" if most > 1 else item
        return f'"[" {filled} "]"' if least else f'"[" ({filled})? "]"'

    def _referenced(self, reference: str) -> str:
        key = reference.rpartition("/")[2]
        name = f"d{list(self._definitions).index(key)}" if key in self._definitions else ""
        if not name:
            raise InvalidValueError(f"the JSON schema has no definition {reference}")
        if name not in self._rules:
            self._rules.add(name, "")  # a definition may refer to itself
            self._rules.add(name, self._body(self._definitions[key], name))
        return name
