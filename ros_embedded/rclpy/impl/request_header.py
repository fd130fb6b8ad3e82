"""The 16 bytes before the body of a request or reply: the client's guid and the request's sequence number."""

from __future__ import annotations

import struct
from typing import NamedTuple


class RequestId(NamedTuple):
    """Who asked, and which of its requests it was."""

    client: int
    sequence_number: int


_SIZE = 16
_ENCAPSULATION = 4


def with_header(payload: bytes, request: RequestId) -> bytes:
    """`payload`, CDR with its encapsulation header, as it travels."""
    return payload[:_ENCAPSULATION] + struct.pack("<Qq", *request) + payload[_ENCAPSULATION:]


def without_header(payload: bytes) -> tuple[RequestId, bytes]:
    """The header, and the CDR without it. Raises ValueError if there is none."""
    start = _ENCAPSULATION + _SIZE
    if len(payload) < start:
        raise ValueError(f"a request or reply has at least {start} bytes, got {len(payload)}")
    order = "<" if payload[1] & 1 else ">"
    return RequestId(*struct.unpack_from(f"{order}Qq", payload, _ENCAPSULATION)), payload[:_ENCAPSULATION] + payload[
        start:
    ]
