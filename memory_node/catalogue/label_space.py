"""Reads label spaces: YAML files of classes, alone or on the base of another one (docs/label_spaces.md)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field, ValidationError

from memory_node.catalogue.catalogue_from_file import catalogue_of
from memory_node.catalogue.label_space_file import LabelSpaceFile
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.on_base import on_base
from memory_node.domain.errors import InvalidValueError, ResourceMissingError, faults_of
from memory_node.domain.resources import read_yaml, resource_path

HOUSEHOLD = "household"
# A parameter that names the label space.
LabelSpace = Annotated[str, Field(description="what kinds of things there are: a shipped label space or a .yaml file")]
_FOLDER = "config/label_spaces"
_MOST_BASES = 8


def load_catalogue(label_space: str = HOUSEHOLD) -> ObjectCatalogue:
    """Return the catalogue of a shipped label space by its name, or of a YAML file by its path.

    Raises:
        InvalidValueError: the file says something that cannot be; the message names the key.
        ResourceMissingError: no label space of that name ships with the package, or there is no such file.
    """
    return _load(label_space) if _is_path(label_space) else _load_shipped(label_space)


def _load(label_space: str) -> ObjectCatalogue:
    file = _read(label_space)
    try:
        return catalogue_of(file)
    except InvalidValueError as error:
        raise InvalidValueError(f"label space {label_space}: {error}") from error


_load_shipped = lru_cache(maxsize=8)(_load)


def _is_path(label_space: str) -> bool:
    return label_space.endswith((".yaml", ".yml"))


def _read(label_space: str, above: tuple[str, ...] = ()) -> LabelSpaceFile:
    """Return a file with what its base knows taken over. above: the files that are based on this one."""
    path = Path(label_space) if _is_path(label_space) else _shipped_path(label_space)
    if str(path) in above or len(above) >= _MOST_BASES:
        raise InvalidValueError(f"{path}: base: label spaces are based on one another in a circle")
    file = _checked(path)
    if file.base is None:
        return file
    base = file.base
    if _is_path(base) and not Path(base).is_absolute():
        base = str(path.parent / base)
    try:
        return on_base(file, _read(base, (*above, str(path))))
    except InvalidValueError as error:
        raise InvalidValueError(f"{path}: {error}") from error


def _shipped_path(name: str) -> Path:
    folder = resource_path(_FOLDER)
    path = folder / f"{name}.yaml"
    if path not in set(folder.glob("*.yaml")):
        shipped = ", ".join(sorted(one.stem for one in folder.glob("*.yaml")))
        raise ResourceMissingError(f"label space {name!r}: expected one of {shipped}, or the path of a .yaml file")
    return path


def _checked(path: Path) -> LabelSpaceFile:
    try:
        content = read_yaml(path)
    except FileNotFoundError:
        raise ResourceMissingError(f"label space {path}: there is no such file") from None
    except yaml.YAMLError as error:
        raise InvalidValueError(f"{path}: {error}") from error
    try:
        return LabelSpaceFile.model_validate(content)
    except ValidationError as error:
        faults = faults_of(error, "file")
        raise InvalidValueError(f"{path}: {'; '.join(faults)}") from error
