"""From a noun phrase to the classes that it may mean: by name, by group, by what was spoken of, or by description."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.planner.goal import Mention
from memory_node.planner.language.asking_back import Question, Slot, UnclearError
from memory_node.planner.language.discourse import Discourse
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.surroundings import HomeClasses, Recall

Fits = Callable[[str], bool]
# A description such as "something to write with" -> the classes that it may mean, likeliest first.
Describe = Callable[[str], Sequence[str]]
# A noun that names no class -> the classes whose meaning is close to it, closest first.
Similar = Callable[[str], Sequence[str]]
# Several classes that a name may mean, for a part of the command -> the one that is meant, "" where that is open.
Prefer = Callable[[Slot, Sequence[str]], str]
_MOST_CHOICES = 4
_KINDS_OF_A_GENERIC = 2  # a name that so many other classes answer to is generic: "lamp", "bottle"


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
    ) -> None:
        self._kinds = kinds
        self._home = home
        self._discourse = discourse
        self._recall = recall
        self._describe = describe
        self._similar = similar
        self._prefer = prefer
        self._guesses = guesses

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

    def recalls(self, phrase: NounPhrase, object_class: str) -> bool:
        """Return whether memory recalls a thing of the class in the states that a phrase claims."""
        return object_class in self._recall(phrase.text, phrase.states)

    def _made(self, phrase: NounPhrase, names: Sequence[str], guessed: bool = False) -> Mention:
        states = tuple(dict.fromkeys(phrase.states))
        return Mention(phrase.text, tuple(names), states, another=phrase.other, guessed=guessed)

    def _named(self, phrase: NounPhrase, slot: Slot, fits: Fits | None, partner: str) -> Mention:
        called = phrase.called
        assert called is not None
        own, also = self._fitting(called.own, fits), self._fitting(called.also, fits)
        if not own and not also:  # what cannot be done with it is said when it is tried
            own, also = called.own, called.also
        own = tuple(sorted(own, key=lambda name: (not self._kinds[name].everyday, not self._holds(name))))
        if own and (self._kinds[own[0]].everyday or len(also) < _KINDS_OF_A_GENERIC):
            names = (own[0], *also)
            first = own[0] if own[0] in self._home.all else self._guessed(slot, names) or own[0]
            made = self._made(phrase, (first, *(name for name in names if name != first)))
            return replace(made, stand_ins=tuple(dict.fromkeys(self._instead(phrase, names))))
        told = self._standing_there(phrase, also + own)
        spoken = told or [name for name in self._discourse.classes if phrase.definite and name in own + also]
        if spoken:
            return self._made(phrase, (spoken[0], *(name for name in own + also if name != spoken[0])))
        known = [name for name in also + own if name in self._home.all]
        matching = sorted((name for name in also + own if partner and name.startswith(partner)), key=len)
        matching = matching or sorted((name for name in known or also if partner and partner in name), key=len)
        if len(known) == 1 or matching:
            meant = matching or known
            return self._made(phrase, (*meant, *(name for name in also + own if name not in meant)))
        if own and not known:
            return self._made(phrase, own + also)
        if len(also) == 1 or len({self._kinds[name].best_name for name in also}) == 1:
            return self._made(phrase, sorted(also, key=lambda name: not self._holds(name)))
        choices = known or list(also)
        preferred = self._prefer(slot, choices)
        if preferred:
            return self._made(phrase, (preferred, *(name for name in choices if name != preferred)))
        if self._guesses:  # any of them, in the order in which people mean them
            return self._made(phrase, choices)
        raise UnclearError(self._which(phrase, choices, slot))

    def _standing_there(self, phrase: NounPhrase, names: Sequence[str]) -> list[str]:
        """Return the classes that are called by where they stand: "the lamp on the desk" is a desk lamp."""
        compounds = {f"{place.head} {phrase.head}" for _, place in phrase.places if place.head}
        return [name for name in names if self._kinds[name].best_name in compounds]

    def _guessed(self, slot: Slot, names: Sequence[str]) -> str:
        """Return the one of several classes with a name that people mostly mean, where nobody can be asked."""
        known = [name for name in names if name in self._home.all]
        return self._prefer(slot, known) if self._guesses and known else ""

    def _instead(self, phrase: NounPhrase, names: Sequence[str]) -> Sequence[str]:
        """Return the furniture that takes the part of what a home has none of, where nobody can be asked."""
        lacking = self._guesses and self._home.fixtures and not set(names) & self._home.all
        if not lacking or any(self._kinds[name].pickupable for name in names):
            return ()
        able = self._kinds.alike(names) & self._home.fixtures
        return [*(name for name in self._similar(phrase.text) if name in able), *sorted(able)]

    def _holds(self, name: str) -> bool:
        return self._kinds[name].is_receptacle

    def _of_group(self, phrase: NounPhrase, slot: Slot, group: Sequence[str], fits: Fits | None) -> Mention:
        """Return one of a group: any would do ("a piece of fruit"), or the one that its description tells."""
        members = self._fitting(tuple(group), fits) or tuple(group)
        spoken = [name for name in self._discourse.classes if name in members]
        claimed = [name for name in spoken if set(phrase.states) & self._discourse.states_of(name)]
        if claimed or (phrase.definite and spoken):
            return self._made(phrase, (claimed or spoken)[:1])
        recalled = [name for name in self._recall(phrase.text, phrase.states) if self._kinds.whole(name) in members]
        known = [name for name in members if name in self._home.all]
        close = [name for name in self._similar(phrase.text) if name in (known or members)]
        ranked = dict.fromkeys(
            (*recalled, *close, *known, *members) if phrase.attributes or phrase.definite else (*known, *members)
        )
        return self._made(phrase, tuple(ranked))

    def _described(self, phrase: NounPhrase, slot: Slot, fits: Fits | None) -> Mention:
        meant = self._fitting(tuple(self._describe(phrase.text)), fits)
        if not meant or not (phrase.places or phrase.attributes or phrase.text != phrase.head):
            raise UnclearError(Question(f"Which thing do you mean by {phrase.text!r}?", slot=slot))
        return self._made(phrase, meant, guessed=True)

    def _spoken_of(self, phrase: NounPhrase, slot: Slot, fits: Fits | None) -> Mention:
        """Return what a pronoun means: what was spoken of last and fits."""
        spoken = self._discourse
        focus = spoken.last_sliced() if phrase.pieces else spoken.focus
        if phrase.states and phrase.pronoun == "one":
            claimed = [name for name in spoken.classes if set(phrase.states) & spoken.states_of(name)]
            recalled = [] if claimed else list(self._recall(phrase.text, phrase.states))
            focus = next(iter([*claimed, *recalled]), "" if phrase.handled else focus)
        if phrase.pronoun in ("that", "this") and not spoken.classes:
            focus = ""
        candidates = [focus, *spoken.classes] if focus else []
        fitting = [name for name in candidates if name and (fits is None or fits(name))] or candidates[:1]
        if not fitting and slot is Slot.TARGET and self._home.held and phrase.pronoun in ("it", "this", "that"):
            fitting = [self._home.held]
        if not fitting:
            raise UnclearError(Question(f"What do you mean by {phrase.text!r}?", slot=slot))
        return Mention(phrase.text, tuple(fitting[:1]), tuple(phrase.states), another=phrase.other, referring=True)

    def _held(self, phrase: NounPhrase, slot: Slot) -> Mention:
        if not self._home.held:
            raise UnclearError(Question("My hand is empty, as far as I know. What do you mean?", slot=slot))
        return Mention(phrase.text, (self._home.held,), referring=True)

    def _unknown(self, phrase: NounPhrase, slot: Slot) -> Mention:
        """Ask about a noun that names nothing in the label space; something close in meaning is only suggested."""
        close = [name for name in self._similar(phrase.text) if name != self._kinds.recipient][:_MOST_CHOICES]
        words = [self._kinds[name].best_name for name in close]
        asked = f" Do you mean the {_or(words)}?" if words else " What else is it called?"
        raise UnclearError(Question(f"I do not know what {phrase.text!r} is.{asked}", tuple(words), slot))

    def _which(self, phrase: NounPhrase, names: Sequence[str], slot: Slot) -> Question:
        words = tuple(self._kinds[name].best_name for name in names[:_MOST_CHOICES])
        return Question(f"Which one is {phrase.text!r}: the {_or(words)}?", words, slot)

    def _fitting(self, names: tuple[str, ...], fits: Fits | None) -> tuple[str, ...]:
        return tuple(name for name in names if fits is None or fits(name))


def _or(words: Sequence[str]) -> str:
    return " or the ".join(words)
