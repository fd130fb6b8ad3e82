"""Files of parameters, as ROS 2 has them: `NODE: ros__parameters: ...`; read without ROS, and written."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

import yaml

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.parameters import Kind, ParameterField, Parameters, flattened, parameter_fields
from memory_node.domain.resources import read_yaml

_WIDTH = 120
_UNQUOTED = re.compile(r"[A-Za-z_/][\w./+@-]*")
_WORDS_OF_YAML = frozenset(["y", "yes", "n", "no", "true", "false", "on", "off", "null"])


def read_parameters(kind: type[Kind], path: Path, node: str) -> Kind:
    """Return the parameters that a file gives to a node; what it does not name keeps its default.

    node: the node's name; a block of the file is meant for it when its name ends so, or in `*` or `**`.

    Raises:
        InvalidValueError: the file cannot be read, or holds a name or value that does not fit.
    """
    values: dict[str, Any] = {}
    for name, given in parameter_blocks(path):
        if name.rpartition("/")[2] in (node, "*", "**"):
            values.update(flattened(given))
    return kind.of(values, str(path))


def parameter_blocks(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """Return (node name, its parameters) for each block of a file.

    Raises:
        InvalidValueError: there is no such file, or it is no file of ROS parameters.
    """
    try:
        content = read_yaml(path)
    except OSError as error:
        raise InvalidValueError(f"{path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidValueError(f"{path} is no YAML: {' '.join(str(error).split())}") from None
    return list(_blocks(content, "", path)) if content is not None else []


def _blocks(content: Any, prefix: str, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(content, Mapping):
        where = f"at {prefix}" if prefix else "at its top"
        raise InvalidValueError(f"{path}: expected `NODE: ros__parameters: ...` {where}, got {content!r:.80}")
    for key, value in content.items():
        if key != "ros__parameters":
            yield from _blocks(value, f"{prefix}/{str(key).lstrip('/')}", path)
        elif isinstance(value, Mapping):
            yield prefix, value
        else:
            raise InvalidValueError(f"{path}: {prefix}: expected parameters with values, got {value!r:.80}")


def parameter_text(kind: type[Parameters], node: str) -> str:
    """Return a file of a node's parameters for users, with their defaults; comments tell meanings and ranges."""
    lines = [
        f"# Parameters of the node {node} and their defaults, written by `memory-node parameters {node}`.",
        "# A file needs only the lines that you change. Names end in their unit: _m, _rad, _s, _px.",
        f"/**/{node}:",
        "  ros__parameters:",
    ]
    outer: list[str] = []
    for field in _listed(kind, expert=False):
        *sections, name = field.name.split(".")
        shared = next((i for i, (a, b) in enumerate(zip(outer, sections)) if a != b), min(len(outer), len(sections)))
        lines += [f"{_indent(depth)}{sections[depth]}:" for depth in range(shared, len(sections))]
        outer = sections
        indent = _indent(len(sections))
        lines += textwrap.wrap(comment(field), _WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")
        lines.append(f"{indent}{name}: {yaml_value(field.default)}")
    return "\n".join(lines) + "\n"


def comment(field: ParameterField) -> str:
    """Return a parameter's meaning, and what values it takes where its default does not tell."""
    return f"{field.description} [{field.limits}]" if field.limits else field.description


def yaml_value(value: Any) -> str:
    """Return a value as YAML that ROS 2 and PyYAML read alike."""
    if isinstance(value, list):
        return f"[{', '.join(map(yaml_value, value))}]"
    if isinstance(value, str):
        plain = _UNQUOTED.fullmatch(value) and value.lower() not in _WORDS_OF_YAML
        return value if plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)


def _indent(depth: int) -> str:
    return "  " * (depth + 2)


def parameter_page(kinds: Mapping[str, type[Parameters]], expert: bool = False) -> str:
    """Return tables in Markdown of the parameters of some nodes: those for users, or those for experts.

    What several nodes have alike comes first, with their names; then what is a node's own.
    """
    nodes_of: dict[str, list[str]] = {}
    for node, kind in kinds.items():
        for row in _rows(_listed(kind, expert)):
            nodes_of.setdefault(row, []).append(node)
    lines: list[str] = []
    several = [f"{row} {', '.join(nodes)} |" for row, nodes in nodes_of.items() if len(nodes) > 1]
    if several:
        lines += ["", "## Of several nodes", "", "| parameter | default | takes | meaning | nodes |", f"|{'---|' * 5}"]
        lines += several
    for node in kinds:
        own = [row for row, nodes in nodes_of.items() if nodes == [node]]
        if own:
            lines += ["", f"## Node `{node}`", "", "| parameter | default | takes | meaning |", f"|{'---|' * 4}", *own]
    return "\n".join(lines) + "\n"


def _rows(fields: Iterable[ParameterField]) -> Iterator[str]:
    """Yield a row for each parameter, one row for neighbours of a section that differ in their names alone."""
    for text, alike in groupby(fields, lambda field: (field.name.rpartition(".")[0], _cells(field))):
        names = ", ".join(f"`{field.name}`" for field in alike)
        yield f"| {names} | {text[1]} |"


def _cells(field: ParameterField) -> str:
    return f"`{yaml_value(field.default)}` | {field.expected} | {field.description}{'; *live*' if field.live else ''}"


def _listed(kind: type[Parameters], expert: bool) -> list[ParameterField]:
    """Return the parameters of a page, each section in one piece; a profile lists only what it does not share."""
    fields = [field for field in parameter_fields(kind) if field.expert == expert and not field.taken_from]
    first: dict[str, int] = {}

    def place(field: ParameterField) -> list[int]:
        *sections, _ = accumulate(field.name.split("."), lambda outer, inner: f"{outer}.{inner}")
        return [first.setdefault(section, len(first) + 1) for section in sections] + [0]

    return sorted(fields, key=place)
