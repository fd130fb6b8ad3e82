"""Puts the tool calls of a streamed reply together: endpoints send them in pieces."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_node.llm.chat import ToolCall
from memory_node.llm.tool_calls import arguments_of


@dataclass(frozen=True)
class CallPiece:
    """A piece of a call. index: of its call in the reply, -1 where the endpoint does not say. arguments: a piece of
    their JSON, or all of them as an object, which some endpoints send."""

    index: int
    id: str
    name: str
    arguments: Any


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    text: str = ""
    given: dict[str, Any] | None = None


@dataclass
class PartialCalls:
    """The calls so far, in their order."""

    _calls: dict[int, _Call] = field(default_factory=dict)

    def add(self, pieces: Sequence[CallPiece]) -> int:
        """Take pieces in; return how many characters they are."""
        length = 0
        for piece in pieces:
            call = self._calls.setdefault(self._index(piece), _Call())
            call.id = call.id or piece.id
            # Some endpoints repeat the whole name in each piece.
            call.name = call.name if piece.name == call.name else call.name + piece.name
            if isinstance(piece.arguments, dict):
                call.given = piece.arguments
                length += len(json.dumps(piece.arguments))
            elif piece.arguments is not None:
                call.text += str(piece.arguments)
                length += len(str(piece.arguments))
            length += len(piece.name)
        return length

    def _index(self, piece: CallPiece) -> int:
        if piece.index >= 0:
            return piece.index
        begins = bool(piece.name) or not self._calls
        return len(self._calls) if begins else max(self._calls)

    def whole(self) -> tuple[ToolCall, ...]:
        """Return the calls. One without a name is none: some endpoints end a reply with an empty call."""
        calls = [self._calls[index] for index in sorted(self._calls)]
        return tuple(
            ToolCall(
                one.name, one.given if one.given is not None else arguments_of(one.text), one.id or f"call_{number}"
            )
            for number, one in enumerate(calls, 1)
            if one.name
        )
