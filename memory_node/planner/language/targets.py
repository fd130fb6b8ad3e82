"""What a command is about: the thing that its phrase means, or each of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Mention
from memory_node.planner.language.asking_back import Question, Slot, UnclearError
from memory_node.planner.language.discourse import Discourse
from memory_node.planner.language.lexicon import Called
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.phrase_meaning import KINDS_OF_A_GENERIC, Fits, PhraseMeaning
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.spoken_instruction import Remark
from memory_node.planner.language.surroundings import HomeClasses

_K = GoalKind
_NEEDED = {
    _K.OPEN: Property.OPENABLE,
    _K.CLOSE: Property.OPENABLE,
    _K.SWITCH_ON: Property.TOGGLEABLE,
    _K.SWITCH_OFF: Property.TOGGLEABLE,
}
_MOVED = frozenset({_K.PLACE, _K.THROW})
_DOORS = frozenset(["door", "lid"])
_CARRIED = frozenset({_K.PLACE, _K.FETCH, _K.THROW, _K.CLEAN, _K.HEAT, _K.COOL, _K.SLICE, _K.EXAMINE})


class Targets:
    """Finds the targets of commands.

    Raises (of):
        UnclearError: the words leave open which thing is meant.
    """

    def __init__(self, kinds: ObjectCatalogue, meaning: PhraseMeaning, home: HomeClasses, discourse: Discourse) -> None:
        self._kinds = kinds
        self._meaning = meaning
        self._home = home
        self._discourse = discourse

    def of(self, command: Command, phrase: NounPhrase) -> Mention:
        """Return the thing that a phrase of a command means: one with which that can be done."""
        needed = _NEEDED.get(command.kind)
        if needed is Property.TOGGLEABLE and phrase.is_water:
            return self._tap(phrase)
        if needed is not None:
            self._check_its_door(phrase)
            return self._own_door(phrase) or self._with(needed, phrase)
        self._check_whole(command, phrase)
        if command.kind is _K.SLICE and phrase.refers_back:  # "put the potato in a pan and slice it"
            return self._meaning.mention(phrase, Slot.TARGET, lambda name: bool(self._kinds[name].slices))
        if command.kind is _K.HEAT and command.treatment and phrase.refers_back:  # "put an egg in the pan and fry it"
            treatment = self._kinds.treatment(command.treatment)
            if treatment != self._kinds.usual_treatment(_K.HEAT):
                return self._meaning.mention(phrase, Slot.TARGET, self._eaten)
        fits = self._carried if command.kind in _CARRIED else self._filled if command.kind is _K.FILL else None
        return self._meaning.mention(phrase, Slot.TARGET, fits)

    def _check_its_door(self, phrase: NounPhrase) -> None:
        """Ask what it is that has the door: "the dryer door" is no door of the home."""
        if is_of_unknown(phrase) and not self._meaning.guesses:
            self._meaning.mention(replace(phrase, called=None), Slot.TARGET)

    def _check_whole(self, command: Command, phrase: NounPhrase) -> None:
        """Ask where a part of what is carried is to be handled: "put the lid of the pan on the pot"."""
        thing = phrase.called.all[0] if phrase.part and phrase.called is not None else ""
        apart = thing and (self._kinds[thing].pickupable or command.kind in _MOVED)
        if command.kind in _CARRIED and apart and not self._meaning.guesses:
            raise UnclearError(
                Question(f"I do not know {phrase.text!r} apart from the {phrase.head}. What do you mean?")
            )

    def several(self, command: Command, phrase: NounPhrase) -> list[Mention]:
        """Return each thing or kind that a phrase covers: "both", "all the lamps"; [] for others."""
        return self._members(phrase) or self._kinds_of(command, phrase)

    def _with(self, needed: Property, phrase: NounPhrase) -> Mention:
        """Return the thing to open or to switch; by a second name only one that can be: no vase for "open the jar"."""
        mention = self._meaning.mention(phrase, Slot.TARGET, self._able(needed))
        thing = self._kinds[mention.object_class]
        second = phrase.called is not None and not phrase.called.own
        if second and thing.pickupable and not thing.can(needed) and not self._meaning.guesses:
            known = f"I know {phrase.text!r} only as the {thing.best_name}, with which that cannot be done."
            raise UnclearError(Question(f"{known} What do you mean?", slot=Slot.TARGET))
        return mention

    def _able(self, needed: Property) -> Fits:
        return lambda name: self._kinds[name].can(needed)

    def _own_door(self, phrase: NounPhrase) -> Mention | None:
        """Return the furniture that something was just put into or that was opened, for "close the door" behind it."""
        told = phrase.attributes or phrase.places or phrase.owner or phrase.other or phrase.count > 1 or phrase.plural
        place = self._discourse.place if phrase.head in _DOORS and phrase.definite and not told else None
        if place is None or place.beside or not self._kinds[place.object_class].can(Property.OPENABLE):
            return None
        return Mention(phrase.text, place.candidates, referring=True)

    def _tap(self, phrase: NounPhrase) -> Mention:
        """Return what "the water" is turned on and off with: the one that a place names, or the tap."""
        taps = self._kinds.able(Property.WATERS)
        if not taps:
            return self._meaning.mention(phrase, Slot.TARGET)
        places = [name for _, place in phrase.places if place.called for name in place.called.all]
        return Mention(phrase.text, tuple(sorted(taps, key=lambda name: name not in places)))

    def _members(self, phrase: NounPhrase) -> list[Mention]:
        """Return every thing spoken of that "both" or "all the tableware" covers; [] for others."""
        if not (phrase.plural or phrase.every):
            return []
        if phrase.refers_back and not phrase.states:
            names: Sequence[str] = self._discourse.together()
        elif phrase.group is not None and phrase.called is None:
            spoken = self._discourse.classes[::-1]
            names = spoken if phrase.group == () else [name for name in spoken if name in phrase.group]
            names = names or [name for name in phrase.group if name in self._home.objects]
        else:
            return []
        return [Mention(phrase.text, (name,), referring=phrase.refers_back) for name in names if self._carried(name)]

    def _kinds_of(self, command: Command, phrase: NounPhrase) -> list[Mention]:
        """Return all kinds that a generic name covers: "all the lamps"."""
        called = phrase.called
        several = phrase.every or (phrase.plural and command.kind is _K.TELL)  # "are the lamps off?"
        if called is None or not several or not self._is_generic(called):
            return []
        needed = _NEEDED.get(command.kind)
        able = [name for name in called.also if needed is None or self._kinds[name].can(needed)]
        known = [name for name in able if name in self._home.all]
        return [Mention(phrase.text, (name,)) for name in known or able]

    def _is_generic(self, called: Called) -> bool:
        """Return whether many kinds answer to a name: "all the stools" are no chairs, though a chair may be one."""
        own = called.own
        return not any(self._kinds[name].everyday for name in own) and not (
            own and len(called.also) < KINDS_OF_A_GENERIC
        )

    def _eaten(self, name: str) -> bool:
        return self._kinds[name].can(Property.EDIBLE)

    def _filled(self, name: str) -> bool:
        return self._kinds[name].can(Property.FILLABLE) or self._kinds[name].can(Property.DRAINS)

    def _carried(self, name: str) -> bool:
        return self._kinds[name].pickupable


def is_of_unknown(phrase: NounPhrase) -> bool:
    """Return whether a door is told by what nobody knows: "the dryer door"."""
    return phrase.head in _DOORS and phrase.compounded and phrase.peculiar


def known_things(remark: Remark) -> list[tuple[str, NounPhrase]]:
    """Return the things of a remark whose names are known, each with its class, but for the doors of what is not."""
    return [(one.called.all[0], one) for one in remark.phrases if one.called is not None and not is_of_unknown(one)]
