"""The one source of what kinds of things there are, what people call them and what can be done with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from memory_node.catalogue.class_name import folded, spoken
from memory_node.catalogue.object_kind import ObjectKind, Property, Treatment
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.names import singular
from memory_node.domain.skill_declaration import Appliance
from memory_node.domain.skill_library import SKILLS, GoalKind

_ARTICLES = frozenset(("a", "an", "the", "some", "my", "your"))
_SKILLS_IN_WORDS = frozenset(spoken(name).lower() for name in SKILLS)
_RARE = 100  # rank of the names of classes that people seldom mean


class SpokenNames:
    """Names and synonyms of kinds; a class for which a name is its first comes before one that also answers to it."""

    def __init__(self, kinds: Iterable[ObjectKind]) -> None:
        ranked: dict[str, list[tuple[int, str]]] = {}
        for kind in sorted(kinds, key=lambda kind: kind.name):
            called = (*kind.names, kind.name.lower()) if kind.names else ()
            for rank, name in enumerate(called):
                ranked.setdefault(_plain(name), []).append((rank if kind.everyday else _RARE, kind.name))
        self._ranked = {name: sorted(entries) for name, entries in ranked.items()}
        self._spelt: dict[str, list[tuple[int, str]]] = {}
        for name, entries in self._ranked.items():
            self._spelt[folded(name)] = sorted({*self._spelt.get(folded(name), ()), *entries})
        self._longest = max((len(name.split()) for name in self._ranked), default=0)

    def classes(self, phrase: str) -> tuple[str, ...]:
        """Return the classes that a phrase may mean, best first; its longest and last name decides."""
        words = _plain(phrase).split()
        for length in range(min(self._longest, len(words)), 0, -1):
            for start in range(len(words) - length, -1, -1):
                found = self._ranked.get(" ".join(words[start : start + length]))
                if found:
                    return tuple(dict.fromkeys(name for _, name in found))
        return ()

    def named_in(self, text: str) -> list[tuple[str, ...]]:
        """Return the classes that each name in a text may mean, best first; the names in the order of their last words.
        A name within a longer one names nothing: no butter in a "butter knife"."""
        words = [_plain(word.lower()) for word in _written(text)]
        names = (" ".join(words[start:end]) for start, end in self._spans(words))
        return [tuple(dict.fromkeys(found for _, found in self._ranked[name])) for name in names]

    def without_names(self, text: str, instead: str) -> str:
        """Return a text with a word in the place of each name and of the articles before it; of its punctuation the
        commas stay."""
        words, kept, last = _written(text), [], 0
        for start, end in self._spans([_plain(word.lower()) for word in words]):
            before = words[last : max(start, last)]
            while before and before[-1].lower() in _ARTICLES:
                before.pop()
            kept += [*before, instead]
            last = end
        return " ".join((*kept, *words[last:])).replace(" ,", ",")

    def _spans(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Return where names are, (begin, end) in words, in the order of their last words; none within another, and no
        word that says a skill: "switch on" names no switch, and "the switch on" does."""
        spans = [
            (start, start + length)
            for start in range(len(words))
            for length in range(1, min(self._longest, len(words) - start) + 1)
            if " ".join(words[start : start + length]) in self._ranked
            and (words[max(start - 1, 0)] in _ARTICLES or " ".join(words[start : start + 2]) not in _SKILLS_IN_WORDS)
        ]
        whole = [one for one in spans if not any(_is_within(one, other) for other in spans)]
        return sorted(whole, key=lambda span: span[1])

    def only_class(self, label: str) -> str:
        """Return the class that a whole name means before all others, however that is spelt; "" where none does, or two
        do alike."""
        found = self._entries(label)
        if not found or (len(found) > 1 and found[0][0] == found[1][0] and found[0][1] != found[1][1]):
            return ""
        return found[0][1]

    def answering(self, label: str) -> tuple[str, ...]:
        """Return the classes that answer to a whole name, best first, however that is spelt."""
        return tuple(dict.fromkeys(name for _, name in self._entries(label)))

    def _entries(self, label: str) -> list[tuple[int, str]]:
        return self._spelt.get(folded(label)) or self._spelt.get(folded(_plain(spoken(label))), [])


def _written(text: str) -> list[str]:
    """Return the words of a text as they are written, without the punctuation around them; a comma is one."""
    return [word.strip(".!?;:\"'") for word in text.replace(",", " , ").split()]


def _is_within(span: tuple[int, int], other: tuple[int, int]) -> bool:
    return span != other and other[0] <= span[0] and span[1] <= other[1]


@lru_cache(maxsize=4096)  # each frame asks of what a detector sees
def _plain(name: str) -> str:
    return " ".join(singular(word) for word in name.replace("'s", "").split())


ANYTHING = "anything"  # the entry of `hiding_places` for what none of the others covers


@dataclass(frozen=True, eq=False)
class ObjectCatalogue:
    """The kinds of a label space, with what is known of several of them; docs/label_spaces.md describes the file.

    A class is found however it is spelt. One that the label space does not declare is taken for something with the
    properties of `unknown`: by default a hand can take it, and nothing else can be done with it.

    groups: words for several classes ("fruit"). diets: what people are called who must not have some classes.
    ingredients: see counted_as(). plant_based: words that make dairy something else ("oat milk"). alike_sets: rows of
    classes that can stand in for one another, the likest side by side. treatments: what verbs ask for; the first of a
    skill is meant when the words say no more. recipient: the class of those whom things are handed to. bins: where what
    is thrown away goes. reading_lights: what a thing is looked at under. put_down_places: where what is only in the way
    may be put, the handiest first. hides: what may hide a thing, with a prior, for things with a property or for
    ANYTHING. rooms: kinds of rooms with phrases that describe them. phrases: what people say of several classes, with
    the classes. strangers: what people ask for that is no class here, and its purposes.
    """

    name: str
    kinds: tuple[ObjectKind, ...]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    diets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ingredients: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    plant_based: tuple[str, ...] = ()
    alike_sets: tuple[tuple[str, ...], ...] = ()
    treatments: tuple[Treatment, ...] = ()
    recipient: str = ""
    bins: tuple[str, ...] = ()
    reading_lights: tuple[str, ...] = ()
    put_down_places: tuple[str, ...] = ()
    hides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    rooms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    phrases: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    strangers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset({Property.PICKUPABLE})

    def __post_init__(self) -> None:
        spelt: dict[str, str] = {}
        for kind in self.kinds:
            other = spelt.setdefault(folded(kind.name), kind.name)
            if other != kind.name:
                raise InvalidValueError(f"{self.name}: {kind.name!r} and {other!r} are two spellings of one class")

    # --- finding a kind

    def __iter__(self) -> Iterator[ObjectKind]:
        return iter(self.kinds)

    def __len__(self) -> int:
        return len(self.kinds)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and folded(name) in self._by_spelling

    def __getitem__(self, name: str) -> ObjectKind:
        return self.find(name) or ObjectKind.unknown(name, self.unknown)

    def get(self, name: str) -> ObjectKind | None:
        """Return the class of a name, however it is spelt; None when the label space has none."""
        return self._by_spelling.get(folded(name))

    def find(self, label: str) -> ObjectKind | None:
        """Return the class of a name, or else the only one that people call so, as other detectors do ("couch")."""
        return self.get(label) or self._by_spelling.get(folded(self.spoken_names.only_class(label)))

    @property
    def names(self) -> tuple[str, ...]:
        """Every class, sorted."""
        return tuple(sorted(kind.name for kind in self.kinds))

    def able(self, *wanted: str) -> tuple[str, ...]:
        """Return the classes that have all of some properties, in the order of the file."""
        return tuple(kind.name for kind in self.kinds if all(kind.can(one) for one in wanted))

    @cached_property
    def spoken_names(self) -> SpokenNames:
        """What people call the kinds."""
        return SpokenNames(self.kinds)

    @cached_property
    def _by_spelling(self) -> Mapping[str, ObjectKind]:
        return {folded(kind.name): kind for kind in self.kinds}

    # --- kinds that belong together

    def whole(self, name: str) -> str:
        """Return the class that pieces of class `name` were cut from; a whole is its own."""
        return self._wholes.get(name, name)

    @cached_property
    def _wholes(self) -> Mapping[str, str]:
        return {kind.slices: kind.name for kind in reversed(self.kinds) if kind.slices}

    def alike(self, names: Iterable[str]) -> frozenset[str]:
        """Return the classes that can stand in for some others where those are not to be had."""
        wanted = set(names)
        return frozenset(other for group in self.alike_sets if wanted & {*group} for other in group) - wanted

    def alike_first(self, name: str) -> tuple[str, ...]:
        """Return the classes that can stand in for one, the nearest first: those beside it in a row."""
        rows = [row for row in self.alike_sets if name in row]
        steps = {other: abs(row.index(other) - row.index(name)) for row in reversed(rows) for other in row}
        return tuple(sorted(steps.keys() - {name}, key=lambda other: (steps[other], other)))

    def group(self, word: str) -> tuple[str, ...] | None:
        """Return the classes of a group word such as "fruit", () for "thing"; None for other words."""
        return self.groups.get(word)

    def counted_as(self, food: str) -> frozenset[str]:
        """Return what somebody must not have who must not have a kind of food, or has a diet, of this name: itself and
        what counts as it, each in the singular; "walnut" for "nuts"."""
        wanted = food.lower().strip()
        first = next(
            (one for one in (wanted, singular(wanted), singular(wanted.split(" ")[-1])) if one in self.ingredients), ""
        )
        found = dict.fromkeys((singular(wanted), first or singular(wanted)))
        waiting = list(found)
        while waiting:
            new = [one for one in self.ingredients.get(waiting.pop(), ()) if one not in found]
            found.update(dict.fromkeys(new))
            waiting += new
        return frozenset(found)

    def names_food(self, words: str, food: str) -> bool:
        """Return whether words name a food, or what counts as it: "chopped walnuts" a nut; almond milk is no milk."""
        said = self._of_plants.sub(r" \1 ", f" {' '.join(map(singular, words.lower().split()))} ")
        return any(f" {one} " in said for one in self.counted_as(food))

    @cached_property
    def _of_plants(self) -> re.Pattern[str]:
        first, dairy = ("|".join(map(re.escape, one)) for one in (self.plant_based, self.counted_as("dairy")))
        return re.compile(rf" ({first}) (?:{dairy}) ") if first else re.compile(r"(?!)")

    def with_wholes(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return classes with the ones that they are part of, each behind its part: a basin and its sink."""
        both = (one for name in names for one in (name, self[name].part_of) if one)
        return tuple(dict.fromkeys(both))

    # --- what verbs need

    def treatment(self, name: str) -> Treatment | None:
        """Return the treatment of a name such as "toast"."""
        return next((one for one in self.treatments if one.name == name), None)

    def treatments_of(self, goal: GoalKind) -> tuple[Treatment, ...]:
        """Return the ways to fulfil a kind of goal, the one that is meant when the words say no more first."""
        return tuple(one for one in self.treatments if one.goal is goal)

    def is_vessel(self, name: str) -> bool:
        """Return whether things of a class are treated in it: eggs are boiled in a pot."""
        return any(name in one.vessels for one in self.treatments)

    def is_kettle(self, name: str) -> bool:
        """Return whether a vessel has a lid: such a one may be switched on by itself."""
        return self.is_vessel(name) and self[name].can(Property.OPENABLE)

    def usual_treatment(self, goal: GoalKind) -> Treatment | None:
        """Return what is done for a kind of goal when the words say no more; None: these kinds allow nothing."""
        return next(iter(self.treatments_of(goal)), None)

    def meant_treatment(self, goal: GoalKind, name: str) -> Treatment | None:
        """Return the treatment of a name where it fulfils that kind of goal, else the usual one."""
        said = self.treatment(name)
        return said if said is not None and said.goal is goal else self.usual_treatment(goal)

    def appliance(self, name: str, reference: str = "") -> Appliance:
        """Return what the steps of a composite depend on at a thing of a class; reference: how calls name the thing."""
        kind, reference = self[name], reference or name
        switch = reference if kind.switched_by == kind.name else kind.switched_by
        return Appliance(reference, kind.can(Property.OPENABLE) and kind.holds_inside, switch)

    def needs_of_skills(self) -> Mapping[str, tuple[str, ...]]:
        """Return by skill the classes of the places where it is done and of the tools that it needs."""
        needs: dict[str, dict[str, None]] = {}
        for one in self.treatments:
            needs.setdefault(one.skill, {}).update(dict.fromkeys((*one.at, *one.tools)))
        return {skill: tuple(names) for skill, names in needs.items()}

    def serves(self, name: str, skill: str) -> bool:
        """Return whether a skill can be done at things of a class."""
        return any(self[name].name in one.at for one in self.treatments if one.skill == skill)

    def hiding_places(self, name: str) -> tuple[str, ...]:
        """Return the classes that may hide a thing of a class while they are closed, the likeliest first."""
        priors = self.hiding_shares(name)
        return tuple(sorted(priors, key=lambda place: -priors[place]))

    def hiding_shares(self, name: str) -> Mapping[str, float]:
        """Return the probability of each class that may hide a thing of a class while it is closed."""
        kind = self[name]
        priors = next((self.hides[one] for one in self.hides if one != ANYTHING and kind.can(one)), None)
        return self.hides.get(ANYTHING, {}) if priors is None else priors
