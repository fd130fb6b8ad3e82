"""Reads a JSON file part by part: the elements of its array, or of an array under one of its keys."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
# Characters that are read at once at first; a part that is longer doubles them.
_LEAST = 1 << 16
_CLOSING = {"[": "]", "{": "}"}


def json_parts(blocks: Iterable[str], streamed: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield ("", element) for each element of an array; of an object (key, element) for arrays under the keys of
    `streamed`, and (key, value) for other keys.

    blocks: the text, in parts. No more of it is held than the longest part needs.

    Raises:
        ValueError: the text is no array or object of JSON. What stands before the fault has been given by then.
    """
    text = _Text(blocks)
    begin = text.peek()
    if begin == "[":
        for element in _elements(text):
            yield "", element
    elif begin == "{":
        yield from _members(text, streamed)
    else:
        raise ValueError("expected an array or an object")
    if text.peek():
        raise ValueError("more text behind the end")


def _members(text: _Text, streamed: Collection[str]) -> Iterator[tuple[str, Any]]:
    for _ in _between(text):
        key = text.value()
        if not isinstance(key, str):
            raise ValueError(f"a key that is no text: {key!r:.80}")
        text.expect(":")
        if key in streamed and text.peek() == "[":
            for element in _elements(text):
                yield key, element
        else:
            yield key, text.value()


def _elements(text: _Text) -> Iterator[Any]:
    for _ in _between(text):
        yield text.value()


def _between(text: _Text) -> Iterator[None]:
    """Yield before each member of the array or object that begins here, and leave it behind."""
    closing = _CLOSING[text.take()]
    if text.peek() == closing:
        text.take()
        return
    while True:
        yield
        if text.peek() == closing:
            text.take()
            return
        text.expect(",")


class _Text:
    """A text that is read as far as it is needed."""

    def __init__(self, blocks: Iterable[str]) -> None:
        self._blocks = iter(blocks)
        self._held = ""
        self._at = 0

    def peek(self) -> str:
        """Return the next character that is no space, "" at the end."""
        while True:
            self._at = _SPACE.match(self._held, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._held) or not self._more(1):
                return self._held[self._at : self._at + 1]

    def take(self) -> str:
        """Return the next character that is no space, and go behind it."""
        character = self.peek()
        self._at += 1
        return character

    def expect(self, character: str) -> None:
        """Go behind a character.

        Raises:
            ValueError: another one stands there.
        """
        if self.take() != character:
            raise ValueError(f"expected {character!r} before {self._held[self._at - 1 : self._at + 40]!r}")

    def value(self) -> Any:
        """Return the value that begins here, and go behind it."""
        self.peek()
        wanted = _LEAST
        while True:
            try:
                value, end = _DECODER.raw_decode(self._held, self._at)
            except ValueError:
                if not self._more(wanted):
                    raise
            else:
                # A number at the end of what is held may go on.
                if end < len(self._held) or not self._more(wanted):
                    self._at = end
                    return value
            wanted *= 2

    def _more(self, wanted: int) -> bool:
        """Hold so many more characters, and forget those behind; return whether there were any."""
        parts, count = [self._held[self._at :]], 0
        for block in self._blocks:
            parts.append(block)
            count += len(block)
            if count >= wanted:
                break
        self._held, self._at = "".join(parts), 0
        return count > 0
