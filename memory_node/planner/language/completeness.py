"""Asks for what a command leaves out, and refuses what no skill does."""

from __future__ import annotations

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import ObjectKind, Property
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Mention
from memory_node.planner.language.asking_back import Question, Slot, UnclearError
from memory_node.planner.language.english import INTO, UNDER
from memory_node.planner.language.phrase_meaning import PhraseMeaning
from memory_node.planner.language.spoken_command import Command

_K = GoalKind
_TREATED = frozenset({_K.CLEAN, _K.HEAT, _K.COOL, _K.SLICE, _K.FILL, _K.EXAMINE, _K.BREAK})
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

    def check_filled(self, command: Command) -> None:
        """Ask where something is to be filled with what is no liquid: that is put in one by one."""
        matter = command.instrument if command.kind is _K.FILL else None
        if matter is not None and matter.called is not None and self._kinds[matter.called.all[0]].pickupable:
            into = command.targets[0].head if command.targets else "it"
            raise UnclearError(
                Question(f"I can fill the {into} with water. Shall I do that, or put {matter.text} there?")
            )

    def check_cut(self, command: Command, target: Mention) -> None:
        """Ask where something is to be cut that cannot be."""
        name = target.object_class
        if command.kind is _K.SLICE and name and not self._kinds[self._kinds.whole(name)].slices:
            called = self._kinds[name].best_name
            raise UnclearError(Question(f"I cannot cut the {called}. What shall I cut?", slot=Slot.TARGET))

    def check_complete(self, command: Command, target: Mention, destination: Mention | None) -> None:
        """Ask for what a command leaves out: where a thing goes, or what is to be taken out of a piece of furniture."""
        if command.kind is _K.PLACE and destination is None:
            where = f"Where shall I {command.spoken_verb} the {target}?" if target.candidates else "Where does it go?"
            raise UnclearError(Question(where, slot=Slot.DESTINATION))
        thing = self._kinds[target.object_class]
        if command.kind is _K.FILL and target.candidates and not self._takes_water(thing):
            raise UnclearError(Question(f"What shall I put in the {thing.best_name}?", slot=Slot.COMMAND))
        if (
            (command.kind is _K.EMPTY or command.verb in _UNLOADING)
            and thing.can(Property.OPENABLE)
            and not thing.pickupable
        ):
            raise UnclearError(Question(f"What shall I take out of the {thing.best_name}?", slot=Slot.COMMAND))

    def _takes_water(self, thing: ObjectKind) -> bool:
        """Return whether water can be let into it: "put the milk in the fridge" fills nothing."""
        return thing.pickupable or any(thing.can(one) for one in (Property.FILLABLE, Property.DRAINS, Property.WATERS))
