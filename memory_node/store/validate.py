"""Looks at rows that come from outside: shape, types, and whether the domain would accept them."""

from __future__ import annotations

import json
import math
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import sqlalchemy as sa

from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.store.checksums import SEALS
from memory_node.store.errors import InvalidImportError
from memory_node.store.images import ImageFolder
from memory_node.store.records import Row
from memory_node.store.row_values import OBJECT_GEOMETRY, fault_of

_MAX_TEXT = 1_000_000
# What no database takes as text.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_INT64 = 2**63


def check_row(table: sa.Table, row: Any, images: ImageFolder) -> Row:
    """Return the row if the table and the domain can hold it.

    Raises:
        InvalidImportError: it says which value was expected and what came.
    """
    if not isinstance(row, dict):
        raise InvalidImportError(f"{table.name}: expected an object, got {type(row).__name__}")
    names = {column.name for column in table.c}
    # Exports of the first release had no checksums.
    row = {**dict.fromkeys(names & {"checksum", "crop_checksum"}), **row}
    if set(row) != names:
        missing, unknown = sorted(names - set(row)), sorted(set(row) - names)
        raise InvalidImportError(f"{table.name}: missing {missing or 'nothing'}, unknown {unknown or 'nothing'}")
    for column in table.c:
        _check_value(table, column, row[column.name])
    fault = SEALS[table.name].fault([row[name] for name in SEALS[table.name].names])
    fault = fault or fault_of(table.name, SimpleNamespace(**row))
    if fault:
        raise InvalidImportError(f"{table.name}: {fault}")
    if table.name == "objects":
        try:
            check_agreement(row, images)
        except (RobotMemoryError, ValueError) as error:
            raise InvalidImportError(f"objects: {error}") from error
    return row


def _check_value(table: sa.Table, column: sa.Column, value: Any) -> None:
    where = f"{table.name}.{column.name}"
    if value is None:
        if not column.nullable:
            raise InvalidImportError(f"{where}: expected a value, got null")
        return
    expected = column.type.python_type
    fits = isinstance(value, expected) and (expected is bool or not isinstance(value, bool))
    if expected is float and type(value) is int:
        fits = True
    if not fits:
        raise InvalidImportError(f"{where}: expected {expected.__name__}, got {type(value).__name__}")
    if expected is float and not math.isfinite(value):
        raise InvalidImportError(f"{where}: expected a finite number, got {value}")
    if expected is int and not -_INT64 <= value < _INT64:
        raise InvalidImportError(f"{where}: expected a 64-bit number, got {value}")
    if expected is str and (len(value) > _MAX_TEXT or _UNSTORABLE.search(value)):
        raise InvalidImportError(f"{where}: expected text of at most {_MAX_TEXT} characters without NUL and surrogates")


def check_agreement(row: Row, images: ImageFolder) -> None:
    """Look whether the columns of an object agree with its body, and its picture's path stays in the folder.

    Raises:
        InvalidValueError, ConfinementError: they do not; it does not.
    """
    numbers, body = OBJECT_GEOMETRY.unpack(row["geometry"]), json.loads(row["body"])
    if not row["id"]:
        raise InvalidValueError("expected an id, got an empty string")
    if max(body["classes"], key=lambda name: body["classes"][name]) != row["class_name"]:
        raise InvalidValueError(f"object {row['id']}: class_name {row['class_name']!r} is not the most probable")
    if not np.allclose(numbers[0:3], [row["x"], row["y"], row["z"]]):
        raise InvalidValueError(f"object {row['id']}: position and geometry differ")
    image_path = body["attributes"].get("image_path", "")
    if image_path:
        images.resolve(str(image_path))
