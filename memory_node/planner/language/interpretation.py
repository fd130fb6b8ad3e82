"""Reads commands as goals, each in the context of the ones before it: "it", "the red fruit", "the pens"."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.class_names import Grounding
from memory_node.planner.language.command_grammar import THERE, Command
from memory_node.planner.language.discourse import Context
from memory_node.planner.language.noun_phrase import NounPhrase, read_noun_phrase
from memory_node.planner.language.single_goal_reader import HomeClasses

_S = ObjectState
_TREATMENT = {
    _S.CLEANED: GoalKind.CLEAN,
    _S.HEATED: GoalKind.HEAT,
    _S.COOKED: GoalKind.HEAT,
    _S.COLD: GoalKind.COOL,
}
_WITHIN = re.compile(r"^(?P<container>.+?) and (?P<target>.+) (?:in|on) it\b")
# A phrase and the states that it claims -> classes of what memory holds of that kind, most relevant first.
Recall = Callable[[str, tuple[ObjectState, ...]], Sequence[str]]
# A description such as "something to write with" -> the classes that it may mean, likeliest first.
Describe = Callable[[str], Sequence[str]]


class Interpreter:
    """Turns commands into goals. kinds and grounding know the words; recall and describe what they paraphrase."""

    def __init__(
        self, kinds: ObjectCatalogue, grounding: Grounding, home: HomeClasses, recall: Recall, describe: Describe
    ) -> None:
        self._kinds = kinds
        self._grounding = grounding
        self._home = home
        self._recall = recall
        self._describe = describe
        self.context = Context()

    def read(self, command: Command) -> list[Goal]:
        """Return the goals of one command and remember them as context for the next one."""
        goals = self._goals(command)
        for goal in goals:
            treatment = self._kinds.treatment(goal.treatment) or self._kinds.usual_treatment(goal.kind)
            gained = treatment.states if treatment is not None else ()
            if goal.destination is not None and self._kinds[goal.destination.object_class].can(Property.COOLS):
                gained = (*gained, _S.COLD)
            self.context.add(goal, gained, self._is_movable(goal.destination))
        self.context.end_command(goals)
        return goals

    def _is_movable(self, mention: Mention | None) -> bool:
        return mention is not None and not mention.beside and self._kinds[mention.object_class].pickupable

    def _goals(self, command: Command) -> list[Goal]:
        if command.kind in (GoalKind.SWITCH_ON, GoalKind.SWITCH_OFF, GoalKind.OPEN, GoalKind.CLOSE):
            wanted = Property.OPENABLE if command.kind in (GoalKind.OPEN, GoalKind.CLOSE) else Property.TOGGLEABLE
            mention = self._mention(read_noun_phrase(command.target), lambda name: self._kinds[name].can(wanted))
            return [Goal(command.kind, mention, text=command.text)]
        if command.kind is GoalKind.FIND:
            return [Goal(command.kind, self._mention(read_noun_phrase(command.target), None), text=command.text)]
        pair = _WITHIN.match(command.text.partition(" ")[2]) if command.kind is GoalKind.PLACE else None
        if pair:
            return [self._stack(command, pair.group("container"), pair.group("target"))]
        phrases = [read_noun_phrase(text) for text in re.split(r"\s*(?:,|\band\b|\bplus\b)\s*", command.target)]
        phrases = [phrase for phrase in phrases if phrase.head or phrase.pieces or phrase.text == command.target]
        return [goal for phrase in phrases for goal in self._goals_of(command, phrase)]

    def _stack(self, command: Command, container: str, target: str) -> Goal:
        return Goal(
            GoalKind.STACK,
            self._mention(read_noun_phrase(target), self._carried),
            self._destination(command),
            self._mention(read_noun_phrase(container), self._carried),
            text=command.text,
        )

    def _goals_of(self, command: Command, phrase: NounPhrase) -> list[Goal]:
        """Return the goals for one of the things that a command names: several when it names a group."""
        mentions = [self._mention(phrase, self._carried)]
        if phrase.plural:
            mentions = self._members(phrase) or mentions
        if len(mentions) > 1:
            phrase = replace(phrase, count=1, plural=False)
        return [self._goal(command, phrase, mention) for mention in mentions]

    def _goal(self, command: Command, phrase: NounPhrase, target: Mention) -> Goal:
        kind, destination = command.kind, self._destination(command)
        container = light = None
        if command.container:
            container = self._mention(read_noun_phrase(command.container), self._carried)
        if command.kind is GoalKind.EXAMINE:
            light = self._lamp(command.light)
        if kind is GoalKind.THROW and not re.search(r"\b(?:across|ahead|floor|ground)\b", command.text):
            kind, destination = GoalKind.PLACE, destination or Mention("the bin", self._kinds.bins)
        done = self.context.states_of(target.object_class)
        claimed = [state for state in phrase.states if state in _TREATMENT]
        known = [state for state in claimed if state in done or state in target.states]
        if kind is GoalKind.PLACE and claimed and not known and destination is not None:
            kind = _TREATMENT[claimed[0]]
        cut = phrase.pieces or _S.SLICED in phrase.states or _S.SLICED in done
        count = phrase.count if phrase.count > 1 else self._plural_count(phrase, target)
        if kind is GoalKind.PLACE and count == 2:
            kind = GoalKind.PLACE_TWO
        return Goal(
            kind,
            target,
            destination,
            container,
            light,
            sliced=cut and kind is not GoalKind.SLICE,
            count=count,
            text=command.text,
            treatment=command.treatment,
        )

    def _plural_count(self, phrase: NounPhrase, target: Mention) -> int:
        if not phrase.plural or phrase.pieces or self._grounding.group(phrase.head) is not None:
            return 1
        if any(name.endswith("s") and name in phrase.text for name in self._kinds[target.object_class].names):
            return 1  # "the keys" are one KeyChain
        if not phrase.head:
            return self.context.count_of(target.object_class)
        return max(2, self.context.count_of(target.object_class))

    def _destination(self, command: Command) -> Mention | None:
        if command.to_user:
            return Mention("me", tuple(filter(None, (self._kinds.recipient,))))
        if command.original_place:
            return Mention("where it was", original_place=True)
        if not command.destination:
            return None
        if command.destination == THERE:
            return self.context.place
        phrase = read_noun_phrase(command.destination)
        if command.beside:
            beside = self._mention(phrase, None)
            return Mention(f"beside {beside}", beside.candidates, beside=True)
        return self._mention(phrase, self._holds)

    def _lamp(self, words: str) -> Mention:
        lamps = self._kinds.reading_lights
        named = self._mention(read_noun_phrase(words), lambda name: name in lamps) if words else Mention("the lamp")
        return named if named.candidates else Mention(named.text, self._at_home(lamps))

    def _carried(self, name: str) -> bool:
        return self._kinds[name].pickupable

    def _holds(self, name: str) -> bool:
        return self._kinds[name].is_receptacle or name == self._kinds.recipient

    def _mention(self, phrase: NounPhrase, fits: Callable[[str], bool] | None) -> Mention:
        """Return what a phrase means: by pronoun, by name, as one of a group, or by its description."""
        if not phrase.head:
            pieces = self.context.last_sliced() if phrase.pieces else ""
            focus = pieces or self.context.focus
            if fits is not None and focus and not fits(focus):  # "... in the cabinet and close it"
                focus = next(filter(fits, self.context.classes), focus)
            return Mention(phrase.text, (focus,) if focus else ())
        if phrase.description:
            meant = self._fitting(self._describe(phrase.text), fits)
            if meant:
                return Mention(phrase.text, meant, another=phrase.another, guessed=True)
        group = self._grounding.group(phrase.head)
        named = self._fitting(() if phrase.description else self._grounding.by_name(phrase.head), fits)
        if group is None and named:
            candidates = self._at_home(named) + self._instead(phrase, named, fits)
            return Mention(phrase.text, candidates, another=phrase.another)
        return self._described(phrase, group, named, fits)

    def _described(
        self,
        phrase: NounPhrase,
        group: tuple[str, ...] | None,
        named: tuple[str, ...],
        fits: Callable[[str], bool] | None,
    ) -> Mention:
        """Ground a description: what was just spoken of, then what memory recalls, then what the home has."""
        members = set(group or ()) | set(named)

        def admissible(names: Sequence[str]) -> list[str]:
            return [name for name in self._fitting(names, fits) if not members or self._kinds.whole(name) in members]

        if phrase.definite or group:
            spoken = admissible(self.context.classes)
            claimed = [name for name in spoken if self.context.states_of(name) & set(phrase.states)]
            spoken = claimed or spoken
            close = self._grounding.by_meaning(phrase.text, spoken) or tuple(spoken)
            if close:
                return Mention(phrase.text, close[:1], another=phrase.another)
        recalled = admissible(self._recall(phrase.text, phrase.states))
        if recalled and phrase.definite:
            return Mention(phrase.text, tuple(dict.fromkeys(recalled)), states=phrase.states)
        if named:
            return Mention(phrase.text, self._at_home(named))
        pool = admissible(sorted(members or self._home.all or self._kinds.names))
        at_home = [name for name in pool if not self._home.all or name in self._home.all]
        close = self._grounding.by_meaning(phrase.text, at_home or pool) or tuple(at_home[:1])
        return Mention(phrase.text, close, guessed=not group)

    def _members(self, phrase: NounPhrase) -> list[Mention]:
        """Return every thing spoken of that "both" or a plural group word ("the tableware") covers; [] for others."""
        if not phrase.head:
            return [Mention(phrase.text, (name,)) for name in self.context.together()]
        group = self._grounding.group(phrase.head)
        names = (
            self.context.classes if group == () else [name for name in self.context.classes if name in (group or ())]
        )
        return [Mention(phrase.text, (name,)) for name in names if self._carried(name)]

    def _fitting(self, names: Sequence[str], fits: Callable[[str], bool] | None) -> tuple[str, ...]:
        suitable = tuple(name for name in names if fits is None or fits(name))
        return suitable

    def _instead(
        self, phrase: NounPhrase, names: tuple[str, ...], fits: Callable[[str], bool] | None
    ) -> tuple[str, ...]:
        """Return what a home without any of the receptacles meant has that is most like them.

        A bowl that has not been seen yet may be anywhere: only what is fixed is missing because the home has none.
        """
        if fits != self._holds or not self._home.fixtures or set(names) & self._home.all:
            return ()
        if any(self._carried(name) for name in names):
            return ()
        able = sorted(filter(fits, self._home.fixtures))
        words = [self._kinds.alike(found) for found in map(self._grounding.by_name, phrase.head.split()) if found]
        close = frozenset.intersection(*words) if words else self._kinds.alike(names)
        similar = [name for name in able if name in close]
        return self._grounding.by_meaning(phrase.text, similar or able)

    def _at_home(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the classes with those that the home is known to have in front."""
        present = tuple(name for name in names if name in self._home.all)
        return present + tuple(name for name in names if name not in present)
