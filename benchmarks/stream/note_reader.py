"""Reads lessons of memory for an executor: which admissible command do they ask for now?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.alfworld.sentences import called_skill, deed_of, kinds_in, label_of, read_places, read_sight
from memory_node.domain.skill import SkillCall
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.optimizer.attempt import DeedKind
from memory_node.lessons.optimizer.rules import is_named, words_of
from memory_node.lessons.plugmem import PLACE, THING, calls_of
from memory_node.lessons.whereabouts import Whereabouts, read_whereabouts

# Words of a task that ask for a treatment, and the skill that does it.
_TREATMENTS = {
    "clean": "CleanObject",
    "heat": "HeatObject",
    "hot": "HeatObject",
    "cool": "CoolObject",
    "cold": "CoolObject",
}
_SEVERAL = frozenset(("two", "three", "both", "several"))
# Words of a task that name neither a thing nor a place.
_SMALL = frozenset(
    ("a", "an", "the", "some", "it", "them", "in", "on", "to", "and", "from", "with", "at", "of", "under")
)
_IDLE = _SMALL | _SEVERAL | {"put", "find", "look", "examine", "then"}
# Skills whose place need not be named by a task.
_HANDLING = frozenset({"PickupObject", "PutObject", "OpenObject", "CloseObject", *_TREATMENTS.values()})
_ARRIVALS = ("go to ", "examine ")
# What stands between the names of a thing and a place in a command.
_BETWEEN = {DeedKind.TAKE: " from ", DeedKind.PUT: " to "}


@dataclass(frozen=True)
class _Progress:
    """How far a way was gone. steps: done, in order. held: the name of what is in the hand, "" for nothing. goals:
    the places to which something was brought."""

    steps: int
    held: str
    goals: tuple[str, ...]


class NoteReader:
    """One game in the light of its lessons: ways, and where things are found.

    What they do not say it does not know: which treatment, which appliance, what comes first, where to look first. By
    itself it fetches and brings, as every planner does; it goes to where a step is done, opens what is closed there,
    and does not look at a place twice.

    task: the task's text. text: the first text, which names the places. entries: without any it advises nothing.
    """

    def __init__(self, task: str, text: str, entries: Sequence[Lesson]) -> None:
        self._asked = set(words_of(task))
        self._places = read_places(text)
        self._goal = next((kind for kind in map(label_of, self._places) if is_named(kind, self._asked)), "")
        notes = [note for entry in entries if (note := read_whereabouts(entry.text)) is not None]
        way = next((calls for calls in map(calls_of, entries) if calls and self._fits(calls)), ())
        self._thing = self._thing_of(notes, way) if entries else ""
        self._way = self._steps(way) if self._thing else ()
        about = [note for note in notes if note.thing == self._thing]
        # Where this thing was, then where the things of other notes were.
        found = dict.fromkeys(place for note in (*about, *notes) for place in note.found_at)
        self._first = {place: rank for rank, place in enumerate(found)}
        self._last = frozenset(place for note in about for place in note.vain)
        self._advised = ""
        self._unheeded = Counter[str]()

    def command(self, said: Sequence[tuple[str, str]], commands: Sequence[str]) -> str:
        """Return the command that is next, "" where the lessons do not say; asked once a step.

        said: commands and replies so far. A place to search that the executor did not go to when it was advised gives
        way to the others.
        """
        if self._advised and said and said[-1][0] != self._advised:
            self._unheeded[self._advised] += 1
        self._advised = self._next(said, commands)
        return self._advised

    def _next(self, said: Sequence[tuple[str, str]], commands: Sequence[str]) -> str:
        done = self._progress(said)
        if done.steps == len(self._way):
            return ""
        step = self._way[done.steps]
        if not done.held and self._thing in step.arguments:
            step = SkillCall("PickupObject", (self._thing,))  # also where it was put down on the way
        able = [command for command in commands if called_skill(kinds_in(command)) == step]
        if step.skill == "PickupObject":
            able = [command for command in able if not command.endswith(tuple(f" {place}" for place in done.goals))]
        return able[0] if able else self._approach(step, done.goals, said, commands)

    def _approach(
        self, step: SkillCall, goals: Sequence[str], said: Sequence[tuple[str, str]], commands: Sequence[str]
    ) -> str:
        """Return the command that leads to where a step can be done: open what is shut here, else go there."""
        here, seen, looked = _whereabouts(said)
        wanted = self._places_of(step, goals, seen)
        door = f"open {here}"
        if door in commands and (here in wanted or (not wanted and here not in looked)):
            return door
        places = [place for place in wanted or self._unseen(looked) if place != here]
        ways = [way for place in places for arrival in _ARRIVALS if (way := f"{arrival}{place}") in commands]
        return min(ways, key=lambda way: self._unheeded[way], default="")

    def _fits(self, way: Sequence[SkillCall]) -> bool:
        """Return whether a way is one for this task: the same treatments, the same switches, and a goal if it has."""
        asked = {skill for word, skill in _TREATMENTS.items() if word in self._asked}
        switched = (name for call in way if call.skill not in _HANDLING for name in call.arguments if name != THING)
        return (
            {call.skill for call in way} & set(_TREATMENTS.values()) == asked
            and all(is_named(name, self._asked) for name in switched)
            and (bool(self._goal) or all(PLACE not in call.arguments for call in way))
        )

    def _thing_of(self, notes: Sequence[Whereabouts], way: Sequence[SkillCall]) -> str:
        """Return what the task is about: the thing of a note that it names, else the word of it that is left over.

        What a fitting way is done with is not the thing: "desklamp" in "look at newspaper under the desklamp".
        """
        named = next((note.thing for note in notes if is_named(note.thing, self._asked)), "")
        if named:
            return named
        tools = {word for call in way for name in call.arguments for word in words_of(name)}
        left = self._asked - _IDLE - set(_TREATMENTS) - set(words_of(self._goal)) - tools
        return next(iter(left)) if len(left) == 1 else ""

    def _steps(self, way: Sequence[SkillCall]) -> tuple[SkillCall, ...]:
        """Return the steps of a way about this task's thing and goal, gone twice where several are asked for. Without
        one the thing is fetched, and brought where no treatment is asked for."""
        is_plain = bool(self._goal) and self._asked.isdisjoint(_TREATMENTS)
        plain = (SkillCall("PickupObject", (THING,)), SkillCall("PutObject", (THING, PLACE)))
        steps = [call.renamed({THING: self._thing, PLACE: self._goal}) for call in way or plain[: 1 + is_plain]]
        goes_twice = bool(_SEVERAL & self._asked) and len(set(steps)) == len(steps)
        return tuple(steps * (2 if goes_twice else 1))

    def _progress(self, said: Sequence[tuple[str, str]]) -> _Progress:
        """Return how far the way was gone. A thing that is taken back from where it was brought is a step less."""
        done, held, brought = 0, "", dict[str, str]()
        for command, reply in said:
            deed = deed_of(command, reply)
            if not deed.worked:
                continue
            name, _, place = command.removeprefix(f"{deed.verb} ").rpartition(_BETWEEN.get(deed.kind, " "))
            taken_back = deed.kind is DeedKind.TAKE and brought.get(name) == place
            held = name if deed.kind is DeedKind.TAKE else "" if deed.kind is DeedKind.PUT else held
            if taken_back:
                del brought[name]
                done -= 1
            elif done < len(self._way) and called_skill(deed.way) == self._way[done]:
                done += 1
                if deed.kind is DeedKind.PUT:
                    brought[name] = place
        return _Progress(done, held, tuple(brought.values()))

    def _places_of(self, step: SkillCall, goals: Sequence[str], seen: dict[str, str]) -> list[str]:
        """Return the places where a step is done, as far as it or what was seen says; [] where one has to search.

        goals: where something was brought; nothing is taken from there again.
        """
        same = [place for place in self._places if label_of(place) == step.arguments[-1]]
        if same and step.skill != "PickupObject":
            return sorted(same, key=lambda place: place not in goals)
        found = [place for name, place in seen.items() if label_of(name) == step.arguments[-1] and place not in goals]
        return list(dict.fromkeys(found))

    def _unseen(self, looked: set[str]) -> list[str]:
        """Return the places that were not looked at, those first where the lessons say that the thing was.

        Of other kinds those come first that were looked at least often.
        """
        middle = len(self._first)
        often = Counter(map(label_of, looked))

        def rank(place: str) -> tuple[int, bool, int]:
            kind = label_of(place)
            return self._first.get(kind, middle), kind in self._last, often[kind]

        return sorted((place for place in self._places if place not in looked), key=rank)


def _whereabouts(said: Sequence[tuple[str, str]]) -> tuple[str, dict[str, str], set[str]]:
    """Return where one is, where each thing was seen last, and which places were looked at or into."""
    here, seen, looked = "", dict[str, str](), set[str]()
    for command, reply in said:
        arrived = next((command.removeprefix(way) for way in _ARRIVALS if command.startswith(way)), "")
        here = arrived or here
        sight = read_sight(reply)
        for where, names in sight.contents.items():
            looked.add(where)
            for name in [name for name, known in seen.items() if known == where and name not in names]:
                del seen[name]
            seen |= dict.fromkeys(names, where)
        if command.startswith("take "):
            seen.pop(command.removeprefix("take ").partition(" from ")[0], None)
    return here, seen, looked
