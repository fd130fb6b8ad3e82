"""Repairs a single changed byte, when exactly one correction makes a row fit its checksum."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from memory_node.store.checksums import RowSeal
from memory_node.store.row_values import fault_of
from memory_node.store.sqlite_pages import BrokenRecordError, read_layout, read_values, size_of

_POLYNOMIAL = 0xEDB88320
_ADVANCED = [0] * 256
for _byte in range(256):
    _register = _byte
    for _ in range(8):
        _register = _register >> 1 ^ (_POLYNOMIAL if _register & 1 else 0)
    _ADVANCED[_byte] = _register
_CHANGE_OF = {register: byte for byte, register in enumerate(_ADVANCED)}
_BY_TOP = {register >> 24: byte for byte, register in enumerate(_ADVANCED)}


def corrections(message: bytes, checksum: int) -> Iterator[bytes]:
    """Yield the messages that differ from this one in one byte and have the CRC-32 `checksum`.

    A changed byte changes the CRC register by a known pattern, and every byte behind it shifts that pattern. So the
    difference of the checksums is shifted back byte by byte, until it equals such a pattern.
    """
    difference = zlib.crc32(message) ^ checksum
    for position in range(len(message) - 1, -1, -1):
        change = _CHANGE_OF.get(difference)
        if change:
            yield message[:position] + bytes([message[position] ^ change]) + message[position + 1 :]
        top = _BY_TOP[difference >> 24]
        difference = (difference ^ _ADVANCED[top]) << 8 & 0xFFFFFFFF | top


def corrected_row(seal: RowSeal, values: Sequence[Any]) -> list[Any] | None:
    """Return a row as it was before one byte of it changed; None when no such change explains it."""
    stored = values[seal.checksum_place]
    if not isinstance(stored, int) or not 0 <= stored < 2**32:
        return None
    try:
        message = seal.message(values)
    except (ValueError, TypeError, struct.error):
        return None
    found = [list(values)] if _is_one_byte(zlib.crc32(message) ^ stored) else []
    if found:
        # The checksum itself was damaged: any other explanation is far less likely.
        found[0][seal.checksum_place] = zlib.crc32(message)
    for candidate in corrections(message, stored):
        row = seal.unpack(candidate, values)
        if row is not None:
            found.append(row)
    return _the_only(seal, found)


def _is_one_byte(difference: int) -> bool:
    return any(difference & ~(0xFF << shift) == 0 for shift in (0, 8, 16, 24))


def corrected_record(seal: RowSeal, payload: bytes) -> list[Any] | None:
    """Return the row of a record of which one byte of the header, or of a number, changed; None for any other.

    There, one byte changes more than one byte of what the checksum is of, so all changes are tried.
    """
    found: list[list[Any]] = []
    for position in _header_and_numbers(payload):
        for byte in range(256):
            changed = payload[:position] + bytes([byte]) + payload[position + 1 :]
            try:
                types, body = read_layout(changed, 0, len(changed))
                if len(types) != len(seal.names) or body + sum(map(size_of, types)) != len(changed):
                    continue
                values = read_values(types, changed[body:])
            except BrokenRecordError:
                continue
            if values[seal.checksum_place] is not None and not seal.row_fault(values):
                found.append(values)
    return _the_only(seal, found)


def _header_and_numbers(payload: bytes) -> list[int]:
    """Return the offsets of a record's header, and of its numbers as far as the header tells them."""
    try:
        types, body = read_layout(payload, 0, len(payload))
    except BrokenRecordError:
        return list(range(min(payload[0] if payload else 0, 80)))
    places = list(range(body))
    at = body
    for kind in types:
        if 0 < kind < 8:
            places += range(at, at + size_of(kind))
        at += size_of(kind)
    return [place for place in places if place < len(payload)]


def _the_only(seal: RowSeal, found: list[list[Any]]) -> list[Any] | None:
    """Return the one candidate that memory could start from; None where there is none, or a choice."""
    good = [row for row in found if not fault_of(seal.table.name, seal.named(row))]
    different = [row for number, row in enumerate(good) if row not in good[:number]]
    return different[0] if len(different) == 1 else None


def corrected_picture(picture: bytes, checksum: int) -> bytes | None:
    """Return a picture as it was before one byte of it changed; None when no such change explains it."""
    found = list(corrections(picture, checksum))
    return found[0] if len(found) == 1 else None
