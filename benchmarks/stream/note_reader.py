"""Reads notes of memory for an executor: which admissible command do they ask for now?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.alfworld.sentences import deed_of, kinds_in, label_of, read_places, read_sight
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.method import GOAL, SEVERAL, Method, read_method
from memory_node.lessons.optimizer.attempt import DeedKind
from memory_node.lessons.optimizer.rules import is_named, words_of

# Words of a step or a task that name neither a thing nor a place.
_SMALL = frozenset(
    ("a", "an", "the", "some", "it", "them", "in", "on", "to", "and", "from", "with", "at", "of", "under")
)
# Words of a task that ask for a treatment, and the verb that does it.
_TREATMENTS = {"clean": "clean", "heat": "heat", "hot": "heat", "cool": "cool", "cold": "cool"}
_SEVERAL = frozenset(("two", "three", "both", "several"))
_ARRIVALS = ("go to ", "examine ")
# What stands between the names of a thing and a place in a command.
_BETWEEN = {DeedKind.TAKE: " from ", DeedKind.PUT: " to "}
_IDLE = _SMALL | _SEVERAL | {"put", "find", "look", "examine", "then"}
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class _Progress:
    """How far a way was gone. steps: done, in order. held: the name of what is in the hand, "" for nothing. goals:
    the places to which something was brought."""

    steps: int
    held: str
    goals: tuple[str, ...]


class NoteReader:
    """One game in the light of its notes.

    What the notes do not say it does not know: which verbs, which appliance, what comes first, where to look first. By
    itself it matches a step to a command, goes to where a step is done, opens what is closed there, and does not look
    at a place twice.

    task: the task's text. text: the first text, which names the places.
    """

    def __init__(self, task: str, text: str, entries: Sequence[Lesson]) -> None:
        self._asked = set(words_of(task))
        self._places = read_places(text)
        self._goal = next((kind for kind in map(label_of, self._places) if is_named(kind, self._asked)), "")
        notes = [(entry, note) for entry in entries if (note := read_method(entry.text)) is not None]
        fitting = [note for entry, note in notes if self._fits(entry, note)]
        self._thing = self._thing_of([note for _, note in notes], fitting)
        about = [note for _, note in notes if note.thing == self._thing]
        self._way = tuple(self._steps(fitting, about))
        # Where this thing was, then where the things of other notes were.
        found = dict.fromkeys(place for note in (*about, *(note for _, note in notes)) for place in note.found_at)
        self._first = {place: rank for rank, place in enumerate(found)}
        self._last = frozenset(place for note in about for place in note.vain)
        self._advised = ""
        self._unheeded = Counter[str]()

    def command(self, said: Sequence[tuple[str, str]], commands: Sequence[str]) -> str:
        """Return the command that is next, "" where the notes do not say; asked once a step.

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
        if not done.held and self._thing in step:
            step = f"take {self._thing}"  # also where it was put down on the way
        able = [command for command in commands if self._matches(step, kinds_in(command))]
        if step.startswith("take "):
            able = [command for command in able if not command.endswith(tuple(f" {place}" for place in done.goals))]
        return able[0] if able else self._approach(step, done.goals, said, commands)

    def _approach(
        self, step: str, goals: Sequence[str], said: Sequence[tuple[str, str]], commands: Sequence[str]
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

    def _fits(self, entry: Lesson, note: Method) -> bool:
        """Return whether a note's way is one for this task: the same treatments, as many things, the same tools."""
        words = set(_WORD.findall(" ".join(note.way)))
        tools = words & set(words_of(entry.situation)) - set(words_of(note.thing)) - _IDLE
        asked = {verb for word, verb in _TREATMENTS.items() if word in self._asked}
        return (
            bool(note.way)
            and set(note.verbs) & set(_TREATMENTS.values()) == asked
            and (SEVERAL not in note.verbs or bool(_SEVERAL & self._asked))
            and all(verb in asked or is_named(verb, self._asked) for verb in tools)
            and (bool(self._goal) or GOAL not in " ".join(note.way))
        )

    def _thing_of(self, notes: Sequence[Method], fitting: Sequence[Method]) -> str:
        """Return what the task is about: the thing of a note that it names, else the word of it that is left over.

        What a fitting way is done with is not the thing: "desklamp" in "look at newspaper under the desklamp".
        """
        named = next((note.thing for note in notes if is_named(note.thing, self._asked)), "")
        if named or not notes:
            return named
        tools = {word for note in fitting for step in note.way for word in words_of(step)}
        left = self._asked - _IDLE - set(_TREATMENTS) - set(words_of(self._goal)) - tools
        return next(iter(left)) if len(left) == 1 else ""

    def _steps(self, fitting: Sequence[Method], about: Sequence[Method]) -> Iterator[str]:
        """Yield the steps of the first fitting way, about this task's thing and goal.

        A way of one thing is gone twice where several are asked for. about: notes on this thing. Where no way fits,
        every task with the thing begins as these do.
        """
        several = bool(_SEVERAL & self._asked)
        note = min(fitting, key=lambda one: (SEVERAL in one.verbs) != several, default=None)
        way = note.way if note is not None else ()
        if note is None:
            note = next((one for one in about if one.way), None)
            way = note.way[:1] if note is not None else ()
        if note is None or not self._thing:
            return
        goes_twice = several and len(set(way)) == len(way)
        for step in way * (2 if goes_twice else 1):
            words = (self._thing if word == note.thing else word for word in _parts(step, note.thing))
            yield " ".join(words).replace(GOAL, self._goal or GOAL)

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
            elif done < len(self._way) and self._matches(self._way[done], deed.way):
                done += 1
                if deed.kind is DeedKind.PUT:
                    brought[name] = place
        return _Progress(done, held, tuple(brought.values()))

    def _matches(self, step: str, command: str) -> bool:
        words = set(_WORD.findall(command))
        return step.split()[0] == command.split()[0] and set(_WORD.findall(step)) - _SMALL <= words

    def _places_of(self, step: str, goals: Sequence[str], seen: dict[str, str]) -> list[str]:
        """Return the places where a step is done, as far as it or what was seen says; [] where one has to search.

        goals: where something was brought; nothing is taken from there again.
        """
        verb, *rest = step.split()
        words = " ".join(rest)
        kinds = sorted({label_of(place) for place in self._places}, key=len, reverse=True)
        kind = next((kind for kind in kinds if verb != "take" and words.endswith(kind)), "")
        if kind:
            same = [place for place in self._places if label_of(place) == kind]
            return sorted(same, key=lambda place: place not in goals)
        thing = words.rpartition(" with ")[0] or words
        found = [place for name, place in seen.items() if label_of(name) == thing and place not in goals]
        return list(dict.fromkeys(found))

    def _unseen(self, looked: set[str]) -> list[str]:
        """Return the places that were not looked at, those first where the notes say that the thing was.

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


def _parts(step: str, thing: str) -> Iterator[str]:
    """Yield the words of a step, a thing of several words as one."""
    before, found, after = f" {step} ".partition(f" {thing} ")
    yield from before.split()
    if found:
        yield thing
        yield from after.split()
