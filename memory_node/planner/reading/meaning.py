"""From a noun phrase to the classes that it may mean: by name, by group, or by what was spoken of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.planner.goal import Mention
from memory_node.planner.reading.conversation import Slot, UnclearError
from memory_node.planner.reading.discourse import Discourse
from memory_node.planner.reading.english import INTO
from memory_node.planner.reading.home_classes import HomeClasses, Recall
from memory_node.planner.reading.lexicon import Called
from memory_node.planner.reading.noun_phrase import SOMEBODY, NounPhrase

Fits = Callable[[str], bool]

# Several classes that a name may mean, for a part of the command -> the one that people mostly mean, "" where that is
# open; nobody is asked then.
Prefer = Callable[[Slot, Sequence[str]], str]
_MOST_CHOICES = 4
_TALL_M = 1.0  # what is taller stands on the floor
_GENERIC = 2  # a name that so many other classes answer to is generic: "lamp", "bottle"


class Meaning:
    """Finds what phrases mean. A name means its class, whatever memory holds; memory decides among several.

    similar: a noun that names no class -> classes whose meaning is close to it. prefer: None where somebody is asked.
    notes: what was taken for what, for people.

    Raises (all methods that return a mention):
        UnclearError: the words leave open which thing is meant.
    """

    def __init__(
        self,
        kinds: ObjectCatalogue,
        home: HomeClasses,
        discourse: Discourse,
        recall: Recall,
        similar: Callable[[str], Sequence[str]],
        prefer: Prefer | None = None,
    ) -> None:
        self._kinds = kinds
        self._home = home
        self._discourse = discourse
        self._recall = recall
        self._similar = similar
        self._prefer = prefer
        self.notes: list[str] = []

    @property
    def guesses(self) -> bool:
        """Whether nobody can be asked."""
        return self._prefer is not None

    def mention(self, phrase: NounPhrase, slot: Slot, fits: Fits | None = None, partner: str = "") -> Mention:
        """Return the thing that a phrase means. fits: whether a class can play its part; partner: the other class."""
        if phrase.person:
            return Mention("me", tuple(filter(None, (self._kinds.recipient,))))
        if phrase.in_hand:
            return self._held(phrase, slot)
        if phrase.strange:
            return self._person(phrase) or self._called_in_short(phrase, slot) or self._unknown(phrase, slot)
        if phrase.refers_back:
            return self._spoken_of(phrase, slot, fits)
        if phrase.called is not None:
            return self._remembered(phrase, slot) or self._named(phrase, slot, fits, partner)
        if phrase.group:
            return self._of_group(phrase, slot, phrase.group, fits)
        if phrase.room:
            raise UnclearError(f"What in the {phrase.room} do you mean?", slot=slot)
        raise UnclearError(f"Which thing do you mean by {phrase.text!r}?", slot=slot)

    def _person(self, phrase: NounPhrase) -> Mention | None:
        """Return who is called so, or was spoken of; None where the words leave it open."""
        called = self._discourse.person(phrase.text) if phrase.text in SOMEBODY else phrase.text
        return self._home.people.get(called)

    def _called_in_short(self, phrase: NounPhrase, slot: Slot) -> Mention | None:
        """Return the only kind of furniture of the home whose name ends in a word that names nothing else: where a
        thing goes, "the hanger" is the toilet paper hanger."""
        if phrase.text != f"the {phrase.head}" or slot is not Slot.DESTINATION:
            return None
        names = (name for name in sorted(self._home.fixtures) if name in self._kinds)
        here = [one for one in names if any(called.endswith(f" {phrase.head}") for called in self._kinds[one].names)]
        return self._made(phrase, here) if len(here) == 1 else None

    def _remembered(self, phrase: NounPhrase, slot: Slot) -> Mention | None:
        """Return the thing that is told apart by what the robot did with it before this instruction; None where nothing
        is told so."""
        names, spoken = phrase.called.all if phrase.called is not None else (), self._discourse
        if phrase.handled not in ("you", "again") or self.guesses or spoken.asked_for(names):
            return None
        found = None if phrase.plural or phrase.every else self._home.remembered(phrase.text)
        if found is not None and (found.thing_id or phrase.handled == "again"):
            return found if found.thing_id else None
        if phrase.handled == "you" and sum(map(self._home.number_of, names)) > 1:
            raise UnclearError(f"I cannot tell which of them is meant: {phrase.text!r}. Which one?", slot=slot)
        return None

    def check_described(self, phrase: NounPhrase, meant: Mention, slot: Slot) -> None:
        """Ask which of several is "the red mug", where nothing told of them says it; take the only one, and say so."""
        is_told = phrase.described and not (phrase.indefinite or phrase.every)
        if not is_told or self.guesses or not meant.candidates or meant.thing_id:
            return
        name = self._kinds[meant.object_class].best_name
        places = [place.called.all for _, place in phrase.places if place.called is not None]
        number = self._home.number_of(meant.object_class, *places)
        if number > 1:
            asked = f"I know of {number} of the kind {name}, and not which is {phrase.text!r}. Which one?"
            raise UnclearError(asked, slot=slot)
        if number:
            self.notes.append(f"I know of one {name} only, so I take that for {phrase.text!r}.")

    def recalls(self, phrase: NounPhrase, object_class: str) -> bool:
        """Return whether memory recalls a thing of the class in the states that a phrase claims."""
        return object_class in self._recall(phrase.text, phrase.states)

    def is_generic(self, called: Called) -> bool:
        """Return whether many kinds answer to a name: "all the lamps"."""
        own = called.own
        many = len(called.also) >= (_GENERIC if own else 2)  # "the tissues" are of one kind, the box of them
        return many and not any(self._kinds[name].everyday for name in own)

    def _made(self, phrase: NounPhrase, names: Iterable[str], guessed: bool = False) -> Mention:
        states = tuple(dict.fromkeys(phrase.states))
        return Mention(phrase.text, tuple(names), states, another=phrase.other, guessed=guessed)

    def _named(self, phrase: NounPhrase, slot: Slot, fits: Fits | None, partner: str) -> Mention:
        """Return what a name means: the class that is first called so, else one that words or memory tell."""
        own, also = self._able(phrase.called or Called(), fits)
        if own and (self._kinds[own[0]].everyday or len(also) < _GENERIC):
            there = [] if self._kinds[own[0]].pickupable else self._standing_there(phrase, also)
            return self._made(phrase, there) if there else self._first_called_so(phrase, (own[0], *also))
        return self._one_of_several(phrase, slot, own, also, partner)

    def _able(self, called: Called, fits: Fits | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the classes first called so, everyday ones and those that hold things first, and the others: those
        that can play the part; where none can, all."""
        own, also = _fitting(called.own, fits), _fitting(called.also, fits)
        if not own and not also:
            own, also = called.own, called.also
        return tuple(sorted(own, key=lambda name: (not self._kinds[name].everyday, not self._holds(name)))), also

    def _first_called_so(self, phrase: NounPhrase, names: Sequence[str]) -> Mention:
        """Return the class that is first called so. Other furniture that answers to the name, and anything where
        nobody can be asked, takes its part only where a search finds none of it."""
        own, *others = names
        carried = any(self._kinds[name].pickupable for name in names)
        if self.guesses and own not in self._home.all:
            known = [name for name in others if name in self._home.all]
            if known and not carried:
                return self._made(phrase, _first(known[:1], names))
        return replace(self._made(phrase, [own]), stand_ins=tuple(others) if self.guesses or not carried else ())

    def _one_of_several(
        self, phrase: NounPhrase, slot: Slot, own: tuple[str, ...], also: tuple[str, ...], partner: str
    ) -> Mention:
        """Return what a name means that several classes answer to: "lamp", "bottle"."""
        told = self._standing_there(phrase, also + own)
        told = told or [name for name in self._discourse.classes if phrase.definite and name in own + also]
        if told:
            return self._made(phrase, _first(told[:1], own + also))
        known = [name for name in also + own if name in self._home.all]
        meant = _called_after(partner, also + own, known or also) or (known if len(known) == 1 else [])
        if meant:
            return self._made(phrase, _first(meant, also + own))
        if own and not known:
            return self._made(phrase, own + also)
        if len({self._kinds[name].best_name for name in also}) == 1:
            return self._made(phrase, sorted(also, key=lambda name: not self._holds(name)))
        if self._prefer is not None:
            among = known or also
            preferred = self._prefer(slot, among) or among[0]
            return self._made(phrase, _first([preferred], _first(among, also + own)))
        if phrase.indefinite and known:  # any will do: of tables those that are called so in full before a desk
            in_full = [name for name in known if self._kinds[name].best_name.endswith(f" {phrase.head}")]
            return self._made(phrase, in_full or known)
        raise self._which(phrase, known or also, slot)

    def _standing_there(self, phrase: NounPhrase, names: Sequence[str]) -> list[str]:
        """Return the classes that are called by where they stand: "the lamp on the desk" is a desk lamp."""
        compounds = {f"{place.head} {phrase.head}" for _, place in phrase.places if place.head}
        called_so = [name for name in names if self._kinds[name].best_name in compounds]
        return called_so or (self._low_ones(names) if self._is_on_furniture(phrase) else [])

    def _is_on_furniture(self, phrase: NounPhrase) -> bool:
        places = (place.called.all[0] for sense, place in phrase.places if sense == INTO and place.called is not None)
        return any(self._kinds[name].is_receptacle for name in places)

    def _low_ones(self, names: Sequence[str]) -> list[str]:
        """Return the classes that can stand on furniture, where others are too tall: not the floor lamp."""
        sizes = {name: self._kinds[name].size_m for name in names}
        low = [name for name, size in sizes.items() if size is None or size[2] < _TALL_M]
        return low if len(low) < len(names) else []

    def _holds(self, name: str) -> bool:
        return self._kinds[name].is_receptacle

    def _of_group(self, phrase: NounPhrase, slot: Slot, group: Sequence[str], fits: Fits | None) -> Mention:
        """Return one of a group: any would do ("a piece of fruit"), or the one that was spoken of."""
        members = _fitting(tuple(group), fits) or tuple(group)
        spoken = [name for name in self._discourse.classes if name in members and phrase.definite]
        if spoken:
            return self._made(phrase, spoken[:1])
        known = [name for name in members if name in self._home.all]
        told = phrase.attributes or phrase.states or phrase.places
        if phrase.definite and not told and not self.guesses and len(known or members) > 1:
            raise self._which(phrase, known or members, slot)
        return self._made(phrase, _first(known, members))

    def _spoken_of(self, phrase: NounPhrase, slot: Slot, fits: Fits | None) -> Mention:
        """Return what a pronoun means: what was spoken of last and fits, or what the hand holds."""
        if self._discourse.unknown and phrase.pronoun in ("it", "them") and not phrase.states:
            return self._unknown(NounPhrase(self._discourse.unknown), slot)
        focus = self._focus(phrase)
        candidates = [name for name in (focus, *self._discourse.classes) if name] if focus else []
        fitting = _fitting(tuple(candidates), fits) or tuple(candidates[:1])
        if not fitting and slot is Slot.TARGET and self._home.held and phrase.pronoun in ("it", "this", "that"):
            fitting = (self._home.held,)
        is_open = self._discourse.is_open and not (phrase.plural or phrase.other)
        if not fitting or (is_open and self._kinds[fitting[0]].pickupable):
            raise UnclearError(f"What do you mean by {phrase.text!r}?", slot=slot)
        name, spoken = fitting[0], self._discourse
        if phrase.other and spoken.one_of == name:
            words = self._kinds[name].best_name
            raise UnclearError(f"I cannot tell which {words} is {phrase.text!r}. Where is it?", slot=slot)
        if phrase.text.startswith("one of ") and spoken.count_of(name) > 1:
            spoken.one_of = name
        off = () if phrase.other else spoken.off.get(name, ())
        guessed = name in spoken.guessed
        made = Mention(phrase.text, (name,), tuple(phrase.states), another=phrase.other, referring=True, off=off)
        return replace(made, guessed=guessed)

    def _focus(self, phrase: NounPhrase) -> str:
        """Return the class that a pronoun means where nothing speaks against it, "" where nothing was spoken of."""
        spoken = self._discourse
        focus = spoken.last_sliced() if phrase.pieces else spoken.other() if phrase.other else spoken.focus
        if not phrase.states or phrase.pronoun != "one":
            return focus
        claimed = [name for name in spoken.classes if set(phrase.states) & spoken.states_of(name)]  # "the clean one"
        told = claimed or self._recall(phrase.text, phrase.states)
        return next(iter(told), "" if phrase.handled else focus)

    def _held(self, phrase: NounPhrase, slot: Slot) -> Mention:
        if not self._home.held:
            raise UnclearError("My hand is empty, as far as I know. What do you mean?", slot=slot)
        return Mention(phrase.text, (self._home.held,), referring=True)

    def _unknown(self, phrase: NounPhrase, slot: Slot) -> Mention:
        """Ask about a noun that names nothing in the label space; something close in meaning is only suggested."""
        if phrase.text in SOMEBODY:
            raise UnclearError(f"Whom do you mean by {phrase.text!r}?", slot=slot)
        is_name = phrase.end and not phrase.head
        if slot is Slot.DESTINATION and (is_name or phrase.owner == "my"):
            who = phrase.text.capitalize() if is_name else phrase.text.replace("my ", "your ", 1)
            raise UnclearError(f"I do not know who or where {who} is. Where shall I bring it?", slot=slot)
        close = [name for name in self._similar(phrase.text) if name != self._kinds.recipient][:_MOST_CHOICES]
        words = [self._kinds[name].best_name for name in close]
        asked = f" Do you mean the {_or(words)}?" if words else " What else is it called?"
        raise UnclearError(f"I do not know what {phrase.text!r} is.{asked}", tuple(words), slot)

    def _which(self, phrase: NounPhrase, names: Sequence[str], slot: Slot) -> UnclearError:
        words = tuple(self._kinds[name].best_name for name in names[:_MOST_CHOICES])
        return UnclearError(f"Which one is {phrase.text!r}: the {_or(words)}?", words, slot)

    def lamp(self, phrase: NounPhrase | None) -> Mention:
        """Return the lamp to look at something with; by default one that is known before others."""
        lamps = self._kinds.reading_lights
        if phrase is None:
            known = tuple(name for name in lamps if name in self._home.all)
            return Mention("the lamp", _first(known, lamps), referring=True)
        return self.mention(phrase, Slot.LIGHT, lambda name: name in lamps)

    def tap(self, phrase: NounPhrase) -> Mention:
        """Return what "the water" is turned on and off with: the one that a place names, or the tap."""
        places = [name for _, place in phrase.places if place.called for name in place.called.all]
        taps = self._kinds.able(Property.WATERS)
        return Mention(phrase.text, tuple(sorted(taps, key=lambda name: name not in places)))


def _fitting(names: tuple[str, ...], fits: Fits | None) -> tuple[str, ...]:
    return tuple(name for name in names if fits is None or fits(name))


def _called_after(partner: str, names: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the classes that are called after the thing that they are for: for a towel the towel holder."""
    if not partner:
        return []
    matching = [name for name in names if name.startswith(partner)] or [name for name in others if partner in name]
    return sorted(matching, key=len)


def _first(names: Iterable[str], among: Iterable[str]) -> tuple[str, ...]:
    """Return the names, then the others among which they are."""
    return tuple(dict.fromkeys((*names, *among)))


def _or(words: Sequence[str]) -> str:
    return " or the ".join(words)
