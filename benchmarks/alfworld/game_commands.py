"""Commands of text games such as ALFWorld's: what is done, with which thing, at which place."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from memory_node.domain.skill import SkillCall


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
