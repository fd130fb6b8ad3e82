"""Reads files into steps: plain text, Markdown, and JSON of passages or talks; text files as a stream."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.knowledge.standard_step import StandardStep
from memory_node.knowledge.standardise import Turn, document_steps, talk_steps, units_of
from memory_node.knowledge.text.dates import stamp_of

ENDINGS = (".txt", ".md", ".json")
# A paragraph that goes on for longer is read in parts, so that a file without empty lines streams, too.
_LONGEST_PARAGRAPH = 20_000  # characters
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$")
# Emphasis, code, quotations and links; an underscore within a word belongs to it.
_MARKUP = re.compile(r"[*`]{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)|^\s*>\s?|!?\[([^\]]*)\]\([^)]*\)")


def _ignore(_: int) -> None:
    return None


@dataclass
class ReadCounts:
    """What a file held. broken: bytes that are no UTF-8 and were left out."""

    units: int = 0
    broken: int = 0


def read_document(
    path: Path, counts: ReadCounts, stamp_ns: int = 0, on_bytes: Callable[[int], None] = _ignore
) -> Iterator[StandardStep]:
    """Yield the steps of a file in its order; on_bytes gets how many bytes each part had.

    The steps' sources are made of the file's name and a digest of its content: the same file gives the same steps, so
    that an import that was killed can go on.

    Raises:
        NotFoundError: there is no such file.
        InvalidValueError: its ending or, for JSON, its form is none of those that are read.
    """
    session = session_of(path)
    if path.suffix.lower() not in ENDINGS:
        raise InvalidValueError(f"{path}: expected a file that ends in one of {', '.join(ENDINGS)}")
    if path.suffix.lower() == ".json":
        steps = _json_steps(path, session, counts, stamp_ns, on_bytes)
    else:
        steps = _text_steps(path, session, counts, stamp_ns, on_bytes)
    for step in steps:
        counts.units += 1
        yield step


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


def _text_steps(
    path: Path, session: str, counts: ReadCounts, stamp_ns: int, on_bytes: Callable[[int], None]
) -> Iterator[StandardStep]:
    is_markdown = path.suffix.lower() == ".md"
    title, index, waiting = path.stem.replace("_", " "), 0, ""
    for line in chain(_lines(path, counts, on_bytes), [""]):
        heading = _HEADING.match(line) if is_markdown else None
        if line.strip() and heading is None:
            waiting += _plain(line) if is_markdown else line
            ready, waiting = _split(waiting) if len(waiting) > _LONGEST_PARAGRAPH else ("", waiting)
        else:
            ready, waiting = waiting, ""
        for unit in units_of(ready):
            yield from document_steps(session, title, [unit], stamp_ns, index)
            index += 1
        title = _plain(heading[1]).strip() if heading else title


def _split(text: str) -> tuple[str, str]:
    """Return a text up to its last sentence's end, or else its last space, and the rest."""
    end = text.rfind(". ") + 1 or text.rfind(" ") or len(text)
    return text[:end], text[end:]


def _lines(path: Path, counts: ReadCounts, on_bytes: Callable[[int], None]) -> Iterator[str]:
    decoder = _decoder()
    with open(path, "rb") as file:
        # A line without an end is read in parts.
        while line := file.readline(_LONGEST_PARAGRAPH):
            on_bytes(len(line))
            text = decoder.decode(line)
            counts.broken += len(line) - len(text.encode()) + text.count("\0")
            yield text.replace("\0", "").lstrip("\ufeff")


def _decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")("ignore")


def _plain(line: str) -> str:
    return _MARKUP.sub(lambda match: match[1] or "", line)


def _json_steps(
    path: Path, session: str, counts: ReadCounts, stamp_ns: int, on_bytes: Callable[[int], None]
) -> Iterator[StandardStep]:
    data = path.read_bytes()
    on_bytes(len(data))
    try:
        text = data.decode("utf-8", "ignore")
        counts.broken += len(data) - len(text.encode())
        values = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise InvalidValueError(f"{path}: it is no JSON: {error}") from error
    try:
        yield from _steps_of(values, session, stamp_ns)
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidValueError(
            f"{path}: expected passages or talks as docs/knowledge.md has them: {error!r}"
        ) from error


def _steps_of(values: Any, session: str, stamp_ns: int) -> Iterator[StandardStep]:
    if isinstance(values, Mapping) and "conversations" in values:
        for number, talk in enumerate(values["conversations"]):
            yield from _steps_of(talk, f"{session}-{number}", stamp_ns)
    elif isinstance(values, Mapping) and "sessions" in values:
        for number, part in enumerate(values["sessions"]):
            turns = [
                Turn(_text(turn["speaker"]), _text(turn["text"]), _text(turn.get("image", "")))
                for turn in part["turns"]
            ]
            yield from talk_steps(f"{session}-{number}", turns, stamp_of(_text(part.get("at", ""))) or stamp_ns)
    elif isinstance(values, Mapping) and "turns" in values:
        yield from _steps_of({"sessions": [values]}, session, stamp_ns)
    else:
        yield from _passages(values["passages"] if isinstance(values, Mapping) else values, session, stamp_ns)


def _passages(values: Iterable[Any], session: str, stamp_ns: int) -> Iterator[StandardStep]:
    if isinstance(values, str):
        raise TypeError("a text alone")
    for number, passage in enumerate(values):
        title, text = ("", passage) if isinstance(passage, str) else (passage["title"], passage["text"])
        yield from document_steps(f"{session}-{number}", _text(title), units_of(_text(text)), stamp_ns)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, got {value!r:.80}")
    return value
