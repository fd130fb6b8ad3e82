"""From commands to goals, each in the context of what was said before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.asking_back import Question, Slot, UnclearError
from memory_node.planner.language.completeness import Completeness
from memory_node.planner.language.destinations import Destinations
from memory_node.planner.language.discourse import Discourse, is_movable
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.phrase_meaning import PhraseMeaning
from memory_node.planner.language.simple_goals import SimpleGoals
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.spoken_instruction import Remark
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.targets import Targets, is_of_unknown, known_things

_K, _S = GoalKind, ObjectState
_RAISING = frozenset(["lift", "get", "pull"])  # "get the door"; "hold the door" opens nothing
_TREATMENT = {_S.CLEANED: _K.CLEAN, _S.HEATED: _K.HEAT, _S.COOKED: _K.HEAT, _S.COLD: _K.COOL}


class Interpreter:
    """Turns commands into goals and remembers them as context for the next ones."""

    def __init__(self, kinds: ObjectCatalogue, meaning: PhraseMeaning, home: HomeClasses, discourse: Discourse) -> None:
        self._kinds = kinds
        self._meaning = meaning
        self._home = home
        self._discourse = discourse
        self._destinations = Destinations(kinds, meaning, home, discourse)
        self._completeness = Completeness(kinds, meaning)
        self._targets = Targets(kinds, meaning, home, discourse)
        self._simple = SimpleGoals(kinds, meaning, home, self._destinations, self._targets.several)
        self._topic: NounPhrase | None = None  # a room, or one of several: "bedroom, go", "the light, switch it off"

    def remark(self, remark: Remark) -> None:
        """Take note of things that were only spoken of."""
        first = remark.phrases[0] if remark.phrases else None
        generic = first is not None and first.generic
        self._topic = first if generic or (first is not None and first.room and remark.stands_first) else None
        if generic:
            return  # "the light, switch it off": which one is asked where it is handled
        named = known_things(remark)
        self._discourse.remark([name for name, _ in named])
        for name, phrase in named:
            self._discourse.note_quantity(name, *self._quantity(phrase, name))
        if remark.stands_first and named:
            self._discourse.topic = named[0][0]
        self._discourse.unknown = _unknown_of(remark) or self._discourse.unknown

    def read(self, command: Command) -> list[Goal]:
        """Return the goals of one command.

        Raises:
            UnclearError: it leaves open what matters.
        """
        goals = self._goals(command)
        self._discourse.take_over(goals, self._kinds)
        return goals

    def _goals(self, command: Command) -> list[Goal]:
        command = self._about_topic(command)
        simple = self._simple.of(command)
        if simple is not None:
            return simple
        command = self._with_targets(self._put_somewhere(command))
        self._completeness.check_poured(command)
        self._completeness.check_means(command)
        self._completeness.check_filled(command)
        if command.alternatives:
            return [self._either(command)]
        goals = [goal for phrase in command.targets for goal in self._goals_of(command, phrase)]
        goals += self._handing_over(command, goals)
        return goals + self._putting_pieces(command, goals)

    def _about_topic(self, command: Command) -> Command:
        """Return the command on what was named before it: "bedroom, go", "the light, switch it off"."""
        topic = self._topic
        if topic is None:
            return command
        going = command.kind is _K.GO and not (command.targets or command.to_user)
        again = command.on_it and topic.called is not None
        self._topic = None if again else topic
        return replace(command, targets=(topic,)) if going or again else command

    def _put_somewhere(self, command: Command) -> Command:
        """Return "[the mug, you] put on the bed" as placing: "put on the lamp" is read as switching it on."""
        place = command.targets[0].called if command.kind is _K.SWITCH_ON and command.verb == "put" else None
        kind = self._kinds[place.all[0]] if place else None
        if kind is None or not kind.can(Property.FIXED) or kind.can(Property.TOGGLEABLE):
            return command
        return replace(command, kind=_K.PLACE, targets=(), destination=command.targets[0])

    def _with_targets(self, command: Command) -> Command:
        """Return the command on what was spoken of last where it names nothing: "open the drawer and close"."""
        if command.targets:
            return command
        harmful = command.kind in (_K.BREAK, _K.THROW) and not command.away
        if harmful or not (self._discourse.said or self._discourse.topic):
            raise UnclearError(Question(f"What shall I {command.spoken_verb}?", slot=Slot.TARGET))
        focus = self._discourse.focus
        several = self._discourse.count_of(focus) > 1 or self._discourse.is_about_all(focus)
        word = "them" if several else "it"
        return replace(command, targets=(NounPhrase(word, 0, 0, pronoun=word, plural=several),))

    def _handing_over(self, command: Command, goals: Sequence[Goal]) -> list[Goal]:
        """Return the goals that bring the person what was made for them: "make me some toast"."""
        if not command.to_user or command.kind in (_K.PLACE, _K.FETCH, _K.THROW):
            return []
        return [self._handed_over(goal, command.text) for goal in goals if is_movable(goal.target, self._kinds)]

    def _putting_pieces(self, command: Command, goals: Sequence[Goal]) -> list[Goal]:
        """Return the goals that put the pieces of what is cut somewhere: "slice the tomato into the bowl"."""
        if command.kind is not _K.SLICE or command.destination is None or not command.destination.named:
            return []
        return [
            replace(goal, kind=_K.PLACE, destination=self._destinations.into(command, goal.target), sliced=True)
            for goal in goals
        ]

    def _handed_over(self, goal: Goal, text: str) -> Goal:
        target, person = replace(goal.target, referring=True), self._destinations.person("me")
        kind = _K.PLACE_TWO if goal.count == 2 else _K.PLACE
        return Goal(kind, target, person, count=goal.count, every=goal.every, text=text)

    # --- goals about things

    def _goals_of(self, command: Command, phrase: NounPhrase) -> list[Goal]:
        """Return the goals for one of the things that a command names: several where it names a group."""
        mentions = self._targets.several(command, phrase)
        several = len(mentions) > 1
        mentions = [one for one in mentions if one.object_class not in phrase.ruled_out]
        if not mentions or not several:
            return self._goals_for(command, phrase, self._targets.of(command, phrase))
        parts = [(one, replace(phrase, count=1) if phrase.called else self._alone(phrase, one)) for one in mentions]
        return [goal for mention, part in parts for goal in self._goals_for(command, part, mention)]

    def _goals_for(self, command: Command, phrase: NounPhrase, mention: Mention) -> list[Goal]:
        return [*self._filling(command, phrase, mention), self._goal(command, phrase, mention)]

    def _alone(self, phrase: NounPhrase, mention: Mention) -> NounPhrase:
        """Return the phrase of several things for one of them: how many were spoken of, of a group one."""
        if not phrase.refers_back:
            return replace(phrase, count=1, plural=False)
        name, spoken = mention.object_class, self._discourse
        return replace(phrase, count=spoken.count_of(name), plural=False, every=spoken.is_about_all(name))

    def _filling(self, command: Command, phrase: NounPhrase, target: Mention) -> list[Goal]:
        """Return what comes first for "a glass of water", unless it is one that is there already."""
        wanted = command.kind is _K.PLACE and not phrase.definite and phrase.text.endswith(" of water")
        if not wanted or not self._kinds[target.object_class].can(Property.FILLABLE):
            return []
        return [Goal(_K.FILL, target, text=command.text)]

    def _either(self, command: Command) -> Goal:
        """Return the goal of "a cup or a mug": any of them will do, one that is known before others."""
        mentions = [self._targets.of(command, phrase) for phrase in command.targets]
        names = dict.fromkeys(name for mention in mentions for name in mention.candidates)
        known = [name for name in names if name in self._home.all]
        text = " or ".join(mention.text for mention in mentions)
        target = Mention(text, tuple(dict.fromkeys((*known, *names))))
        return self._goal(command, command.targets[0], target)

    def _for_such_things(self, command: Command, target: Mention) -> Command:
        """Return the command with the treatment that is declared for such things, of those that share its verb: a table
        is wiped with a cloth where a mug is washed."""
        thing = self._kinds[target.object_class]
        said = self._kinds.treatment(command.treatment)
        verbs = {verb for verb in said.verbs if verb.split()[0] == command.verb} if said is not None else set()
        for other in self._kinds.treatments:
            abilities = SKILLS[other.skill].abilities_of("object")
            is_other = said is not None and other.skill != said.skill and bool(verbs & set(other.verbs))
            if is_other and abilities and not thing.pickupable and all(map(thing.satisfies, abilities)):
                return replace(command, kind=other.goal, treatment=other.name)
        return command

    def _goal(self, command: Command, phrase: NounPhrase, target: Mention) -> Goal:
        command = self._for_such_things(command, target)
        destination = self._destinations.of(command, target)
        target, container, phrase = self._stacked(command, phrase, target)
        light = self._destinations.light(command) if command.kind is _K.EXAMINE else None
        self._completeness.check_complete(command, target, destination)
        done = self._switched(command, target)
        self._check_possible(replace(command, kind=done), phrase, target)
        kind, target = self._by_claimed_state(done, phrase, target)
        sliced = {*phrase.states, *self._discourse.states_of(target.object_class)}
        cut = phrase.pieces or _S.SLICED in sliced
        cut |= target.referring and target.object_class in self._discourse.pieces  # "wash a slice and put it ..."
        count, every = self._quantity(phrase, target.object_class)
        self._check_counted(phrase, every or count > 1)
        if every:
            from_room = command.origin.room if command.origin is not None and command.origin.only_room else ""
            target = replace(target, room=phrase.told_room or from_room)
        if container is not None and destination is not None:
            kind = _K.STACK
        elif kind is _K.PLACE and count == 2:
            kind = _K.PLACE_TWO
        return Goal(
            kind,
            target,
            destination,
            container,
            light,
            sliced=cut and kind is not _K.SLICE,
            count=count,
            every=every,
            text=command.text,
            treatment=command.treatment,
        )

    def _check_counted(self, phrase: NounPhrase, several: bool) -> None:
        """Ask how many are meant, and which of several where some are ruled out that nobody can tell from others."""
        if phrase.uncounted:
            raise UnclearError(Question(f"How many are {phrase.text!r}?", slot=Slot.TARGET))
        if several and phrase.excluded and not phrase.ruled_out:
            raise UnclearError(
                Question(f"I cannot tell which of them is meant: {phrase.text!r}. Which one?", slot=Slot.TARGET)
            )

    def _check_possible(self, command: Command, phrase: NounPhrase, target: Mention) -> None:
        """Ask about what cannot be done, where somebody can be asked."""
        if not self._meaning.guesses:
            self._completeness.check_origin(command)
            self._completeness.check_carried_out(command, target)
            self._completeness.check_left(command)
            self._completeness.check_cut(command, phrase, target)
            self._completeness.check_able(command, target)

    def _by_claimed_state(self, kind: GoalKind, phrase: NounPhrase, target: Mention) -> tuple[GoalKind, Mention]:
        """Return the treatment that brings a claimed state about, and the thing without it: "put a clean mug ...".

        A thing that is so already, or that memory recalls so, is only placed.
        """
        claimed = [
            state for state in phrase.states if state in _TREATMENT and not (phrase.pointed_at or phrase.handled)
        ]
        if phrase.definite and "wet" in phrase.text.split() and not self._meaning.guesses:
            return kind, target  # "the wet towel" is wet
        if kind is not _K.PLACE or not claimed:
            return kind, target
        already = {*self._discourse.states_of(target.object_class), *self._recalled(phrase, target)}
        if already & set(claimed):
            return kind, target
        others = tuple(state for state in target.states if state not in claimed)
        return _TREATMENT[claimed[0]], replace(target, states=others)

    def _stacked(
        self, command: Command, phrase: NounPhrase, target: Mention
    ) -> tuple[Mention, Mention | None, NounPhrase]:
        """Return what is moved, what it is carried in, and its phrase: "a mug with a spoon in it"."""
        if command.kind is not _K.PLACE:
            return target, None, phrase
        carries = is_movable(target, self._kinds) and self._destinations.holds(target.object_class)
        if command.contents is not None and carries:
            inner = self._meaning.mention(command.contents, Slot.TARGET, self._carried)
            return inner, target, command.contents
        if command.within is not None and command.within.strange and not self._meaning.guesses:
            self._meaning.mention(command.within, Slot.DESTINATION)  # "in the jar on the desk" is in no desk
        if command.within is not None and command.within.named:
            container = self._meaning.mention(command.within, Slot.TARGET, self._destinations.holds)
            if is_movable(container, self._kinds):
                return target, container, phrase
        return target, None, phrase

    def _switched(self, command: Command, target: Mention) -> GoalKind:
        """Return SWITCH_OFF for "close the light", OPEN for "lift the lid": what can be done with the thing."""
        thing, kind = self._kinds[target.object_class], command.kind
        raised = kind is _K.FETCH and command.verb.split()[0] in _RAISING
        if raised and thing.can(Property.OPENABLE) and not thing.pickupable:
            return _K.OPEN
        switched = thing.can(Property.TOGGLEABLE) and not thing.can(Property.OPENABLE)
        if kind in (_K.OPEN, _K.CLOSE) and switched:
            return _K.SWITCH_ON if kind is _K.OPEN else _K.SWITCH_OFF
        return kind

    def _recalled(self, phrase: NounPhrase, target: Mention) -> Sequence[ObjectState]:
        """Return the states claimed of a thing that memory recalls in those states."""
        return phrase.states if self._meaning.recalls(phrase, target.object_class) else ()

    def _quantity(self, phrase: NounPhrase, name: str) -> tuple[int, bool]:
        """Return (how many, whether all)."""
        if phrase.count > 1:
            return phrase.count, False
        if phrase.every:
            return 1, True
        if not phrase.plural or phrase.pieces:
            return 1, False
        if phrase.refers_back:
            return self._discourse.count_of(name), self._discourse.is_about_all(name)
        some = phrase.text.startswith("some") and not phrase.definite and phrase.begin != phrase.end
        return (2, False) if some else (1, True)

    def _carried(self, name: str) -> bool:
        return self._kinds[name].pickupable


def _unknown_of(remark: Remark) -> str:
    """Return what a remark calls a thing of which nobody knows what it is, "" where it speaks of none."""
    named = known_things(remark)
    among = remark.phrases if named else remark.phrases[:1]
    return next((one.text for one in among if one.strange or (not named and is_of_unknown(one))), "")
