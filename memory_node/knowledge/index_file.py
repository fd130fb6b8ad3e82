"""The file of named arrays that knowledge is started from: mapped, checked whole, never the truth."""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.resources import create_private
from memory_node.search.packing import Arrays

# The number grows whenever what the arrays mean changes: an older file is made anew.
_MAGIC = b"robot_memory knowledge index 2\n"
_ALIGNED = 64  # bytes
_LENGTH = 8  # bytes of the header's length, and as many of its checksum


class IndexFileError(RobotMemoryError):
    """The file is of another version, or damaged."""


def write_index(path: Path, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Write arrays, and what they are made of, in the place of the file; readers of the older one keep theirs.

    Layout: a line with the version, the header's length and checksum, the header in JSON (`about`; of each array name,
    dtype, shape, offset, CRC-32), then the arrays, each at a multiple of 64 bytes.
    """
    sections, offset = [], 0
    for name, values in arrays.items():
        sections.append([name, values.dtype.str, list(values.shape), offset, zlib.crc32(_raw(values))])
        offset += -(-values.nbytes // _ALIGNED) * _ALIGNED
    header = json.dumps({"about": dict(about), "sections": sections}).encode()
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    create_private(partial)
    with open(partial, "wb") as file:
        file.write(_MAGIC + len(header).to_bytes(_LENGTH, "little") + zlib.crc32(header).to_bytes(_LENGTH, "little"))
        file.write(header)
        for values in arrays.values():
            file.write(bytes(-file.tell() % _ALIGNED))
            file.write(_raw(values))
    os.replace(partial, path)


def _raw(values: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8).data


def read_index(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return what a file says of itself, and its arrays; they can be changed, which the file does not see.

    Raises:
        IndexFileError: it is of another version, or damaged.
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        begin = len(_MAGIC) + 2 * _LENGTH
        if size < begin:
            raise IndexFileError(f"{path}: it is too short")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    if mapped[: len(_MAGIC)] != _MAGIC:
        raise IndexFileError(f"{path}: it is of another version")
    length = int.from_bytes(mapped[len(_MAGIC) : len(_MAGIC) + _LENGTH], "little")
    header = mapped[begin : begin + length]
    if zlib.crc32(header) != int.from_bytes(mapped[begin - _LENGTH : begin], "little"):
        raise IndexFileError(f"{path}: its header is damaged")
    values = json.loads(header)
    first = -(-(begin + length) // _ALIGNED) * _ALIGNED
    arrays = {}
    for name, dtype, shape, offset, checksum in values["sections"]:
        count = int(np.prod(shape, dtype=np.int64))
        nbytes, start = count * np.dtype(dtype).itemsize, first + offset
        if start + nbytes > size or zlib.crc32(memoryview(mapped)[start : start + nbytes]) != checksum:
            raise IndexFileError(f"{path}: {name} is damaged")
        arrays[name] = (
            np.frombuffer(mapped, dtype, count, start).reshape(shape) if count else np.empty(shape, np.dtype(dtype))
        )
    return values["about"], arrays
