"""The file that knowledge is started from: a graph as it was, pickled; checked whole, never the truth."""

from __future__ import annotations

import os
import pickle
import sys
import zlib
from array import _array_reconstructor, array  # type: ignore[attr-defined]
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.resources import create_private
from memory_node.knowledge.facts import pack_proposition
from memory_node.knowledge.retrieval.row_tables import SortedRows, StepTable
from memory_node.knowledge.retrieval.statement_rows import StatementRows
from memory_node.knowledge.semantic_graph import SemanticGraph
from memory_node.knowledge.standard_step import pack_step
from memory_node.search.lexical_index import LexicalIndex, Postings
from memory_node.search.vector_rows import Clusters, VectorRows

_OWN = (StatementRows, SortedRows, StepTable, VectorRows, Clusters, LexicalIndex, Postings)
_PLAIN = (dict, defaultdict, array, _array_reconstructor, np.dtype)
_KNOWN = {(one.__module__, one.__name__): one for one in (*_OWN, *_PLAIN)}
# How numpy gives an array back, before 2.0 and since.
_KNOWN |= {(f"numpy.{core}.numeric", "_frombuffer"): np.zeros(0).__reduce_ex__(5)[0] for core in ("core", "_core")}
# The first line of a file tells the code that wrote it: with other code it is made anew. It is read when that code is,
# for the files of a running program may be replaced by those of another release.
_CODE = sorted({one.__module__ for one in (*_OWN, SemanticGraph, pack_proposition, pack_step)})
_CODE_CHECKSUM = zlib.crc32(b"".join(Path(str(sys.modules[name].__file__)).read_bytes() for name in _CODE))
_HEADING = f"robot_memory knowledge index {_CODE_CHECKSUM:08x}\n".encode()
_CHECKSUM_BYTES = 4
_BLOCK = 1 << 20


class IndexFileError(RobotMemoryError):
    """The file is of another release, or damaged."""


class _Checked:
    """A file that is written, with the CRC-32 of what was."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.checksum = 0

    def write(self, data: bytes) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        return self._file.write(data)


class _Unpickler(pickle.Unpickler):
    """Makes and calls nothing but what a graph is made of, whatever a file says
    (https://docs.python.org/3/library/pickle.html#restricting-globals)."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"it names {module}.{name}")
        return _KNOWN[module, name]


def write_index(path: Path, about: Mapping[str, Any], held: object) -> None:
    """Write what a graph holds, and what that is made of, in the place of the file.

    Layout: a line with a checksum of the code that reads it, the pickle of both, the CRC-32 of all that.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    create_private(partial)
    with open(partial, "wb") as file:
        checked = _Checked(file)
        checked.write(_HEADING)
        pickle.dump((dict(about), held), checked, protocol=5)
        file.write(checked.checksum.to_bytes(_CHECKSUM_BYTES, "little"))
    os.replace(partial, path)


def read_index(path: Path) -> tuple[dict[str, Any], Any]:
    """Return what a file says of itself, and what the graph held.

    Raises:
        IndexFileError: it is of another release, or damaged.
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        if file.readline(_BLOCK) != _HEADING:
            raise IndexFileError(f"{path}: it is of another release")
        begin, left = file.tell(), os.fstat(file.fileno()).st_size - file.tell() - _CHECKSUM_BYTES
        checksum = zlib.crc32(_HEADING)
        while left > 0 and (block := file.read(min(left, _BLOCK))):
            checksum, left = zlib.crc32(block, checksum), left - len(block)
        if left or file.read() != checksum.to_bytes(_CHECKSUM_BYTES, "little"):
            raise IndexFileError(f"{path}: it is damaged")
        file.seek(begin)
        try:
            about, held = _Unpickler(file).load()
        except (pickle.UnpicklingError, AttributeError, EOFError, LookupError, TypeError, ValueError) as error:
            raise IndexFileError(f"{path}: {error}") from error
    return about, held
