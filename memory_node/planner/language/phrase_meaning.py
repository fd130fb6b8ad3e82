"""From a noun phrase to the classes that it may mean: by name, by group, by what was spoken of, or by description."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.planner.goal import Mention
from memory_node.planner.language.asking_back import Question, Slot, UnclearError
from memory_node.planner.language.discourse import Discourse
from memory_node.planner.language.english import INTO
from memory_node.planner.language.lexicon import Called
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.surroundings import HomeClasses, Recall

Fits = Callable[[str], bool]
# They stand behind what a thing is for: "something to write with".
_STRANDED = frozenset(["with", "on", "in", "into", "from", "at", "under", "off"])

# A description such as "something to write with" -> the classes that it may mean, likeliest first.
Describe = Callable[[str], Sequence[str]]
# A noun that names no class -> the classes whose meaning is close to it, closest first.
Similar = Callable[[str], Sequence[str]]
# Several classes that a name may mean, for a part of the command, whether to be almost sure -> the one that is
# meant, "" where that is open.
Prefer = Callable[[Slot, Sequence[str], bool], str]
# A phrase, classes -> those of them that are used where the instruction takes place; all where nothing tells.
UsedHere = Callable[[NounPhrase, Sequence[str]], Sequence[str]]
_CONTENTS = frozenset({"what", "whatever"})  # "what is in the pot"
_MOST_CHOICES = 4
_TALL_M = 1.0  # what is taller stands on the floor
KINDS_OF_A_GENERIC = 2  # a name that so many other classes answer to is generic: "lamp", "bottle"


class PhraseMeaning:
    """Finds what phrases mean. A name means its class, whatever memory holds; memory decides among several.

    Raises (all methods that return a mention):
        UnclearError: the words leave open which thing is meant.
    """

    def __init__(
        self,
        kinds: ObjectCatalogue,
        home: HomeClasses,
        discourse: Discourse,
        recall: Recall,
        describe: Describe,
        similar: Similar,
        prefer: Prefer,
        guesses: bool = False,
        used_here: UsedHere = lambda _phrase, names: names,
    ) -> None:
        self._kinds = kinds
        self._home = home
        self._discourse = discourse
        self._recall = recall
        self._describe = describe
        self._similar = similar
        self._prefer = prefer
        self._guesses = guesses
        self._used_here = used_here

    @property
    def guesses(self) -> bool:
        """Whether nobody can be asked."""
        return self._guesses

    def mention(self, phrase: NounPhrase, slot: Slot, fits: Fits | None = None, partner: str = "") -> Mention:
        """Return the thing that a phrase means. fits: whether a class can play its part; partner: the other class."""
        if phrase.person:
            return Mention("me", tuple(filter(None, (self._kinds.recipient,))))
        if phrase.in_hand:
            return self._held(phrase, slot)
        if phrase.refers_back:
            return self._spoken_of(phrase, slot, fits)
        if phrase.called is not None:
            return self._named(phrase, slot, fits, partner)
        if phrase.group:
            return self._of_group(phrase, slot, phrase.group, fits)
        if phrase.described or phrase.group == ():
            return self._described(phrase, slot, fits)
        return self._unknown(phrase, slot)

    def preferred(self, slot: Slot, names: Sequence[str]) -> str:
        """Return the class that people mostly mean in a part of the command, "" where nothing tells."""
        return self._prefer(slot, names, False) if names else ""

    def recalls(self, phrase: NounPhrase, object_class: str) -> bool:
        """Return whether memory recalls a thing of the class in the states that a phrase claims."""
        return object_class in self._recall(phrase.text, phrase.states)

    def _made(self, phrase: NounPhrase, names: Sequence[str], guessed: bool = False) -> Mention:
        states = tuple(dict.fromkeys(phrase.states))
        return Mention(phrase.text, tuple(names), states, another=phrase.other, guessed=guessed)

    def _named(self, phrase: NounPhrase, slot: Slot, fits: Fits | None, partner: str) -> Mention:
        """Return what a name means: the class that is first called so, else one that words or memory tell."""
        own, also = self._able(phrase.called or Called(), fits)
        second = phrase.compounded and not (phrase.called or Called()).own
        if (second or phrase.of_other) and not self._guesses:
            self._unknown(phrase, slot)  # a key card is no credit card, though that is called a card
        if own and (self._kinds[own[0]].everyday or len(also) < KINDS_OF_A_GENERIC):
            there = [] if self._kinds[own[0]].pickupable else self._standing_there(phrase, also)
            return self._made(phrase, there) if there else self._first_called_so(phrase, slot, (own[0], *also))
        return self._one_of_several(phrase, slot, own, also, partner)

    def _one_of_several(
        self, phrase: NounPhrase, slot: Slot, own: tuple[str, ...], also: tuple[str, ...], partner: str
    ) -> Mention:
        """Return what a name means that several classes answer to: "lamp", "bottle". own: those first called so."""
        told = self._standing_there(phrase, also + own) or self._spoken_of_before(phrase, own + also)
        if told:
            return self._made(phrase, _first(told[:1], own + also))
        known = [name for name in also + own if name in self._home.all]
        meant = self._called_after(partner, also + own, known or also)
        if not meant and self._guesses:
            return self._likeliest(phrase, slot, also + own, known)
        meant = meant or (known if len(known) == 1 else [])
        if meant:
            return self._made(phrase, _first(meant, also + own))
        if own and not known:
            return self._made(phrase, own + also)
        if self._have_one_name(also):
            return self._made(phrase, sorted(also, key=lambda name: not self._holds(name)))
        return self._chosen(phrase, slot, known or also)

    def _likeliest(self, phrase: NounPhrase, slot: Slot, names: Sequence[str], known: Sequence[str]) -> Mention:
        """Return what a generic name means where nobody can be asked: the class that the trained readers are almost
        sure of, or one that is used where the instruction takes place. Memory decides what these leave open; "a table"
        is any that it holds."""
        told = phrase.definite or phrase.attributes
        among = names if told or not known else known
        sure = self._prefer(slot, among, True)
        likely = [sure] if sure else self._used_here(phrase, among)
        likely = [name for name in likely if name in known] or likely
        meant = sure or self._prefer(slot, likely, False)
        likely = _first(filter(None, [meant]), likely)
        if len(likely) == len(among):
            return self._made(phrase, _first(likely, names))
        others = tuple(name for name in _first(known, names) if name not in likely)
        return replace(self._made(phrase, likely), stand_ins=others)

    def _able(self, called: Called, fits: Fits | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the classes first called so, everyday ones and those that hold things first, and the others.

        Only those that can play the part; where none can, all: what cannot be done with it is said when it is tried.
        """
        own, also = self._fitting(called.own, fits), self._fitting(called.also, fits)
        if not own and not also:
            own, also = called.own, called.also
        return tuple(sorted(own, key=lambda name: (not self._kinds[name].everyday, not self._holds(name)))), also

    def _have_one_name(self, names: Sequence[str]) -> bool:
        return len({self._kinds[name].best_name for name in names}) == 1

    def _first_called_so(self, phrase: NounPhrase, slot: Slot, names: Sequence[str]) -> Mention:
        """Return the class that is first called so, known or not. Others that answer to the name take its part only
        where a search finds none of it.

        Where nobody can be asked it may be another that memory holds: furniture, where memory holds none that is first
        called so, or of two knives that it holds the butter knife, if that is almost surely meant.
        """
        own, *others = names
        carried = any(self._kinds[name].pickupable for name in names)
        if self._guesses and (own in self._home.all or not carried):
            known = [name for name in names if name in self._home.all]
            meant = self._prefer(slot, known, own in self._home.all) if known else ""
            if meant and meant != own:
                return self._made(phrase, _first([meant], names))
        instead = tuple(others) if self._guesses or not carried else ()  # a person is told that there is no cup
        return replace(self._made(phrase, [own]), stand_ins=instead)

    def _spoken_of_before(self, phrase: NounPhrase, names: Sequence[str]) -> list[str]:
        """Return the classes that "the ..." means because they were spoken of, the last one first."""
        return [name for name in self._discourse.classes if phrase.definite and name in names]

    def _called_after(self, partner: str, names: Sequence[str], others: Sequence[str]) -> list[str]:
        """Return the classes that are called after the thing that they are for: for a towel the towel holder."""
        if not partner:
            return []
        matching = [name for name in names if name.startswith(partner)] or [name for name in others if partner in name]
        return sorted(matching, key=len)

    def _chosen(self, phrase: NounPhrase, slot: Slot, choices: Sequence[str]) -> Mention:
        """Return the class that the trained readers prefer; else ask, where somebody can answer."""
        preferred = self._prefer(slot, choices, False)
        if preferred:
            return self._made(phrase, _first([preferred], choices))
        raise UnclearError(self._which(phrase, choices, slot))

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
        """Return one of a group: any would do ("a piece of fruit"), or the one that its description tells."""
        group = [name for name in group if name not in phrase.ruled_out] or group
        members = self._fitting(tuple(group), fits) or tuple(group)
        spoken = self._member_spoken_of(phrase, members)
        if spoken:
            return self._made(phrase, (spoken,))
        known = [name for name in members if name in self._home.all]
        self._check_told(phrase, slot, known or members)
        told = self._told_members(phrase, members, known or members) if phrase.attributes or phrase.definite else []
        return self._made(phrase, tuple(dict.fromkeys((*told, *known, *members))))

    def _check_told(self, phrase: NounPhrase, slot: Slot, members: Sequence[str]) -> None:
        """Ask which member of a group "the food" means, where several could be meant."""
        told = phrase.attributes or phrase.states or phrase.places
        if phrase.definite and not told and not self._guesses and len(members) > 1:
            raise UnclearError(self._which(phrase, members, slot))

    def _member_spoken_of(self, phrase: NounPhrase, members: Sequence[str]) -> str:
        """Return the member that has a claimed state by what was said before, or that "the fruit" means, or ""."""
        spoken = [name for name in self._discourse.classes if name in members]
        claimed = [name for name in spoken if set(phrase.states) & self._discourse.states_of(name)]
        return next(iter(claimed or (spoken if phrase.definite else ())), "")

    def _told_members(self, phrase: NounPhrase, members: Sequence[str], likely: Sequence[str]) -> list[str]:
        """Return the members that memory recalls by the description, then those whose meaning is close to it."""
        recalled = [name for name in self._recall(phrase.text, phrase.states) if self._kinds.whole(name) in members]
        return [*recalled, *(name for name in self._similar(phrase.text) if name in likely)]

    def _described(self, phrase: NounPhrase, slot: Slot, fits: Fits | None) -> Mention:
        if phrase.head in _CONTENTS and phrase.places and not self._guesses:
            where, place = phrase.text.partition(" ")[2], phrase.places[0][1].text
            asked = f"What is {where!r}?" if where else f"Which thing at {place!r} do you mean?"
            raise UnclearError(Question(asked, slot=slot))
        meant = self._fitting(tuple(self._describe(phrase.text)), fits)
        told = phrase.places or phrase.attributes or phrase.text != phrase.head
        if not meant or not told or any(self._used_otherwise(phrase.text, name) for name in meant):
            raise UnclearError(Question(f"Which thing do you mean by {phrase.text!r}?", slot=slot))
        return self._made(phrase, meant, guessed=self._guesses)

    def _used_otherwise(self, text: str, name: str) -> bool:
        """Return whether a class is used with another preposition than is said, or without one: a pen is to write
        with, not on, and a cup is nothing to drink."""
        *words, last = ["", "", *text.split()]
        said = {last} & _STRANDED
        verb = words[-1] if said else last
        kind = self._kinds[name]
        told = " ".join((*kind.described, kind.gloss)).split()
        used = [_STRANDED & set(told[at + 1 : at + 5]) for at, word in enumerate(told) if word == verb]
        return any(used) and all(not said & one for one in used) if said else bool(used) and all(used)

    def _spoken_of(self, phrase: NounPhrase, slot: Slot, fits: Fits | None) -> Mention:
        """Return what a pronoun means: what was spoken of last and fits, or what the hand holds."""
        if self._discourse.unknown and phrase.pronoun in ("it", "them") and not phrase.states:
            return self._unknown(NounPhrase(self._discourse.unknown, 0, 0), slot)
        focus = self._focus(phrase)
        candidates = [name for name in (focus, *self._discourse.classes) if name] if focus else []
        fitting = self._fitting(tuple(candidates), fits) or tuple(candidates[:1])
        if not fitting and slot is Slot.TARGET and self._home.held and phrase.pronoun in ("it", "this", "that"):
            fitting = (self._home.held,)
        if not fitting:
            raise UnclearError(Question(f"What do you mean by {phrase.text!r}?", slot=slot))
        guessed = fitting[0] in self._discourse.guessed
        states = tuple(phrase.states)
        return Mention(phrase.text, fitting[:1], states, another=phrase.other, referring=True, guessed=guessed)

    def _focus(self, phrase: NounPhrase) -> str:
        """Return the class that a pronoun means where nothing speaks against it, "" where nothing was spoken of."""
        spoken = self._discourse
        if phrase.pronoun in ("that", "this") and not spoken.classes:
            return ""
        focus = spoken.last_sliced() if phrase.pieces else spoken.other() if phrase.other else spoken.focus
        if not phrase.states or phrase.pronoun != "one":
            return focus
        claimed = [name for name in spoken.classes if set(phrase.states) & spoken.states_of(name)]  # "the clean one"
        told = claimed or self._recall(phrase.text, phrase.states)
        return next(iter(told), "" if phrase.handled else focus)

    def _held(self, phrase: NounPhrase, slot: Slot) -> Mention:
        if not self._home.held:
            raise UnclearError(Question("My hand is empty, as far as I know. What do you mean?", slot=slot))
        return Mention(phrase.text, (self._home.held,), referring=True)

    def _unknown(self, phrase: NounPhrase, slot: Slot) -> Mention:
        """Ask about a noun that names nothing in the label space; something close in meaning is only suggested. A class
        that the label space gives no name to say, such as the floor, is known but takes no part in commands."""
        if phrase.head in self._kinds and phrase.called is None:
            raise UnclearError(Question(f"I can do nothing with {phrase.text!r}. What do you mean instead?", slot=slot))
        close = [name for name in self._similar(phrase.text) if name != self._kinds.recipient][:_MOST_CHOICES]
        words = [self._kinds[name].best_name for name in close]
        asked = f" Do you mean the {_or(words)}?" if words else " What else is it called?"
        raise UnclearError(Question(f"I do not know what {phrase.text!r} is.{asked}", tuple(words), slot))

    def _which(self, phrase: NounPhrase, names: Sequence[str], slot: Slot) -> Question:
        words = tuple(self._kinds[name].best_name for name in names[:_MOST_CHOICES])
        return Question(f"Which one is {phrase.text!r}: the {_or(words)}?", words, slot)

    def _fitting(self, names: tuple[str, ...], fits: Fits | None) -> tuple[str, ...]:
        return tuple(name for name in names if fits is None or fits(name))


def _first(names: Iterable[str], among: Sequence[str]) -> tuple[str, ...]:
    """Return the names, then the others among which they are."""
    return tuple(dict.fromkeys((*names, *among)))


def _or(words: Sequence[str]) -> str:
    return " or the ".join(words)
