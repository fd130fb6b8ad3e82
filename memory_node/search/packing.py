"""Texts and lists of numbers as a few flat arrays, so that a file of a million of them is read at once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Arrays by name; a part of a whole stands under "part/name".
Arrays = dict[str, NDArray[Any]]


def under(name: str, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    """Return arrays as a part of a whole."""
    return {f"{name}/{key}": value for key, value in arrays.items()}


def part(name: str, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    """Return a part of a whole."""
    return {key.removeprefix(f"{name}/"): value for key, value in arrays.items() if key.startswith(f"{name}/")}


def pack_bytes(values: Sequence[bytes]) -> Arrays:
    """Return values behind each other, and where each ends (n,)."""
    ends = np.cumsum(np.fromiter(map(len, values), np.int64, len(values)), dtype=np.int64)
    return {"bytes": np.frombuffer(b"".join(values), dtype=np.uint8), "ends": ends}


def unpack_bytes(arrays: Arrays) -> list[bytes]:
    """Return what pack_bytes() packed."""
    joined = arrays["bytes"].tobytes()
    return [joined[begin:end] for begin, end in pairwise(_bounds(arrays))]


def pack_texts(texts: Iterable[str]) -> Arrays:
    """Return texts behind each other, and where each ends (n,)."""
    return pack_bytes([text.encode("utf-8", "surrogatepass") for text in texts])


def unpack_texts(arrays: Arrays) -> list[str]:
    """Return what pack_texts() packed."""
    joined = arrays["bytes"].tobytes().decode("utf-8", "surrogatepass")
    if len(joined) == len(arrays["bytes"]):
        return [joined[begin:end] for begin, end in pairwise(_bounds(arrays))]
    return [one.decode("utf-8", "surrogatepass") for one in unpack_bytes(arrays)]


def pack_numbers(lists: Sequence[Sequence[int]]) -> Arrays:
    """Return lists of numbers of 32 bits behind each other, and where each ends (n,)."""
    ends = np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists)), dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    return {"numbers": np.fromiter(chain.from_iterable(lists), np.uint32, total), "ends": ends}


def unpack_numbers(arrays: Arrays) -> list[array[int]]:
    """Return what pack_numbers() packed, each as an array of its own that can grow."""
    return [array("I", one.tobytes()) for one in split(arrays["numbers"], arrays)]


def split(values: NDArray[Any], arrays: Arrays) -> list[NDArray[Any]]:
    """Return the parts of values that end where packed lists do."""
    return [values[begin:end] for begin, end in pairwise(_bounds(arrays))]


def _bounds(arrays: Arrays) -> list[int]:
    return [0, *arrays["ends"].tolist()]
