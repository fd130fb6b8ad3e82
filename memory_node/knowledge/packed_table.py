"""A dict that keeps its values as bytes and unpacks them on access: a million take a fifth of the memory of objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import TypeVar

import numpy as np

from memory_node.search.packing import Arrays, pack_bytes, pack_texts, part, under, unpack_texts

Value = TypeVar("Value")


class PackedTable(MutableMapping[str, Value]):
    """A dict whose values lie in a mapped file, or are held as bytes; one is made anew each time that it is asked for.

    encode, decode: a value as bytes without its key, and the reverse. Not thread-safe.
    """

    def __init__(self, encode: Callable[[Value], bytes], decode: Callable[[str, bytes], Value]) -> None:
        self._encode = encode
        self._decode = decode
        # A number is a value's place in the file.
        self._held: dict[str, bytes | int] = {}
        self._bytes = np.empty(0, dtype=np.uint8)
        self._ends = np.zeros(1, dtype=np.int64)

    def __getitem__(self, key: str) -> Value:
        return self._decode(key, self._packed(self._held[key]))

    def __setitem__(self, key: str, value: Value) -> None:
        self._held[key] = self._encode(value)

    def __delitem__(self, key: str) -> None:
        del self._held[key]

    def __contains__(self, key: object) -> bool:
        return key in self._held

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def copy(self) -> PackedTable[Value]:
        """Return a table of the same values."""
        other = PackedTable(self._encode, self._decode)
        other._held, other._bytes, other._ends = dict(self._held), self._bytes, self._ends
        return other

    def packed(self) -> Arrays:
        """Return everything as arrays, in the order of the keys."""
        bodies = [self._packed(held) for held in self._held.values()]
        return {**under("keys", pack_texts(self._held)), **under("bodies", pack_bytes(bodies))}

    def restore(self, arrays: Arrays) -> None:
        """Hold what packed() gave and nothing else; the values stay where the arrays are."""
        bodies = part("bodies", arrays)
        self._bytes = bodies["bytes"]
        self._ends = np.concatenate([np.zeros(1, dtype=np.int64), bodies["ends"]])
        self._held = {key: place for place, key in enumerate(unpack_texts(part("keys", arrays)))}

    def _packed(self, held: bytes | int) -> bytes:
        return held if isinstance(held, bytes) else self._bytes[self._ends[held] : self._ends[held + 1]].tobytes()
