"""A matrix as `torch.save` writes it, without torch: so vLLM takes prompt embeddings."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
from numpy.typing import NDArray


def tensor_file(matrix: NDArray[np.float32]) -> bytes:
    """Return the file of a float32 tensor (rows, columns) on the processor."""
    rows, columns = matrix.shape
    storage = (
        b"(" + _text("storage") + b"ctorch\nFloatStorage\n" + _text("0") + _text("cpu") + _number(matrix.size) + b"t"
    )
    shape = _number(rows) + _number(columns) + b"\x86"
    strides = _number(columns) + _number(1) + b"\x86"
    # Opcodes of pickle: a persistent id (Q), what rebuilds a tensor of it, False, and an empty OrderedDict of hooks.
    rebuilt = b"(" + storage + b"Q" + _number(0) + shape + strides + b"\x89" + b"ccollections\nOrderedDict\n)R" + b"t"
    pickled = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n" + rebuilt + b"R."
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/byteorder", "little")
        archive.writestr("archive/data/0", np.ascontiguousarray(matrix, "<f4").tobytes())
        archive.writestr("archive/version", "3\n")
    return file.getvalue()


def _text(text: str) -> bytes:
    return b"X" + struct.pack("<I", len(text)) + text.encode("ascii")


def _number(number: int) -> bytes:
    return b"J" + struct.pack("<i", number)
