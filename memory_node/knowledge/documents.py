"""Reads files into steps: plain text, Markdown, and JSON of passages or talks; all of them as a stream."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.knowledge.standard_step import StandardStep, Turn, document_steps, talk_steps, units_of
from memory_node.knowledge.text import stamp_of

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


ENDINGS = (".txt", ".md", ".json")
# What of a JSON file is read one at a time.
_STREAMED = frozenset({"passages", "sessions", "conversations"})
_BLOCK = 1 << 16  # bytes
_PASSAGE = re.compile(r"(-[0-9a-f]{12})(?:-\d+)+$")
# A paragraph that goes on for longer is read in parts, so that a file without empty lines streams, too.
_LONGEST_PARAGRAPH = 20_000  # characters
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$")
# Emphasis, code, quotations, points of lists and links; an underscore within a word belongs to it, an asterisk between
# spaces or words is a product.
_MARKUP = re.compile(
    r"`{1,3}|^\s*\*(?=\s)|(?<!\w)\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?!\w)|(?<!\w)_{1,2}|_{1,2}(?!\w)|^\s*>\s?|"
    r"!?\[([^\]]*)\]\([^)]*\)"
)


@dataclass
class ReadCounts:
    """What a file held. broken: bytes that are no UTF-8 and were left out."""

    units: int = 0
    broken: int = 0


def read_document(
    path: Path,
    counts: ReadCounts,
    stamp_ns: int = 0,
    on_bytes: Callable[[int], None] = lambda _: None,
    zone: tzinfo | None = None,
) -> Iterator[StandardStep]:
    """Yield the steps of a file in its order; on_bytes gets how many bytes each part had.

    stamp_ns: when it is read, of what tells no time itself. zone: the time zone in which a talk's day and time are
    given; None: the machine's.

    The steps' sources are made of the file's name and a digest of its content: the same file gives the same steps, so
    that an import that was killed can go on.

    Raises:
        NotFoundError: there is no such file.
        InvalidValueError: its ending or, for JSON, its form is none of those that are read.
    """
    session = session_of(path)
    if path.suffix.lower() not in ENDINGS:
        raise InvalidValueError(f"{path}: expected a file that ends in one of {', '.join(ENDINGS)}")
    read = _json_steps if path.suffix.lower() == ".json" else _text_steps
    for step in read(_Import(path, session, counts, stamp_ns, on_bytes, zone)):
        counts.units += 1
        yield step


@dataclass(frozen=True)
class _Import:
    """A file that is read; see read_document()."""

    path: Path
    session: str
    counts: ReadCounts
    stamp_ns: int
    on_bytes: Callable[[int], None]
    zone: tzinfo | None

    def texts(self, read: Callable[[BinaryIO], bytes]) -> Iterator[str]:
        """Yield what `read` takes of the file each time, as text; bytes that are no UTF-8 are counted and left out."""
        decoder = codecs.getincrementaldecoder("utf-8")("ignore")
        with open(self.path, "rb") as file:
            while part := read(file):
                self.on_bytes(len(part))
                text = decoder.decode(part)
                # What a part's end leaves open is counted when the next one has completed it, or not.
                self.counts.broken += len(part) - len(text.encode())
                yield text.lstrip("\ufeff")

    def text(self, value: Any) -> str:
        """Return a text without what no text can hold, which is counted: NUL, and half of a pair of UTF-16.

        Raises:
            TypeError: it is no text.
        """
        if not isinstance(value, str):
            raise TypeError(f"a text was expected, got {value!r:.80}")
        kept = value.replace("\0", "").encode("utf-8", "ignore").decode()
        self.counts.broken += len(value) - len(kept)
        return kept


def file_of(session: str) -> str:
    """Return the session of the file that holds a passage or talk: "town.json-0123456789ab" of "...-17"."""
    return _PASSAGE.sub(r"\1", session)


def session_of(path: Path) -> str:
    """Return the session that a file's steps belong to: its name and a digest of its content.

    Raises:
        NotFoundError: there is no such file.
    """
    if not path.is_file():
        raise NotFoundError(f"there is no file {path}")
    digest = hashlib.blake2b(digest_size=6)
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return f"{path.name}-{digest.hexdigest()}"


def _text_steps(one: _Import) -> Iterator[StandardStep]:
    is_markdown = one.path.suffix.lower() == ".md"
    title, index, waiting = one.path.stem.replace("_", " "), 0, ""
    # A line without an end is read in parts.
    for said in chain(one.texts(lambda file: file.readline(_LONGEST_PARAGRAPH)), [""]):
        line = one.text(said)
        heading = _HEADING.match(line) if is_markdown else None
        if line.strip() and heading is None:
            waiting += _plain(line) if is_markdown else line
            ready, waiting = _split(waiting) if len(waiting) > _LONGEST_PARAGRAPH else ("", waiting)
        else:
            ready, waiting = waiting, ""
        for unit in units_of(ready):
            yield from document_steps(one.session, title, [unit], one.stamp_ns, index)
            index += 1
        title = _plain(heading[1]).strip() if heading else title


def _split(text: str) -> tuple[str, str]:
    """Return a text up to its last sentence's end, or else its last space, and the rest."""
    end = text.rfind(". ") + 1 or text.rfind(" ") or len(text)
    return text[:end], text[end:]


def _plain(line: str) -> str:
    return _MARKUP.sub(lambda match: match[1] or "", line)


def _json_steps(one: _Import) -> Iterator[StandardStep]:
    try:
        yield from _steps_of_parts(one, json_parts(one.texts(lambda file: file.read(_BLOCK)), _STREAMED))
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidValueError(
            f"{one.path}: expected passages or talks as docs/knowledge.md has them: {error!r}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidValueError(f"{one.path}: it is no JSON: {error}") from error


def _steps_of_parts(one: _Import, parts: Iterable[tuple[str, Any]]) -> Iterator[StandardStep]:
    """Yield the steps of a file's parts. A talk alone is read as a whole: its day may stand behind its turns."""
    counts: Counter[str] = Counter()
    rest: dict[str, Any] = {}
    for key, part in parts:
        name = f"{one.session}-{counts[key]}"
        counts[key] += 1
        if key in ("", "passages"):
            title, text = ("", part) if isinstance(part, str) else (part["title"], part["text"])
            yield from document_steps(name, one.text(title), units_of(one.text(text)), one.stamp_ns)
        elif key == "sessions":
            yield from _talk(one, part, name)
        elif key == "conversations":
            for number, session in enumerate(part.get("sessions", [part])):
                yield from _talk(one, session, f"{name}-{number}")
        else:
            rest[key] = part
    if "turns" in rest:
        yield from _talk(one, rest, f"{one.session}-0")
    elif not counts.keys() & _STREAMED and rest:
        raise KeyError("passages")


def _talk(one: _Import, values: Any, name: str) -> Iterator[StandardStep]:
    turns = [
        Turn(one.text(turn["speaker"]), one.text(turn["text"]), one.text(turn.get("image", "")))
        for turn in values["turns"]
    ]
    yield from talk_steps(name, turns, stamp_of(one.text(values.get("at", "")), one.zone) or one.stamp_ns, one.zone)
