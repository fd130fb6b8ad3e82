"""The language of a text game: what the engine prints, the commands that it takes, and both as deeds of an attempt."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from dataclasses import dataclass

from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.lessons.optimizer.attempt import Attempt, Deed, DeedKind

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


class GameAct(str, enum.Enum):
    """What a command does."""

    GO = "go"
    OPEN = "open"
    CLOSE = "close"
    LOOK = "look"
    TAKE = "take"
    PUT = "put"
    USE = "use"
    CLEAN = "clean"
    HEAT = "heat"
    COOL = "cool"
    SLICE = "slice"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class GameCommand:
    """A command that was read.

    verb: as it is written ("move", "put"). thing: what it is done with, "" for none. place: where, or with which tool
    or appliance; "" for none.
    """

    act: GameAct
    verb: str
    thing: str = ""
    place: str = ""


_FORMS = (
    (GameAct.GO, re.compile(r"(?P<verb>go to) (?P<place>.+)")),
    (GameAct.OPEN, re.compile(r"(?P<verb>open) (?P<place>.+)")),
    (GameAct.CLOSE, re.compile(r"(?P<verb>close) (?P<place>.+)")),
    (GameAct.LOOK, re.compile(r"(?P<verb>examine|look at) (?P<place>.+)")),
    (GameAct.TAKE, re.compile(r"(?P<verb>take) (?P<thing>.+) from (?P<place>.+)")),
    (GameAct.PUT, re.compile(r"(?P<verb>move|put|place) (?P<thing>.+?) (?:to|in/on|in|on) (?P<place>.+)")),
    (GameAct.USE, re.compile(r"(?P<verb>use|toggle) (?P<thing>.+)")),
    *(
        (act, re.compile(rf"(?P<verb>{act}) (?P<thing>.+) with (?P<place>.+)"))
        for act in (GameAct.CLEAN, GameAct.HEAT, GameAct.COOL, GameAct.SLICE)
    ),
)


def read_command(text: str) -> GameCommand | None:
    """Return a command with the names that it has; None for one that is about nothing, such as "inventory"."""
    for act, form in _FORMS:
        found = form.fullmatch(text)
        if found is not None:
            return GameCommand(act, **found.groupdict())
    return None


_SKILLS = {
    GameAct.GO: "GoToObject",
    GameAct.TAKE: "PickupObject",
    GameAct.PUT: "PutObject",
    GameAct.OPEN: "OpenObject",
    GameAct.CLOSE: "CloseObject",
    GameAct.USE: "SwitchOn",
    GameAct.CLEAN: "CleanObject",
    GameAct.HEAT: "HeatObject",
    GameAct.COOL: "CoolObject",
    GameAct.SLICE: "SliceObject",
}
# Their skills have no argument for the place that something is taken from, or for what cuts.
_OF_THE_THING_ALONE = frozenset((GameAct.TAKE, GameAct.SLICE))


def called_skill(command: str) -> SkillCall | None:
    """Return the skill that a command serves, over the names of the text; None for one that only tells something."""
    read = read_command(command)
    if read is None or read.act not in _SKILLS:
        return None
    names = (read.thing,) if read.act in _OF_THE_THING_ALONE else (read.thing, read.place)
    return SkillCall(_SKILLS[read.act], tuple(name for name in names if name))


_KINDS = {
    GameAct.GO: DeedKind.TRAVEL,
    GameAct.OPEN: DeedKind.OPEN,
    GameAct.CLOSE: DeedKind.CLOSE,
    GameAct.LOOK: DeedKind.LOOK,
    GameAct.TAKE: DeedKind.TAKE,
    GameAct.PUT: DeedKind.PUT,
}


def attempt_of_game(
    episode_id: str, task: str, text: str, turns: Iterable[tuple[str, str]], won: bool, stamp_ns: int = 0
) -> Attempt:
    """Return a game that was played as an attempt. text: its first text, which names the places."""
    places = tuple(dict.fromkeys(map(label_of, read_places(text))))
    return Attempt(episode_id, task, tuple(deed_of(*turn) for turn in turns), won, stamp_ns, places)


def deed_of(command: str, reply: str) -> Deed:
    """Return a command and its reply as a deed."""
    way = kinds_in(command)
    sight = read_sight(reply)
    seen = tuple(dict.fromkeys(label_of(name) for names in sight.contents.values() for name in names))
    failed = str(FailureReason.EXECUTION) if NOTHING_HAPPENS in reply.lower() else ""
    read = read_command(command)
    if read is None:
        verb = way.partition(" ")[0] or "wait"
        return Deed(DeedKind.LOOK, verb, way or verb, text=command, reply=reply, failure=failed)
    kind = _KINDS.get(read.act, DeedKind.CHANGE)
    return Deed(kind, read.verb, way, label_of(read.thing), label_of(read.place), command, reply, failed, seen)


def kinds_in(command: str) -> str:
    """Return a command without the numbers that tell things of a kind apart."""
    return re.sub(r" \d+\b", "", command).strip()
