"""Goals of commands that need not name a thing: to stop, wait, go somewhere, answer, or drop what the hand holds."""

from __future__ import annotations

from collections.abc import Callable

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.asking_back import Question, Slot, UnclearError
from memory_node.planner.language.destinations import Destinations
from memory_node.planner.language.phrase_meaning import PhraseMeaning
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.surroundings import HomeClasses

_K = GoalKind


class SimpleGoals:
    """Turns such commands into goals."""

    def __init__(
        self, kinds: ObjectCatalogue, meaning: PhraseMeaning, home: HomeClasses, destinations: Destinations
    ) -> None:
        self._kinds = kinds
        self._meaning = meaning
        self._home = home
        self._destinations = destinations
        self._rules: dict[GoalKind, Callable[[Command], Goal]] = {
            _K.STOP: self._halting,
            _K.WAIT: self._halting,
            _K.GO: self._going,
            _K.TELL: self._telling,
            _K.DROP: self._dropping,
        }

    def of(self, command: Command) -> Goal | None:
        """Return the goal of a command; None for a command that handles things.

        Raises:
            UnclearError: it leaves open what matters.
        """
        rule = self._rules.get(command.kind)
        return rule(command) if rule is not None else None

    def _halting(self, command: Command) -> Goal:
        return Goal(command.kind, Mention(""), text=command.text)

    def _going(self, command: Command) -> Goal:
        if command.to_user or (command.targets and command.targets[0].person):
            return Goal(_K.GO, self._destinations.person("you"), text=command.text)
        if not command.targets:
            raise UnclearError(Question("Where shall I go?", slot=Slot.TARGET))
        phrase = command.targets[0]
        if phrase.room and phrase.called is None:
            return Goal(_K.GO, Mention(phrase.room), text=command.text)
        return Goal(_K.FIND, self._meaning.mention(phrase, Slot.TARGET), text=command.text)

    def _telling(self, command: Command) -> Goal:
        target = self._meaning.mention(command.targets[0], Slot.TARGET)
        return Goal(_K.TELL, target, asked=command.verb, text=command.text)

    def _dropping(self, command: Command) -> Goal:
        phrase = command.targets[0] if command.targets else None
        if phrase is not None and phrase.called is not None:
            target = self._meaning.mention(phrase, Slot.TARGET)
            kind = self._kinds[target.object_class]
            if not kind.pickupable and kind.can(Property.OPENABLE):  # "put the lid down"
                return Goal(_K.CLOSE, target, text=command.text)
            return Goal(_K.DROP, target, text=command.text)
        if phrase is not None and phrase.strange:
            self._meaning.mention(phrase, Slot.TARGET)  # it is asked what that is
        return Goal(_K.DROP, self._in_hand(), text=command.text)

    def _in_hand(self) -> Mention:
        held = self._home.held
        return Mention(held, (held,) if held else (), referring=True)
