"""The things that words of told facts name, by the catalogue."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.nouns import singular
from memory_node.knowledge.text.words import plain_words

_LONGEST_NAME = 3  # words
# What follows a name that begins a statement.
_VERB = re.compile(
    r"in|from|at|with|and|or|also|is|are|was|were|has|have|had|got|did|cannot|can|must|may|should|will|would|never|"
    r"always|only|\w+[a-z]s|\w+ed|left|lost|took|went|came|broke|said|bought|gave|made|forgot",
    re.I,
)


class ClassWords:
    """The classes that words name, also by a group ("fruit"). kinds: None knows no class."""

    def __init__(self, kinds: ObjectCatalogue | None) -> None:
        self._kinds = kinds

    @property
    def known(self) -> bool:
        """Whether any class is known."""
        return self._kinds is not None

    def classes(self, text: str) -> frozenset[str]:
        """Return every class of things that a text names."""
        return frozenset(name for _, _, classes in self.named(plain_words(text)) for name in classes)

    def named(self, words: Sequence[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Yield [begin, end) of each name of a class of things in a row of plain words, with the classes."""
        at = 0
        while self._kinds is not None and at < len(words):
            # "Glass bottle" is no bottle of wine: the longest name counts.
            lengths = range(min(_LONGEST_NAME, len(words) - at), 0, -1)
            named = ((length, self._called(words[at : at + length])) for length in lengths)
            length, classes = next((one for one in named if one[1]), (1, ()))
            if classes:
                yield at, at + length, classes
            at += length

    def _called(self, words: Sequence[str]) -> tuple[str, ...]:
        assert self._kinds is not None
        group = self._kinds.group(singular(words[0])) if len(words) == 1 else ()
        found = self._kinds.spoken_names.answering(" ".join(words))[:1] + (group or ())
        # "Me" and "people" name no thing.
        return tuple(name for name in found if name != self._kinds.recipient)

    def also_called(self, text: str) -> tuple[str, ...]:
        """Return the other names and the groups of the classes that a text names."""
        if self._kinds is None:
            return ()
        classes = self.classes(text)
        names = (name for one in sorted(classes) for name in self._kinds[one].names)
        groups = (group for group, members in self._kinds.groups.items() if classes.intersection(members))
        return tuple(dict.fromkeys((*names, *groups)))

    def can_be(self, thing: str, adjective: str) -> bool:
        """Return whether a thing can be made "warm", "cold", "sliced" or "clean"; what is of no known class, may."""
        if self._kinds is None:
            return True
        needed = {"warm": Property.HEATABLE, "cold": Property.COOLABLE}.get(adjective)
        kinds = [self._kinds[name] for name in self.classes(thing)]
        if adjective == "sliced":
            return not kinds or any(kind.slices for kind in kinds)
        return not kinds or needed is None or any(kind.can(needed) for kind in kinds)

    def carried(self, classes: Collection[str]) -> bool:
        """Return whether one of these classes can be carried."""
        return self._kinds is not None and any(self._kinds[name].pickupable for name in classes)

    def holds(self, classes: Collection[str]) -> bool:
        """Return whether things are put on or into one of these classes."""
        return self._kinds is not None and any(self._kinds[name].holds for name in classes)

    def edible(self, classes: Collection[str]) -> bool:
        """Return whether one of these classes is eaten."""
        return self._kinds is not None and any(self._kinds[name].can(Property.EDIBLE) for name in classes)

    def only_begins(self, word: str, statement: str) -> bool:
        """Return whether a capitalised word only begins a statement: it is no name that a verb or "'s" follows."""
        if not statement.lower().startswith(word):
            return False
        behind = re.match(rf"{re.escape(word)}(['’]s)? (?:\w+ly )?(?P<next>[\w-]+)", statement, re.I)
        return behind is None or bool(self.classes(behind["next"])) or not _VERB.fullmatch(behind["next"])
