"""Which memory a planner works with: objects, experience, both, or neither."""

from __future__ import annotations

from typing import Literal, get_args

from memory_node.domain.context import ContextSource
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import MemoryPort
from memory_node.planner.map_only_memory import MapOnlyMemory

Mode = Literal["full+experience", "full", "experience", "none"]
MODES: tuple[str, ...] = get_args(Mode)

_OBJECTS, _EXPERIENCE = frozenset({ContextSource.OBJECTS}), frozenset({ContextSource.EXPERIENCE})
_SOURCES = {
    "full+experience": _OBJECTS | _EXPERIENCE,
    "full": _OBJECTS,
    "experience": _EXPERIENCE,
    "none": frozenset[ContextSource](),
}


def sources_of(mode: str) -> frozenset[ContextSource]:
    """Return what a planner in this mode is told of.

    Raises:
        InvalidValueError: no such mode.
    """
    if mode not in _SOURCES:
        raise InvalidValueError(f"memory: expected one of {', '.join(MODES)}, got {mode!r}")
    return _SOURCES[mode]


def memory_in(mode: str, memory: MemoryPort) -> MemoryPort:
    """Return what a planner in this mode may ask: the memory, or one that knows only the map.

    Raises:
        InvalidValueError: no such mode.
    """
    return memory if ContextSource.OBJECTS in sources_of(mode) else MapOnlyMemory(memory)
