"""Reads files into steps: plain text and Markdown as a stream, and JSON of passages or talks."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.knowledge.standard_step import StandardStep, Turn, document_steps, talk_steps, units_of
from memory_node.knowledge.text import stamp_of

ENDINGS = (".txt", ".md", ".json")
_LISTS = frozenset({"passages", "sessions", "conversations"})
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
        values = json.loads("".join(one.texts(lambda file: file.read(_BLOCK))))
    except (ValueError, RecursionError) as error:
        raise InvalidValueError(f"{one.path}: it is no JSON: {error}") from error
    try:
        yield from _steps_of_values(one, values)
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidValueError(
            f"{one.path}: expected passages or talks as docs/knowledge.md has them: {error!r}"
        ) from error


def _steps_of_values(one: _Import, values: Any) -> Iterator[StandardStep]:
    passages = values if isinstance(values, list) else _list(values, "passages")
    for number, part in enumerate(passages):
        title, text = ("", part) if isinstance(part, str) else (part["title"], part["text"])
        name = f"{one.session}-{number}"
        yield from document_steps(name, one.text(title), units_of(one.text(text)), one.stamp_ns)
    if isinstance(values, list):
        return
    talks = [(str(number), talk) for number, talk in enumerate(_list(values, "sessions"))]
    for number, conversation in enumerate(_list(values, "conversations")):
        parts = enumerate(_list(conversation, "sessions") if "sessions" in conversation else [conversation])
        talks += [(f"{number}-{place}", talk) for place, talk in parts]
    talks += [("0", values)] if "turns" in values else []
    for name, talk in talks:
        yield from _talk(one, talk, f"{one.session}-{name}")
    if not (talks or _LISTS & values.keys()) and values:
        raise KeyError("passages")


def _list(values: Any, key: str) -> list[Any]:
    found = values.get(key, [])
    if not isinstance(found, list):
        raise TypeError(f"{key}: a list was expected, got {found!r:.80}")
    return found


def _talk(one: _Import, values: Any, name: str) -> Iterator[StandardStep]:
    turns = [
        Turn(one.text(turn["speaker"]), one.text(turn["text"]), one.text(turn.get("image", "")))
        for turn in values["turns"]
    ]
    yield from talk_steps(name, turns, stamp_of(one.text(values.get("at", "")), one.zone) or one.stamp_ns, one.zone)
