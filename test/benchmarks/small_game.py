"""A text world in the engine's words, for tests without the engine."""

from collections.abc import Callable

import numpy as np

from benchmarks.alfworld.sentences import label_of

CLOSING = {"drawer", "cabinet", "fridge", "microwave"}


class SmallGame:
    """A text world in the engine's words. layout: what lies on or in each place; done: whether the task is."""

    def __init__(self, layout: dict[str, list[str]], task: str, done: Callable[["SmallGame"], bool]) -> None:
        self.layout = {place: list(things) for place, things in layout.items()}
        self.opened: set[str] = set()
        self.on: set[str] = set()
        self.states: dict[str, str] = {}
        self.at, self.held = "", ""
        self._done = done
        seen = ", ".join(f"a {place}" for place in layout)
        self.text = f"-= Welcome =-\n\nLooking quickly around you, you see {seen}.\n\nYour task is to: {task}."
        self.sent: list[str] = []

    @property
    def over(self) -> bool:
        return self.won

    @property
    def won(self) -> bool:
        return self._done(self)

    @property
    def commands(self) -> list[str]:
        found = [f"go to {place}" for place in self.layout if place != self.at]
        if self.at:
            found.append(f"examine {self.at}")
            if self._closes(self.at):
                found.append(f"{'close' if self.at in self.opened else 'open'} {self.at}")
            if self._accessible(self.at):
                found += [f"take {thing} from {self.at}" for thing in self.layout[self.at] if not self.held]
                found += [f"use {thing}" for thing in self.layout[self.at] if "lamp" in thing]
                found += [f"move {self.held} to {self.at}"] if self.held else []
            for verb, place in (("clean", "sinkbasin"), ("heat", "microwave"), ("cool", "fridge")):
                found += [f"{verb} {self.held} with {self.at}"] if self.held and self.at.startswith(place) else []
        return found

    def send(self, command: str) -> str:
        self.sent.append(command)
        if command not in self.commands:
            return "Nothing happens."
        verb, rest = command.split(" ", 1)
        return getattr(self, f"_{verb}")(rest)

    @property
    def facts(self) -> list[tuple[str, ...]]:
        found = [("receptacleatlocation", place, f"at {place}") for place in self.layout]
        found += [("inreceptacle", thing, place) for place, things in self.layout.items() for thing in things]
        things = [thing for listed in self.layout.values() for thing in listed] + ([self.held] if self.held else [])
        found += [("objecttype", thing, f"{label_of(thing).replace(' ', '')}type") for thing in things]
        found += [("receptacletype", place, f"{label_of(place)}type") for place in self.layout]
        found += [("openable", place) for place in self.layout if self._closes(place)]
        found += [("opened", place) for place in self.opened]
        found += [("ishot", thing) for thing, state in self.states.items() if state == "clean"]
        found += [("istoggled", thing) for thing in self.on]
        return [
            *found,
            ("atlocation", "agent", f"at {self.at}"),
            *([("holds", "agent", self.held)] if self.held else []),
        ]

    problem = "(:goal (and (objectType ?o MugType) (isHot ?o) (receptacleType ?r CabinetType) (inReceptacle ?o ?r)))"

    score = None

    def close(self) -> None:
        pass

    def _closes(self, place: str) -> bool:
        return label_of(place) in CLOSING

    def _accessible(self, place: str) -> bool:
        return not self._closes(place) or place in self.opened

    def _look(self, place: str) -> str:
        listed = ", ".join(f"a {thing}" for thing in self.layout[place]) or "nothing"
        if not self._closes(place):
            return f"On the {place}, you see {listed}."
        return f"The {place} is open. In it, you see {listed}." if place in self.opened else f"The {place} is closed."

    def _go(self, rest: str) -> str:
        self.at = rest.removeprefix("to ")
        return f"You arrive at {self.at}. {self._look(self.at)}"

    def _examine(self, rest: str) -> str:
        return self._look(rest)

    def _open(self, rest: str) -> str:
        self.opened.add(rest)
        return f"You open the {rest}. {self._look(rest)}"

    def _close(self, rest: str) -> str:
        self.opened.discard(rest)
        return f"You close the {rest}."

    def _take(self, rest: str) -> str:
        self.held, place = rest.split(" from ")
        self.layout[place].remove(self.held)
        return f"You pick up the {self.held} from the {place}."

    def _move(self, rest: str) -> str:
        thing, place = rest.split(" to ")
        self.layout[place].append(thing)
        self.held = ""
        return f"You move the {thing} to the {place}."

    def _use(self, rest: str) -> str:
        self.on.add(rest)
        return f"You turn on the {rest}."

    def _clean(self, rest: str) -> str:
        self.states[self.held] = "clean"
        return f"You clean the {rest.replace(' with ', ' using the ')}."

    _heat = _cool = _clean


class Embedder:
    """Vectors by letters: the same words are alike."""

    dimension = 26

    def embed(self, texts):
        counts = np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], np.float32) + 0.01
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


KITCHEN = {
    "countertop 1": ["butterknife 1", "cup 1"],
    "drawer 1": ["spoon 1"],
    "drawer 2": [],
    "cabinet 1": ["mug 2"],
    "sinkbasin 1": [],
    "microwave 1": [],
    "fridge 1": ["apple 1"],
    "sidetable 1": ["mug 1", "desk lamp 1"],
}


def mugs_in_drawers(game: "SmallGame") -> list[int]:
    """Return how many mugs lie in each drawer."""
    return [sum("mug" in one for one in things) for name, things in game.layout.items() if name.startswith("drawer")]
