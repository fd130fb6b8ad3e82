"""Names of things, groups and rooms: which classes the words of a noun may mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from memory_node.catalogue.class_name import spoken
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.names import kind_words, plural, singular
from memory_node.planner.reading.english import words_of

_GENERIC = 2  # a name that so many other classes answer to tells little
_LONG = 5  # letters from which on a name with a wrongly doubled letter is still known


@dataclass(frozen=True)
class Called:
    """The classes that a name may mean. own: it is their first name; also: they answer to it, too, best first."""

    own: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Every class that answers to the name, the likeliest first."""
        return self.own + self.also


class Lexicon:
    """Names of the catalogue's classes and groups, looked up by singular words. rooms: names of rooms."""

    def __init__(self, kinds: ObjectCatalogue, rooms: Iterable[str]) -> None:
        self._names = _index(kinds)
        self._kinds = kinds
        self._rooms = {tuple(room.lower().split()): room.lower() for room in rooms}
        self._plural_names = frozenset(
            name for kind in kinds for name in kind.names if singular(name.split()[-1]) != name.split()[-1]
        )
        self._people: frozenset[str] = frozenset()
        self._strangers = _compounds(kinds, self._names)
        self._pairs = frozenset(
            one for one in kinds.strangers if singular(one) != one and (singular(one),) in self._names
        )
        self._longest: dict[str, int] = {}
        for name in (*self._names, *self._rooms):
            self._longest[name[0]] = max(len(name), self._longest.get(name[0], 0))
        # A name of one word stands before the same letters in two: "cart" before "car t".
        longest_first = sorted(self._names, key=lambda name: -len(name))
        self._by_letters = {_undoubled("".join(name)): name for name in longest_first}

    def learn_classes(self, names: Iterable[str]) -> None:
        """Take classes that memory holds and the label space has not: they are called as they are spelt."""
        for name in names:
            words = tuple(map(singular, spoken(name).split()))
            if name not in self._kinds and words not in self._names:
                self._names[words] = Called((name,))
                self._longest[words[0]] = max(len(words), self._longest.get(words[0], 0))

    def learn_people(self, names: Iterable[str], english: Collection[str]) -> None:
        """Take the persons who are known, by their names of one word; not such as are words of English, too."""
        self._people = frozenset(
            name for name in names if not (name in english or (name,) in self._names or (name,) in self._rooms)
        )

    def is_person(self, word: str) -> bool:
        """Return whether a word is the name of a known person."""
        return word in self._people

    def learn_rooms(self, names: Iterable[str]) -> None:
        """Take rooms by the names that memory has for them, and by those of their kinds: "bedroom" for "bedroom 2"."""
        for name in names:
            kind = " ".join(kind_words(name.lower().split()))
            for said, meant in ((name.lower(), name.lower()), (kind, kind), (f"{kind} room" if kind else "", kind)):
                words = tuple(words_of(said))
                if words and words not in self._rooms:
                    self._rooms |= {known: said for known in self._rooms if "".join(known) == said}  # "laundryroom"
                    self._rooms[words] = meant
                    self._longest[words[0]] = max(len(words), self._longest.get(words[0], 0))

    def name_at(self, words: Sequence[str], at: int) -> tuple[Called, int] | None:
        """Return what the longest name that begins at a word means, and how many words it has."""
        longest = self._longest.get(singular(words[at]), 0)
        for length in range(min(longest, len(words) - at), 0, -1):
            found = self._names.get(tuple(map(singular, words[at : at + length])))
            if found is not None:
                return found, length
        return self._mended(singular(words[at])) if not longest else None

    def best_name(self, class_name: str) -> str:
        """Return what people call a class."""
        return self._kinds[class_name].best_name if class_name in self._kinds else spoken(class_name)

    def stranger_at(self, words: Sequence[str], at: int) -> int:
        """Return how many words a compound has that begins at a word and means no class here; 0 where none does.

        A "dog bowl" is no bowl.
        """
        lengths = (len(name) for name in self._strangers.get(singular(words[at]), ()) if _is_at(name, words, at))
        longest = max(lengths, default=0)
        named = self.name_at(words, at) if longest else None
        return longest if named is None or longest > named[1] else 0

    def is_pair(self, word: str) -> bool:
        """Return whether a plural is also the name of a thing that means no class: "glasses" are no two cups."""
        return word in self._pairs

    def _mended(self, word: str) -> tuple[Called, int] | None:
        """Return what a name means whose letters are doubled wrongly ("letuce"), or whose words are written as one
        ("coffeemug"). Other slips could be other words."""
        name = self._by_letters.get(_undoubled(word)) if len(word) >= _LONG else None
        return (self._names[name], 1) if name else None

    def room_at(self, words: Sequence[str], at: int) -> tuple[str, int] | None:
        """Return the room whose name begins at a word, and how many words it has."""
        for length in range(min(self._longest.get(words[at], 0), len(words) - at), 0, -1):
            room = self._rooms.get(tuple(words[at : at + length]))
            if room is not None:
                return room, length
        room = self._rooms.get((words[at], "room"))
        behind = self.name_at(words, at + 1) if room is not None and at + 1 < len(words) else None
        # "The dining table" is the table in the dining room, where no other is called so.
        return (room, 1) if room is not None and behind is not None and self.is_furniture(behind[0]) else None

    def is_carried(self, called: Called) -> bool:
        """Return whether things of a name can be carried."""
        return any(self._kinds[name].pickupable for name in called.all)

    def is_holder(self, called: Called) -> bool:
        """Return whether things are put into or onto things of a name."""
        return any(self._kinds[name].is_receptacle for name in called.all)

    def is_furniture(self, called: Called | None) -> bool:
        """Return whether a name is that of furniture, which says where a thing is: "the sofa cushion"."""
        return called is not None and self.is_holder(called) and not self.is_carried(called)

    def is_switched(self, called: Called) -> bool:
        """Return whether things of a name are turned on and off."""
        return any(self._kinds[name].can(Property.TOGGLEABLE) for name in called.all)

    def is_plural_name(self, words: str) -> bool:
        """Return whether a name has the form of a plural, but means one thing: "keys", "blinds", "glasses"."""
        own = self._names.get(tuple(map(singular, words.split())), Called()).own
        names = {self._kinds[name].best_name for name in own}
        return words in self._plural_names and words not in {plural(name) for name in names} - names

    def group(self, word: str) -> tuple[str, ...] | None:
        """Return the classes of a group word such as "fruit"; () for "thing", None for other words."""
        return self._kinds.group(singular(word))


def _is_at(name: Sequence[str], words: Sequence[str], at: int) -> bool:
    return tuple(map(singular, words[at : at + len(name)])) == tuple(name)


def _compounds(kinds: ObjectCatalogue, names: Collection[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    """Return the strangers of several words that no class is called, by their first word."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for stranger in kinds.strangers:
        words = tuple(map(singular, stranger.lower().split()))
        if len(words) > 1 and words not in names:
            found.setdefault(words[0], []).append(words)
    return found


def _undoubled(word: str) -> str:
    return "".join(letter for letter, previous in zip(word, " " + word) if letter != previous)


def _index(kinds: ObjectCatalogue) -> dict[tuple[str, ...], Called]:
    own: dict[tuple[str, ...], list[str]] = {}
    also: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    for kind in kinds:
        class_name = kind.name
        if kinds.whole(class_name) != class_name and kind.names == (spoken(class_name),):
            continue  # no label space calls it so: "is the apple sliced?" speaks of the apple
        first = {kind.best_name, class_name.lower()} if kind.names else set()
        for rank, name in enumerate(dict.fromkeys((*kind.names, *first))):
            words = tuple(singular(word) for word in name.lower().replace("'s", " 's").replace("-", " ").split())
            if name in first:
                own.setdefault(words, []).append(class_name)
            else:
                also.setdefault(words, []).append((rank, class_name))
    return {words: _called(kinds, own.get(words, []), sorted(also.get(words, ()))) for words in {*own, *also}}


def _called(kinds: ObjectCatalogue, own: Sequence[str], also: Sequence[tuple[int, str]]) -> Called:
    """Return what a name means. A class that people seldom mean is not the first to be called so beside others."""
    others = [name for _, name in also if name not in own]
    seldom = [name for name in own if len(others) >= _GENERIC and not kinds[name].everyday]
    first = sorted((name for name in own if name not in seldom), key=lambda name: not kinds[name].everyday)
    return Called(tuple(first), tuple(dict.fromkeys((*others, *seldom))))
