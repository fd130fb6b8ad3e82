"""Reads notes of memory for an executor: which admissible command do they ask for now?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from benchmarks.alfworld.deeds import deed_of, kinds_in
from benchmarks.alfworld.sentences import label_of, read_places, read_sight
from memory_node.experience.optimizer.attempt import Deed, DeedKind
from memory_node.experience.optimizer.attempt_reading import is_named, words_of
from memory_node.experience.optimizer.entry import MemoryEntry
from memory_node.experience.optimizer.method_note import GOAL, SEVERAL, MethodNote, read_note

# Words of a step or a task that name neither a thing nor a place.
_SMALL = frozenset(
    ("a", "an", "the", "some", "it", "them", "in", "on", "to", "and", "from", "with", "at", "of", "under")
)
# Words of a task that ask for a treatment, and the verb that does it.
_TREATMENTS = {"clean": "clean", "heat": "heat", "hot": "heat", "cool": "cool", "cold": "cool"}
_SEVERAL = frozenset(("two", "three", "both", "several"))
_ARRIVALS = ("go to ", "examine ")
_IDLE = _SMALL | _SEVERAL | {"put", "find", "look", "examine", "then"}
_WORD = re.compile(r"[a-z]+")


class NoteReader:
    """One game in the light of its notes.

    What the notes do not say it does not know: which verbs, which appliance, what comes first, where to look first. By
    itself it matches a step to a command, goes to where a step is done, opens what is closed there, and does not look
    at a place twice.

    task: the task's text. text: the first text, which names the places.
    """

    def __init__(self, task: str, text: str, entries: Sequence[MemoryEntry]) -> None:
        self._asked = set(words_of(task))
        self._places = read_places(text)
        self._goal = next((kind for kind in map(label_of, self._places) if is_named(kind, self._asked)), "")
        notes = [(entry, note) for entry in entries if (note := read_note(entry.value)) is not None]
        fitting = [note for entry, note in notes if self._fits(entry, note)]
        self._thing = self._thing_of([note for _, note in notes], fitting)
        self._way = tuple(self._steps(fitting))
        about = [note for _, note in notes if note.thing == self._thing]
        self._first = _ranks(place for note in about for place in note.found_at)
        self._last = frozenset(place for note in about for place in note.vain)

    def command(self, said: Sequence[tuple[str, str]], commands: Sequence[str]) -> str:
        """Return the command that is next, "" where the notes do not say. said: commands and replies so far."""
        done = self._done([deed_of(*turn) for turn in said])
        if done == len(self._way):
            return ""
        step = self._way[done]
        able = [command for command in commands if self._matches(step, kinds_in(command))]
        if step.startswith("take "):
            able = [command for command in able if not (self._goal and command.endswith(tuple(self._goals(said))))]
        return able[0] if able else self._approach(step, said, commands)

    def _approach(self, step: str, said: Sequence[tuple[str, str]], commands: Sequence[str]) -> str:
        """Return the command that leads to where a step can be done: open what is shut here, else go there."""
        here, seen, looked = _whereabouts(said)
        wanted = self._places_of(step, said, seen)
        door = f"open {here}"
        if door in commands and (here in wanted or (not wanted and here not in looked)):
            return door
        places = [place for place in wanted or self._unseen(looked) if place != here]
        ways = (f"{arrival}{place}" for place in places for arrival in _ARRIVALS)
        return next((way for way in ways if way in commands), "")

    def _fits(self, entry: MemoryEntry, note: MethodNote) -> bool:
        """Return whether a note's way is one for this task: the same treatments, as many things, the same tools."""
        words = set(_WORD.findall(" ".join(note.way)))
        tools = words & set(words_of(entry.query)) - set(words_of(note.thing)) - _IDLE
        asked = {verb for word, verb in _TREATMENTS.items() if word in self._asked}
        return (
            bool(note.way)
            and set(note.verbs) & set(_TREATMENTS.values()) == asked
            and (SEVERAL in note.verbs) == bool(_SEVERAL & self._asked)
            and all(verb in asked or is_named(verb, self._asked) for verb in tools)
            and (bool(self._goal) or GOAL not in " ".join(note.way))
        )

    def _thing_of(self, notes: Sequence[MethodNote], fitting: Sequence[MethodNote]) -> str:
        """Return what the task is about: the thing of a note that it names, else the word of it that is left over.

        What a fitting way is done with is not the thing: "desklamp" in "look at newspaper under the desklamp".
        """
        named = next((note.thing for note in notes if is_named(note.thing, self._asked)), "")
        if named or not notes:
            return named
        tools = {word for note in fitting for step in note.way for word in words_of(step)}
        left = self._asked - _IDLE - set(_TREATMENTS) - set(words_of(self._goal)) - tools
        return next(iter(left)) if len(left) == 1 else ""

    def _steps(self, notes: Sequence[MethodNote]) -> Iterator[str]:
        """Yield the steps of the first way, about this task's thing and goal."""
        note = next((one for one in notes if one.way), None)
        if note is None or not self._thing:
            return
        for step in note.way:
            words = (self._thing if word == note.thing else word for word in _parts(step, note.thing))
            yield " ".join(words).replace(GOAL, self._goal or GOAL)

    def _done(self, deeds: Iterable[Deed]) -> int:
        """Return how many steps of the way have been done, in their order."""
        done = 0
        for deed in deeds:
            if done < len(self._way) and deed.worked and self._matches(self._way[done], deed.way):
                done += 1
        return done

    def _matches(self, step: str, command: str) -> bool:
        words = set(_WORD.findall(command))
        return step.split()[0] == command.split()[0] and set(_WORD.findall(step)) - _SMALL <= words

    def _goals(self, said: Sequence[tuple[str, str]]) -> list[str]:
        """Return the places to which something was brought: nothing is taken from there again."""
        return [
            command.rpartition(" to ")[2] for command, reply in said if deed_of(command, reply).kind is DeedKind.PUT
        ]

    def _places_of(self, step: str, said: Sequence[tuple[str, str]], seen: dict[str, str]) -> list[str]:
        """Return the places where a step is done, as far as it or what was seen says; [] where one has to search."""
        verb, *rest = step.split()
        words = " ".join(rest)
        brought = self._goals(said)
        kinds = sorted({label_of(place) for place in self._places}, key=len, reverse=True)
        kind = next((kind for kind in kinds if verb != "take" and words.endswith(kind)), "")
        if kind:
            same = [place for place in self._places if label_of(place) == kind]
            return sorted(same, key=lambda place: place not in brought)
        thing = words.rpartition(" with ")[0] or words
        found = [place for name, place in seen.items() if label_of(name) == thing and place not in brought]
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


def _ranks(places: Iterable[str]) -> dict[str, int]:
    return {place: rank for rank, place in enumerate(dict.fromkeys(places))}
