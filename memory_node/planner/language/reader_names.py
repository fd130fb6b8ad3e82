"""Lets the trained readers, which learnt AI2-THOR's classes, speak of the classes of any label space."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.sequence_reader import UNKNOWN, Effect, SequenceReading
from memory_node.planner.language.single_goal_reader import Prediction
from memory_node.planner.language.surroundings import HomeClasses

Hidden = NDArray[np.float32]


class GoalReader(Protocol):
    """Reads one sentence as one goal; see GoalModel."""

    def predict(
        self,
        sentence: str,
        home: HomeClasses,
        complete: bool = False,
        without: Collection[GoalKind] = (),
        licensed: Collection[str] | None = None,
    ) -> Prediction:
        """Return the likeliest goal, with classes in `licensed` only."""

    def preference(self, sentence: str, home: HomeClasses, slot: str, among: Collection[str]) -> dict[str, float]:
        """Return how probable each of some classes is in a slot, given that it is one."""

    def named(self, phrase: str, home: HomeClasses) -> tuple[str, ...]:
        """Return the classes of the home that a description may mean."""

    def fits(self, sentence: str) -> bool:
        """Return whether the sentence is read to its end."""

    def hidden(self, sentence: str, home: HomeClasses) -> Hidden:
        """Return what the reader of sequences reads on from."""


class SequenceReader(Protocol):
    """Reads any instruction as what it brings about; see GoalSequenceModel."""

    @property
    def strange(self) -> frozenset[str]:
        """The classes that it has met in no home."""

    @property
    def classes(self) -> frozenset[str]:
        """The classes that it can write."""

    def read(self, hidden: Hidden, home: HomeClasses, licensed: Collection[str] | None = None) -> SequenceReading:
        """Return the likeliest effects, with classes in `licensed` only."""

    def score(self, hidden: Hidden, home: HomeClasses, effects: Sequence[Effect]) -> float:
        """Return the log-probability of effects."""


class ReaderNames:
    """The classes of a label space by those of a reader, and the other way round.

    A class of the reader is the class of that name, or the one that stands for it; one without either is not known.
    """

    def __init__(self, kinds: ObjectCatalogue, vocabulary: Iterable[str]) -> None:
        self._vocabulary = tuple(vocabulary)
        self._here: dict[str, str] = {}
        self._there: dict[str, list[str]] = {}
        for theirs in self._vocabulary:
            same = kinds.get(theirs)
            ours = same.name if same else next((kind.name for kind in kinds if theirs in kind.stands_for), "")
            if theirs and ours:
                self._here[theirs] = ours
                self._there.setdefault(ours, []).append(theirs)

    @property
    def are_equal(self) -> bool:
        """Whether the label space has every class of the reader under the reader's name."""
        return all(self._here.get(name) == name for name in self._vocabulary)

    def home(self, home: HomeClasses) -> HomeClasses:
        """Return a home in the reader's classes."""
        return HomeClasses(self.known(home.objects), self.known(home.fixtures))

    def here(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the reader's classes as those of the label space, each once."""
        return tuple(dict.fromkeys(self._here[name] for name in names if name in self._here))

    def there(self, name: str) -> str:
        """Return a class as the reader calls it; one that it does not know stays as it is."""
        return self._there.get(name, [name])[0]

    def goal(self, goal: Goal) -> Goal:
        """Return a reader's goal in the classes of the label space; a thing that has none there has no candidates."""
        others = {name: getattr(goal, name) for name in ("destination", "container", "light")}
        named = {name: self._mention(one) for name, one in others.items() if one is not None}
        return goal.changed(target=self._mention(goal.target), **named)

    def _mention(self, mention: Mention) -> Mention:
        # What is most likely meant must have a name here: what comes next is another thing.
        known = mention.object_class in self._here
        return replace(mention, candidates=self.here(mention.candidates) if known else ())

    def known(self, names: Iterable[str]) -> frozenset[str]:
        """Return the reader's classes that some of the label space stand for."""
        return frozenset(theirs for name in names for theirs in self._there.get(name, ()))


@dataclass(frozen=True)
class NamedGoalReader:
    """A reader of goals in the classes of a label space."""

    reader: GoalReader
    names: ReaderNames

    def predict(
        self,
        sentence: str,
        home: HomeClasses,
        complete: bool = False,
        without: Collection[GoalKind] = (),
        licensed: Collection[str] | None = None,
    ) -> Prediction:
        """Return the likeliest goal, with classes in `licensed` only."""
        theirs = None if licensed is None else self.names.known(licensed)
        prediction = self.reader.predict(sentence, self.names.home(home), complete, without, theirs)
        return replace(prediction, goal=self.names.goal(prediction.goal))

    def preference(self, sentence: str, home: HomeClasses, slot: str, among: Collection[str]) -> dict[str, float]:
        """Return how probable each of some classes is in a slot, given that it is one."""
        theirs = {self.names.there(name): name for name in among}
        shares = self.reader.preference(sentence, self.names.home(home), slot, list(theirs))
        return {theirs[name]: share for name, share in shares.items()}

    def named(self, phrase: str, home: HomeClasses) -> tuple[str, ...]:
        """Return the classes of the home that a description may mean."""
        return self.names.here(self.reader.named(phrase, self.names.home(home)))

    def fits(self, sentence: str) -> bool:
        """Return whether the sentence is read to its end."""
        return self.reader.fits(sentence)

    def hidden(self, sentence: str, home: HomeClasses) -> Hidden:
        """Return what the reader of sequences reads on from."""
        return self.reader.hidden(sentence, self.names.home(home))


@dataclass(frozen=True)
class NamedSequenceReader:
    """A reader of sequences in the classes of a label space."""

    reader: SequenceReader
    names: ReaderNames

    @property
    def strange(self) -> frozenset[str]:
        """The classes that it has met in no home, under none of the names that they have there."""
        return frozenset(self.names.here(self.reader.strange)) - frozenset(
            self.names.here(self.reader.classes - self.reader.strange)
        )

    @property
    def classes(self) -> frozenset[str]:
        """The classes that it can write."""
        return frozenset(self.names.here(self.reader.classes))

    def read(self, hidden: Hidden, home: HomeClasses, licensed: Collection[str] | None = None) -> SequenceReading:
        """Return the likeliest effects; a class that the label space lacks is an unknown one."""
        theirs = None if licensed is None else self.names.known(licensed)
        reading = self.reader.read(hidden, self.names.home(home), theirs)
        effects = tuple((verb, *(self._here(name) for name in classes)) for verb, *classes in reading.effects)
        return replace(reading, effects=effects)

    def score(self, hidden: Hidden, home: HomeClasses, effects: Sequence[Effect]) -> float:
        """Return the log-probability of effects."""
        theirs = [(verb, *(self.names.there(name) for name in classes)) for verb, *classes in effects]
        return self.reader.score(hidden, self.names.home(home), theirs)

    def _here(self, name: str) -> str:
        return next(iter(self.names.here([name])), UNKNOWN)
