"""Reads a frozen dataclass of parameters from a YAML file, so that a slip of the pen is an error with a name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.resources import resource_path

Config = TypeVar("Config")


def config_from(kind: type[Config], values: Mapping[str, Any], where: str) -> Config:
    """Return the config with these values by name; what is not named keeps its default.

    where: what messages call the source.

    Raises:
        InvalidValueError: a name that is no parameter, or a value out of range.
    """
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(values) - set(fields))
    if unknown:
        raise InvalidValueError(f"{where}: unknown key(s) {', '.join(unknown)}; known are {', '.join(fields)}")
    frozen = {name: _frozen(fields[name].default, value) for name, value in values.items()}
    try:
        return kind(**frozen)
    except TypeError as error:
        raise InvalidValueError(f"{where}: {error}") from None


def read_config(kind: type[Config], shipped: str, path: Path | None = None) -> Config:
    """Return the config of a YAML file whose keys are its parameters; shipped: the file that is read by default.

    Raises:
        InvalidValueError: as `config_from`, or a file that is no mapping.
    """
    path = path or resource_path(shipped)
    return config_from(kind, _mapping(path), path.name)


def read_section(kinds: Mapping[str, type], section: str, shipped: str, path: Path | None = None) -> Any:
    """Return the config of one section of a YAML file whose keys are sections.

    kinds: what may stand in the file, by section. shipped: the file that is read by default.

    Raises:
        InvalidValueError: as `read_config`, or a section that does not exist.
    """
    path = path or resource_path(shipped)
    content = _mapping(path)
    unknown = sorted(set(content) - set(kinds))
    if unknown:
        raise InvalidValueError(f"{path}: unknown key(s) {', '.join(unknown)}; known are {', '.join(kinds)}")
    values = content.get(section) or {}
    if not isinstance(values, dict):
        raise InvalidValueError(f"{path}: {section}: expected keys with values, got {type(values).__name__}")
    return config_from(kinds[section], values, f"{path.name}: {section}")


def _mapping(path: Path) -> dict[str, Any]:
    content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    if not isinstance(content, dict):
        raise InvalidValueError(f"{path}: expected keys with values, got {type(content).__name__}")
    return content


def _frozen(default: Any, value: Any) -> Any:
    """Return a list of YAML as what the field holds."""
    if not isinstance(value, list):
        return value
    return frozenset(value) if isinstance(default, frozenset) else tuple(value)
