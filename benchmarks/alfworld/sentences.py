"""What the text engine prints, sentence by sentence: places, what lies there, doors, and whether anything happened."""

from __future__ import annotations

import re
from dataclasses import dataclass

NOTHING_HAPPENS = "nothing happens"
# Most characters of a reply: a longer one comes from a broken engine.
LONGEST_REPLY = 20_000

_TASK = re.compile(r"your task is to:\s*(?P<task>[^\n]+)", re.IGNORECASE)
_AROUND = re.compile(r"looking quickly around you, you see (?P<list>[^.\n]+)", re.IGNORECASE)
_CONTENTS = re.compile(r"\b(?:on|in) (?:the )?(?P<place>[^,.\n]+), you see (?P<list>[^.\n]+)", re.IGNORECASE)
_DOOR = re.compile(r"\bthe (?P<place>[^,.\n]+) is (?P<state>open|closed)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:and )?(?:an? |the |some )?", re.IGNORECASE)
_NUMBER = re.compile(r"\s+\d+$")


@dataclass(frozen=True)
class Sight:
    """What one reply tells.

    contents: the names of what is seen on or in each place that the reply speaks of, () for an empty place. doors:
    whether a place stands open. happened: False where the engine says that nothing did.
    """

    contents: dict[str, tuple[str, ...]]
    doors: dict[str, bool]
    happened: bool = True


def read_task(text: str) -> str:
    """Return the instruction of a game's first text, "" where it has none."""
    found = _TASK.search(text)
    return found["task"].strip() if found else ""


def read_places(text: str) -> tuple[str, ...]:
    """Return the names of the places that the first look around tells of."""
    found = _AROUND.search(text)
    return _names(found["list"]) if found else ()


def read_sight(text: str) -> Sight:
    """Return what a reply to a command tells."""
    doors = {match["place"].strip().lower(): match["state"].lower() == "open" for match in _DOOR.finditer(text)}
    contents: dict[str, tuple[str, ...]] = {}
    place = ""
    # "The drawer 1 is open. In it, you see ...": "it" is the place that was named last.
    for match in sorted((*_DOOR.finditer(text), *_CONTENTS.finditer(text)), key=lambda one: one.start()):
        named = match["place"].strip().lower()
        place = place if named == "it" else named
        if place and "list" in match.groupdict():
            contents[place] = _names(match["list"])
    return Sight(contents, doors, NOTHING_HAPPENS not in text.lower())


def label_of(name: str) -> str:
    """Return what a thing is called without the number that tells it from others: "desk" of "desk 1"."""
    return _NUMBER.sub("", name)


def _names(listed: str) -> tuple[str, ...]:
    """Return the names of a list such as "a book 1, a pen 2, and a desk lamp 1"; () of "nothing"."""
    parts = (_ARTICLE.sub("", part.strip()).strip().lower() for part in re.split(r",| and (?=an? )", listed))
    return tuple(part for part in parts if part and part != "nothing")
