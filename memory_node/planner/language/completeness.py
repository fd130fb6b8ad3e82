"""Asks for what a command leaves out, and refuses what no skill does."""

from __future__ import annotations

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import ObjectKind, Property
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Mention
from memory_node.planner.language.asking_back import Question, Slot, UnclearError
from memory_node.planner.language.english import INTO, UNDER
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.phrase_meaning import PhraseMeaning
from memory_node.planner.language.spoken_command import Command

_K = GoalKind
_TREATED = frozenset({_K.CLEAN, _K.HEAT, _K.COOL, _K.SLICE, _K.FILL, _K.EXAMINE, _K.BREAK})
_EMPTIED = (Property.FILLABLE, Property.USABLE_UP, Property.OPENABLE, Property.DRAINS)
_POWERED = (Property.TOGGLEABLE, Property.HEATS, Property.COOLS, Property.WATERS)
_WITHOUT_SWITCH = (Property.FIXED, Property.OPENABLE, Property.DIRTYABLE, Property.EDIBLE)
_ROLLING = frozenset({"roll"})  # a blind that is rolled up is open; a poster is not
_UNLOADING = frozenset({"unload", "clear", "unpack"})


class Completeness:
    """Checks commands.

    Raises (all checks):
        UnclearError: something has to be asked first.
    """

    def __init__(self, kinds: ObjectCatalogue, meaning: PhraseMeaning) -> None:
        self._kinds = kinds
        self._meaning = meaning

    def check_poured(self, command: Command) -> None:
        """Ask where something is poured from one vessel into another: no skill does that."""
        into = command.destination if command.kind is _K.EMPTY else None
        if into is not None and into.called is not None and self._kinds[into.called.all[0]].can(Property.FILLABLE):
            poured = command.targets[0].head
            raise UnclearError(
                Question(f"I cannot pour into the {into.head}. Shall I fill it at the tap, or empty the {poured}?")
            )

    def check_means(self, command: Command) -> None:
        """Ask what an unknown appliance, vessel or tool is that a treatment is to be done in or with."""
        if command.kind not in _TREATED:
            return
        inside = (place for phrase in command.targets for sense, place in phrase.places if sense in (INTO, UNDER))
        means = (command.instrument, command.destination, *inside)
        strange = next((phrase for phrase in means if phrase is not None and phrase.strange), None)
        if strange is not None:
            self._meaning.mention(strange, Slot.COMMAND)

    def check_origin(self, command: Command) -> None:
        """Ask what "charge" is of "take the laptop off charge": without a determiner it is no place; and what is taken
        out of its like: "a tissue out of the tissue box"."""
        origin, taken = command.origin, command.targets[0] if command.targets else None
        if origin is None:
            return
        if origin.strange and origin.text == origin.head:
            self._meaning.mention(origin, Slot.COMMAND)
        if taken is not None and taken.called and origin.called and taken.called.all[0] == origin.called.all[0]:
            raise UnclearError(Question(f"What is {taken.text!r} in {origin.text!r}?", slot=Slot.TARGET))

    def check_carried_out(self, command: Command, target: Mention) -> None:
        """Ask where rubbish is to be taken out: the robot stays in the home."""
        out = command.kind is _K.FETCH and command.origin is None and "out" in command.text.split()
        if out and target.object_class in self._kinds.bins:
            name = self._kinds[target.object_class].best_name
            raise UnclearError(Question(f"I do not leave the home. What shall I do with the {name}: empty it?"))

    def check_filled(self, command: Command) -> None:
        """Ask where something is to be filled with what is no water: things are put in one by one."""
        matter = command.instrument if command.kind is _K.FILL else None
        if matter is not None and matter.head and not (matter.is_water or matter.named or matter.refers_back):
            raise UnclearError(Question(f"I can fill things with water only. What shall I do about {matter.text!r}?"))
        if matter is not None and matter.called is not None and self._kinds[matter.called.all[0]].pickupable:
            into = command.targets[0].head if command.targets else "it"
            raise UnclearError(
                Question(f"I can fill the {into} with water. Shall I do that, or put {matter.text} there?")
            )

    def check_cut(self, command: Command, phrase: NounPhrase, target: Mention) -> None:
        """Ask where something is to be cut that cannot be, also for "a piece of paper"."""
        name = target.object_class
        if (command.kind is _K.SLICE or phrase.pieces) and name and not self._kinds[self._kinds.whole(name)].slices:
            called = self._kinds[name].best_name
            raise UnclearError(Question(f"I cannot cut the {called}. What shall I cut?", slot=Slot.TARGET))

    def check_left(self, command: Command) -> None:
        """Ask where something is to be left "here": where it is, or with the person."""
        left = command.targets[0] if command.verb == "leave" and command.here and command.targets else None
        if left is not None and (left.pronoun == "one" or not left.refers_back):
            what = left.text
            raise UnclearError(Question(f"Shall I leave {what} where it is, or bring it to you?"))

    def check_able(self, command: Command, target: Mention) -> None:
        """Ask where something is to be done with a thing that cannot be: such words mean something else."""
        thing = self._kinds[target.object_class]
        able = self._is_able(command.kind, thing)
        rolled = command.kind in (_K.OPEN, _K.CLOSE) and command.verb in _ROLLING
        able &= not rolled or thing.can(Property.OPENABLE)
        if target.candidates and thing.name in self._kinds and not able:
            what = f"the {thing.best_name}"
            raise UnclearError(Question(f"I cannot {str(command.kind).replace('_', ' ')} {what}. What do you mean?"))

    def _is_able(self, kind: GoalKind, thing: ObjectKind) -> bool:
        """Return whether a goal of a kind is possible; what a person would try counts as possible."""
        if kind in (_K.HEAT, _K.COOL):
            return not any(thing.can(one) for one in (Property.FIXED, Property.HEATS, Property.COOLS))
        if kind in (_K.SWITCH_ON, _K.SWITCH_OFF):
            return self._may_have_a_switch(thing)
        if kind in (_K.OPEN, _K.CLOSE):
            return thing.can(Property.OPENABLE) or not (thing.holds == "on" or thing.can(Property.DRAINS))
        emptied = thing.is_receptacle or any(thing.can(one) for one in _EMPTIED) or thing.name in self._kinds.bins
        return kind is not _K.EMPTY or emptied

    def _may_have_a_switch(self, thing: ObjectKind) -> bool:
        dead = thing.is_receptacle or any(thing.can(one) for one in _WITHOUT_SWITCH)
        return self._kinds.is_kettle(thing.name) or not dead or any(thing.can(one) for one in _POWERED)

    def check_complete(self, command: Command, target: Mention, destination: Mention | None) -> None:
        """Ask for what a command leaves out: where a thing goes, or what is to be taken out of a piece of furniture."""
        thing = self._kinds[target.object_class]
        if command.kind is _K.PLACE and destination is None:
            where = f"Where shall I {command.spoken_verb} the {thing.best_name}?"
            where = where if target.candidates else "Where does it go?"
            if command.verb == "turn" and thing.can(Property.TOGGLEABLE):
                where = f"Shall I turn the {thing.best_name} on, or off?"
            raise UnclearError(Question(where, slot=Slot.DESTINATION))
        if command.kind is _K.FILL and target.candidates and not self._takes_water(thing):
            raise UnclearError(Question(f"What shall I put in the {thing.best_name}?", slot=Slot.COMMAND))
        if (
            (command.kind is _K.EMPTY or command.verb in _UNLOADING)
            and thing.can(Property.OPENABLE)
            and not thing.pickupable
        ):
            raise UnclearError(Question(f"What shall I take out of the {thing.best_name}?", slot=Slot.COMMAND))

    def _takes_water(self, thing: ObjectKind) -> bool:
        """Return whether water can be let into it: nobody fills a box or a plate with it."""
        wet = any(thing.can(one) for one in (Property.FILLABLE, Property.DRAINS, Property.WATERS))
        dry = thing.is_receptacle or thing.can(Property.USABLE_UP)
        return wet or self._kinds.is_vessel(thing.name) or (thing.pickupable and not dry)
