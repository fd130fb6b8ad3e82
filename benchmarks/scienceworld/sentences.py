"""What ScienceWorld prints of rooms, things and commands, and the sentences of a brief state that say the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import networkx as nx

from memory_node.context.brief_state import BriefState, Section
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import ObjectState

_AT_NOTHING = "the robot stands at nothing known"
_AT = "the robot stands at "
_RESTS, _IS_INSIDE = " is in or on ", " is inside "
_FAILED = re.compile(r"(?P<call>.+\)) failed(?: (?P<times>\d+) times)?: (?P<reason>\w+)")


def holds(name: str) -> str:
    """Return the sentence for a thing that the hand holds."""
    return f"the hand holds {name}"


def stands_at(name: str) -> str:
    """Return the sentence for the place that the robot has gone to; "" for none."""
    return f"{_AT}{name}" if name else _AT_NOTHING


def rests(name: str, place: str, inside: bool = False) -> str:
    """Return the sentence for where a thing is; inside: it is known to be in it, and not on it."""
    return f"{name}{_IS_INSIDE if inside else _RESTS}{place}"


def is_in_state(name: str, state: ObjectState) -> str:
    """Return the sentence for a state of a thing."""
    return f"{name} is {state}"


def failed(call: SkillCall, reason: FailureReason, times: int = 1) -> str:
    """Return the sentence for a call that failed, several times in a row for the same reason."""
    return f"{call} failed{f' {times} times' if times > 1 else ''}: {reason}"


def place_of_robot(state: BriefState) -> str | None:
    """Return the name of the place that the robot is at, "" for none; None: not known."""
    agent = state.items(Section.AGENT)
    if _AT_NOTHING in agent:
        return ""
    return next((text.removeprefix(_AT) for text in agent if text.startswith(_AT)), None)


def location_item(name: str, state: BriefState) -> str:
    """Return the item that says where a thing is, "" where there is none."""
    starts = (f"{name}{_RESTS}", f"{name}{_IS_INSIDE}")
    return next((text for text in state.items(Section.LOCATIONS) if text.startswith(starts)), "")


def failures_of(call: SkillCall, state: BriefState) -> tuple[str, FailureReason, int] | None:
    """Return the item, reason and number of a call's failures in a row; None: it has not failed."""
    for text in state.items(Section.FACTS):
        match = _FAILED.fullmatch(text)
        if match is not None and match["call"] == str(call):
            return text, FailureReason(match["reason"]), int(match["times"] or 1)
    return None


_ROOM = re.compile(r"\bis called the (?P<room>[^.\n]+)\.")
_ITEM = re.compile(r"^\t(?P<item>[^\n]+)$", re.MULTILINE)
_DOOR = re.compile(r"^a door to the (?P<room>.+?) \(that is (?P<state>open|closed)\)$", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:an?|the)\s+(?:substance called\s+)?", re.IGNORECASE)
_INSIDE = re.compile(r"\b(?P<how>in|on) the [^:]+? is: ?", re.IGNORECASE)
_LID = re.compile(r"door is (?P<state>open|closed)\b", re.IGNORECASE)
_STATES = (
    (re.compile(r"\bturned on\b|\bis activated\b", re.IGNORECASE), ObjectState.ON),
    (re.compile(r"\bturned off\b|\bdeactivated\b", re.IGNORECASE), ObjectState.OFF),
)
_NAME_ENDS = re.compile(r"\s*(?:[(,]|\. |\.$|$)")
_NOT_THINGS = frozenset({"", "nothing", "agent", "air", "ground"})
# Behind a comma it goes on about the thing before it.
_GOES_ON = ("which is ", "currently ")
# How the engine refuses a command, the particular before the general, and what that is to a robot.
_REFUSALS = (
    (re.compile(r"already open|already activated", re.IGNORECASE), FailureReason.ALREADY_OPEN),
    (re.compile(r"already (?:closed|deactivated)", re.IGNORECASE), FailureReason.ALREADY_CLOSED),
    (re.compile(r"\bisn't open\b|\bis closed\b|\bnot open\b", re.IGNORECASE), FailureReason.CLOSED),
    (re.compile(r"not clear how to get there", re.IGNORECASE), FailureReason.UNREACHABLE),
    (re.compile(r"\bis not (?:\w+able|something)\b", re.IGNORECASE), FailureReason.WRONG_OBJECT),
    (
        re.compile(r"no known action|unknown action|\bcan't\b|\bcannot\b|\bis not\b", re.IGNORECASE),
        FailureReason.EXECUTION,
    ),
)
_WENT = re.compile(r"^you move to the (?P<room>[^.\n]+)\.", re.IGNORECASE)
_MOVED = re.compile(r"^you move the .+ to the (?P<place>[^.\n]+)\.", re.IGNORECASE)
_BECAME = re.compile(r"\bis now (?P<state>open|closed|activated|deactivated)\b", re.IGNORECASE)
_BECOMES = {
    "open": ObjectState.OPENED,
    "closed": ObjectState.CLOSED,
    "activated": ObjectState.ON,
    "deactivated": ObjectState.OFF,
}
# What the engine calls the hand.
_HAND = "inventory"


@dataclass(frozen=True)
class SeenThing:
    """A thing that a text speaks of. support: the name of what it is in or on, "" for the room. states: as it is told.
    inside: what is told with it is in rather than on it."""

    name: str
    support: str = ""
    states: tuple[ObjectState, ...] = ()
    inside: bool = False


@dataclass(frozen=True)
class RoomSight:
    """A look around. doors: whether the door to each neighbouring room is open."""

    room: str
    things: tuple[SeenThing, ...]
    doors: dict[str, bool]

    def draw_on(self, rooms: nx.Graph) -> None:
        """Add the doors to a map, on which they join rooms."""
        rooms.add_edges_from((self.room, other) for other in self.doors)


def read_room(text: str) -> RoomSight | None:
    """Return what a look around tells; None where a text is none."""
    found = _ROOM.search(text)
    if found is None:
        return None
    things: list[SeenThing] = []
    doors: dict[str, bool] = {}
    for match in _ITEM.finditer(text.partition("In your inventory")[0]):
        door = _DOOR.match(match["item"].strip())
        if door is not None:
            doors[door["room"].lower()] = door["state"].lower() == "open"
        else:
            things += _things_of(match["item"], "")
    return RoomSight(found["room"].strip().lower(), tuple(things), doors)


def read_held(text: str) -> tuple[str, ...]:
    """Return the names of what the inventory holds, by a text that tells of it."""
    _, _, listed = text.partition("In your inventory, you see:")
    return tuple(thing.name for match in _ITEM.finditer(listed) for thing in _things_of(match["item"], "")[:1])


@dataclass(frozen=True)
class Outcome:
    """What came of a command. reason: why it was refused. room: where it led, place: where a thing was moved to,
    state: what its first thing is now, None for no change of that. sight: a look around."""

    reason: FailureReason = FailureReason.NONE
    room: str = ""
    place: str = ""
    state: ObjectState | None = None
    sight: RoomSight | None = None

    @classmethod
    def read(cls, reply: str) -> Outcome:
        """Return what a reply says."""
        sight = read_room(reply)
        if sight is not None:
            return cls(sight=sight)
        text = reply.strip()
        if (went := _WENT.match(text)) is not None:
            return cls(room=went["room"].strip().lower())
        if (moved := _MOVED.match(text)) is not None:
            return cls(place=moved["place"].strip().lower())
        if (became := _BECAME.search(text)) is not None:
            return cls(state=_BECOMES[became["state"].lower()])
        refusals = (reason for pattern, reason in _REFUSALS if pattern.search(text))
        return cls(reason=next(refusals, FailureReason.NONE))

    @property
    def taken(self) -> bool:
        """Whether the hand holds the thing now."""
        return self.place == _HAND

    def beliefs(self, names: Sequence[str]) -> tuple[tuple[Section, str], ...]:
        """Return what is so afterwards, in the sentences of a brief state. names: those of the command."""
        if self.room:
            return ((Section.AGENT, stands_at(self.room)),)
        if not names or self.reason is not FailureReason.NONE:
            return ()
        name = names[0].lower()
        if self.taken:
            return ((Section.AGENT, holds(name)),)
        if self.place:
            return ((Section.LOCATIONS, rests(name, self.place)),)
        return ((Section.FACTS, is_in_state(name, self.state)),) if self.state is not None else ()


def _things_of(item: str, support: str) -> list[SeenThing]:
    """Return the thing of one entry of a list, and behind it what is told to be in or on it."""
    item = _ARTICLE.sub("", item.strip())
    end = _NAME_ENDS.search(item)
    name, rest = (item[: end.start()], item[end.start() :]) if end is not None else (item, "")
    name, rest = name.strip().lower(), rest.strip()
    if name in _NOT_THINGS or name.startswith(_GOES_ON):
        return []
    inside, how = _contents(rest)
    without = rest.replace(inside, "") if inside else rest
    states = [state for pattern, state in _STATES if pattern.search(without)]
    lid = _LID.search(without)
    if lid is not None:
        states.append(ObjectState.OPENED if lid["state"].lower() == "open" else ObjectState.CLOSED)
    listed = [thing for part in _parts(inside) for thing in _things_of(part, name)]
    if how and listed and rest.startswith("("):
        states.append(ObjectState.FILLED)
    return [SeenThing(name, support, tuple(states), how == "in"), *listed]


def _contents(rest: str) -> tuple[str, str]:
    """Return the list of what is in or on a thing, and which of both; "" for what is told of neither."""
    if rest.startswith("(containing "):
        return _within(rest)[len("containing ") :], "in"
    found = _INSIDE.search(rest)
    if found is None:
        return "", ""
    # The list ends with its sentence.
    return rest[found.end() :].partition(".")[0], found["how"].lower()


def _within(text: str) -> str:
    """Return what stands between the first parenthesis and the one that closes it."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:place]
    return text[1:]


def _parts(listed: str) -> Iterator[str]:
    """Yield the entries of a list; commas within parentheses are none of its own."""
    depth, part = 0, ""
    for letter in listed:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            yield part
            part = ""
        else:
            part += letter
    if part.strip():
        yield part
