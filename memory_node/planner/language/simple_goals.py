"""Goals of commands that need not name a thing: to stop, wait, go somewhere, answer, or drop what the hand holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.asked_states import PLACE
from memory_node.planner.language.asking_back import Question, Slot, UnclearError
from memory_node.planner.language.destinations import Destinations
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.phrase_meaning import PhraseMeaning
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.surroundings import HomeClasses

_K = GoalKind


class SimpleGoals:
    """Turns such commands into goals. several: the kinds of things that a phrase of a command covers, () for one."""

    def __init__(
        self,
        kinds: ObjectCatalogue,
        meaning: PhraseMeaning,
        home: HomeClasses,
        destinations: Destinations,
        several: Callable[[Command, NounPhrase], Sequence[Mention]],
    ) -> None:
        self._kinds = kinds
        self._meaning = meaning
        self._home = home
        self._destinations = destinations
        self._several = several
        self._rules: dict[GoalKind, Callable[[Command], list[Goal]]] = {
            _K.STOP: self._halting,
            _K.WAIT: self._halting,
            _K.GO: self._going,
            _K.TELL: self._telling,
            _K.DROP: self._dropping,
        }

    def of(self, command: Command) -> list[Goal] | None:
        """Return the goals of a command; None for a command that handles things.

        Raises:
            UnclearError: it leaves open what matters.
        """
        rule = self._rules.get(command.kind)
        return rule(command) if rule is not None else None

    def _halting(self, command: Command) -> list[Goal]:
        return [Goal(command.kind, Mention(""), text=command.text)]

    def _going(self, command: Command) -> list[Goal]:
        if command.to_user and not command.targets:
            return [Goal(_K.GO, self._destinations.person("you"), text=command.text)]
        if not command.targets:
            raise UnclearError(Question("Where shall I go?", slot=Slot.TARGET))
        return [self._going_to(phrase, command) for phrase in command.targets]

    def _going_to(self, phrase: NounPhrase, command: Command) -> Goal:
        if command.to_user or phrase.person:
            return Goal(_K.GO, self._destinations.person("you"), text=command.text)
        if phrase.only_room:
            return Goal(_K.GO, Mention(phrase.room), text=command.text)
        return Goal(_K.FIND, self._meaning.mention(phrase, Slot.TARGET), text=command.text)

    def _telling(self, command: Command) -> list[Goal]:
        return [goal for phrase in command.targets for goal in self._telling_of(phrase, command)]

    def _telling_of(self, phrase: NounPhrase, command: Command) -> list[Goal]:
        every = command.verb != PLACE and (phrase.plural or phrase.every)
        kinds = self._several(command, phrase) if every else ()
        targets = kinds or [self._meaning.mention(phrase, Slot.TARGET)]
        return [Goal(_K.TELL, one, asked=command.verb, every=every, text=command.text) for one in targets]

    def _dropping(self, command: Command) -> list[Goal]:
        phrase = command.targets[0] if command.targets else None
        if phrase is not None and phrase.called is not None:
            target = self._meaning.mention(phrase, Slot.TARGET)
            kind = self._kinds[target.object_class]
            if not kind.pickupable and kind.can(Property.OPENABLE):  # "put the lid down"
                return [Goal(_K.CLOSE, target, text=command.text)]
            return [Goal(_K.DROP, target, text=command.text)]
        if phrase is not None and phrase.strange:
            self._meaning.mention(phrase, Slot.TARGET)  # it is asked what that is
        return [Goal(_K.DROP, self._in_hand(), text=command.text)]

    def _in_hand(self) -> Mention:
        held = self._home.held
        return Mention(held, (held,) if held else (), referring=True)
