"""From commands to goals, each in the context of what was said before; asks for what a command leaves open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import ObjectKind, Property
from memory_node.domain.names import plural
from memory_node.domain.skill_library import SKILLS, GoalKind
from memory_node.domain.states import ObjectState
from memory_node.knowledge.text import bare
from memory_node.planner.goal import Condition, Goal, Mention
from memory_node.planner.reading.asked import CONTENTS, COUNT, EXISTS
from memory_node.planner.reading.command import Command, Part, Remark, named_classes
from memory_node.planner.reading.conversation import Slot, UnclearError
from memory_node.planner.reading.discourse import Discourse, is_movable
from memory_node.planner.reading.english import FROM, INTO
from memory_node.planner.reading.home_classes import HomeClasses
from memory_node.planner.reading.lexicon import Called
from memory_node.planner.reading.meaning import Fits, Meaning
from memory_node.planner.reading.noun_phrase import NounPhrase

_K, _S = GoalKind, ObjectState
_TREATMENT = {_S.CLEANED: _K.CLEAN, _S.HEATED: _K.HEAT, _S.COOKED: _K.HEAT, _S.COLD: _K.COOL}
_NEEDED = {
    _K.OPEN: Property.OPENABLE,
    _K.CLOSE: Property.OPENABLE,
    _K.SWITCH_ON: Property.TOGGLEABLE,
    _K.SWITCH_OFF: Property.TOGGLEABLE,
}
_CARRIED = frozenset({_K.PLACE, _K.FETCH, _K.THROW, _K.CLEAN, _K.HEAT, _K.COOL, _K.SLICE, _K.EXAMINE})
_MOVES_NOTHING = frozenset({_K.FILL, _K.EMPTY, _K.EXAMINE, _K.SLICE, _K.BREAK})
_TREATED = frozenset({_K.CLEAN, _K.HEAT, _K.COOL, _K.SLICE, _K.FILL, _K.EXAMINE, _K.BREAK, _K.EMPTY})
_DIRECTED = re.compile(r"\b(?:to|into|onto|from|off|out)\b")
_CARRYING = frozenset({"carry", "take", "bring", "move"})
_WITHOUT_SWITCH = (Property.FIXED, Property.OPENABLE, Property.DIRTYABLE, Property.EDIBLE)
_EVERYWHERE = frozenset({"house", "home", "flat", "apartment"})  # all that memory knows is there
_POWERED = (Property.TOGGLEABLE, Property.HEATS, Property.COOLS, Property.WATERS)
_EMPTIED = (Property.FILLABLE, Property.USABLE_UP, Property.OPENABLE, Property.DRAINS)


class Goals:
    """Turns commands into goals and remembers them as context for the next ones."""

    def __init__(self, kinds: ObjectCatalogue, meaning: Meaning, home: HomeClasses, discourse: Discourse) -> None:
        self._kinds = kinds
        self._meaning = meaning
        self._home = home
        self._discourse = discourse
        self._topic: NounPhrase | None = None

    def _remark(self, remark: Remark) -> None:
        """Take note of things that were only spoken of."""
        first = remark.phrases[0] if remark.phrases else None
        generic = first is not None and first.called is not None and self._meaning.is_generic(first.called)
        told = first is not None and first.handled
        self._topic = first if generic or told else None
        if generic:
            return  # "the light, switch it off": which one is asked where it is handled
        named = [one for one in remark.phrases if one.called is not None and not one.strange]
        self._discourse.remark([*named_classes(named[1:]), *named_classes(named[:1])])
        for phrase in named:
            name = named_classes([phrase])[0]
            self._discourse.note_quantity(name, *self._quantity(phrase, name))
        if named:
            self._discourse.topic = named_classes(named)[0]
        persons = [one.text for one in remark.phrases if one.text in self._home.people]
        self._discourse.note_persons(persons)
        if first is not None and first.strange and not persons:
            self._discourse.unknown = first.text

    def read(self, part: Part) -> list[Goal]:
        """Return the goals of one command; of a remark none, the things that it speaks of are taken note of.

        Raises:
            UnclearError: it leaves open what matters.
        """
        if isinstance(part, Remark):
            self._remark(part)
            return []
        first = part.condition is not None and part.condition[0].targets[0].begin < self._begin_of(part)
        condition = self._condition(part) if first else None
        goals = self._goals(part)
        self._discourse.take_over(goals, self._kinds)
        condition = condition or self._condition(part)
        return [goal.changed(condition=condition) for goal in goals] if condition is not None else goals

    def _begin_of(self, command: Command) -> int:
        return command.targets[0].begin if command.targets else 0

    def _condition(self, command: Command) -> Condition | None:
        if command.condition is None:
            return None
        asked, holds = command.condition
        return Condition(self._telling(asked.targets[0], asked)[0], holds)

    def _goals(self, command: Command) -> list[Goal]:
        if self._topic is not None and [one.pronoun for one in command.targets] == ["it"]:
            command, self._topic = replace(command, targets=(self._topic,)), None
        if command.kind in (_K.STOP, _K.WAIT):
            return [Goal(command.kind, Mention(""), text=command.text)]
        if command.kind is _K.GO:
            return self._going(command)
        if command.kind is _K.TELL or command.verb == CONTENTS:
            return [goal for phrase in command.targets for goal in self._telling(phrase, command)]
        if command.kind is _K.DROP and command.destination is None:
            return self._dropping(command)
        if command.kind is _K.DROP:
            command = replace(command, kind=_K.PLACE)
        command = self._with_targets(self._poured(command))
        self._check_means(command)
        if command.alternatives:
            return [self._either(command)]
        goals = [goal for phrase in command.targets for goal in self._goals_of(command, phrase)]
        if command.to_user and command.kind not in (_K.PLACE, _K.FETCH, _K.THROW):
            goals += [self._handed_over(goal) for goal in goals if is_movable(goal.target, self._kinds)]
        if command.kind in (_K.SLICE, _K.BREAK) and command.destination is not None and command.destination.named:
            goals += [self._put_afterwards(command, goal) for goal in goals]
        return goals

    # --- commands that need not name a thing

    def _going(self, command: Command) -> list[Goal]:
        if command.to_user and not command.targets:
            return [Goal(_K.GO, self._person("you"), text=command.text)]
        if not command.targets:
            raise UnclearError("Where shall I go?", slot=Slot.TARGET)
        phrase = command.targets[0]
        if phrase.only_room:
            return [Goal(_K.GO, Mention(phrase.room), text=command.text)]
        return [Goal(_K.FIND, self._meaning.mention(phrase, Slot.TARGET), text=command.text)]

    def _telling(self, phrase: NounPhrase, command: Command) -> list[Goal]:
        spared: tuple[str, ...] = ()
        if command.verb == CONTENTS and phrase.excluded is not None:
            if phrase.excluded.called is None or phrase.excluded.places:
                raise UnclearError(f"I can only tell all that is in or on {phrase.text}. Do you want to hear that?")
            spared = phrase.excluded.called.all
        every = phrase.plural or phrase.every
        kinds = self._kinds_of(command, phrase) if every and command.verb != "place" else []
        targets = kinds or [self._not_there(self._meaning.mention(phrase, Slot.TARGET), phrase)]
        if command.verb == CONTENTS and command.near:
            targets = [replace(one, beside=True) for one in targets]
        place = self._asked_at(phrase, command)
        asked = Goal(
            command.kind, Mention(""), asked=command.verb, every=every, spared=spared, text=command.text, place=place
        )
        return [replace(asked, target=one) for one in targets]

    def _asked_at(self, phrase: NounPhrase, command: Command) -> Mention | None:
        """Return the place that a question is about, of any kind that its words mean; None where it names none."""
        place = command.destination
        if place is not None and bare(place.text) in _EVERYWHERE:
            return None
        if place is not None and place.called is not None:
            return Mention(place.text, place.called.all, room=place.room, beside=command.near)
        if place is not None and not place.only_room:
            return replace(self._meaning.mention(place, Slot.DESTINATION), beside=command.near)
        room = place.room if place is not None else phrase.room if command.verb in (COUNT, EXISTS) else ""
        return Mention(room, room=room) if room else None

    def _dropping(self, command: Command) -> list[Goal]:
        phrase = command.targets[0] if command.targets else None
        if phrase is not None and (phrase.called is not None or phrase.strange):
            target = self._meaning.mention(phrase, Slot.TARGET)
            thing = self._kinds[target.object_class]
            closes = not thing.pickupable and thing.can(Property.OPENABLE)  # "put the lid down"
            return [Goal(_K.CLOSE if closes else _K.DROP, target, text=command.text)]
        held = self._home.held
        return [Goal(_K.DROP, Mention(held, (held,) if held else (), referring=True), text=command.text)]

    def _person(self, words: str) -> Mention:
        return Mention(words, tuple(filter(None, (self._kinds.recipient,))))

    # --- what a command is about

    def _with_targets(self, command: Command) -> Command:
        """Return the command on what was spoken of last where it names nothing: "open the drawer and close"."""
        if command.targets:
            return command
        harmful = command.kind in (_K.BREAK, _K.THROW) or command.verb in ("sit", "stand", "lean", "rest", "hang")
        if harmful or not (self._discourse.said or self._discourse.topic):
            raise UnclearError(f"What shall I {command.verb}?", slot=Slot.TARGET)
        focus = self._discourse.focus
        several = self._discourse.count_of(focus) > 1 or focus in self._discourse.whole
        word = "them" if several else "it"
        return replace(command, targets=(NounPhrase(word, pronoun=word, plural=several),))

    def _poured(self, command: Command) -> Command:
        """Return "pour the water out of the bowl" as emptying the bowl; ask about pouring from one into another."""
        water = command.targets[0].head == "water" and command.targets[0].strange if command.targets else False
        vessel = command.destination
        if water and command.kind is _K.PLACE and vessel is not None and vessel.called and not command.near:
            return replace(
                command, kind=_K.FILL, treatment="", targets=(vessel,), destination=None
            )  # "put water in the vase"
        if water and command.kind in (_K.PLACE, _K.FETCH) and command.origin is not None and vessel is None:
            return replace(command, kind=_K.EMPTY, treatment="", targets=(command.origin,), origin=None)
        removed = command.targets and command.targets[0].strange and command.kind is _K.CLEAN
        if removed and command.origin is not None:
            return replace(command, targets=(command.origin,), origin=None)  # "wipe the crumbs off the counter"
        into = " into " in command.text or " over " in command.text
        if water and into and command.kind is _K.EMPTY and command.origin is None and command.targets[0].places:
            return replace(command, kind=_K.FILL, treatment="", targets=(command.targets[0].places[-1][1],))
        if command.kind is not _K.EMPTY:
            return command
        places = [place for one in command.targets for sense, place in one.places if sense == INTO]
        drained = all(place.called and self._kinds[place.called.all[0]].can(Property.DRAINS) for place in places)
        into = any(word in command.text.split() for word in ("into", "onto", "to"))
        if command.to_user or (into and not drained):
            raise UnclearError("I cannot pour from one vessel into another. Shall I fill it at the tap, or empty it?")
        matter = command.targets and (command.targets[0].head in ("water", "coffee", "tea", "milk", "soup", "juice"))
        places = [place for sense, place in command.targets[0].places] if command.targets else []
        holder = command.origin or (places[0] if places and places[0].called else None)
        if matter and holder is not None:
            return replace(command, targets=(holder,), origin=None)
        return command

    def _goals_of(self, command: Command, phrase: NounPhrase) -> list[Goal]:
        """Return the goals for one of the things that a command names: several where it names a group."""
        phrase = self._from_one_place(command, phrase) if phrase.anything else phrase
        told = (phrase, command.destination, *(place for _, place in phrase.places))
        spared = [one.excluded for one in told if one is not None and one.excluded is not None]
        mentions = self._members(phrase) or self._kinds_of(command, phrase)
        if mentions and spared:
            self._check_spared(command, spared[0])
            mentions = self._without(mentions, spared, phrase)
        if len(mentions) < 2 and not (phrase.anything or (mentions and spared)):
            goal = self._goal(command, phrase, self._target(command, phrase))
            return [*self._filling(command, phrase), *_one_by_one(goal)]
        parts = [(one, self._alone(phrase, one)) for one in mentions]
        return [self._goal(command, part, mention) for mention, part in parts]

    def _check_spared(self, command: Command, spared: NounPhrase) -> None:
        """Ask about "everything in the fridge except the egg on the counter" where an egg is there: which one stays, or
        where the others go?"""
        place = command.destination
        if place is None or place.called is None or spared.called is None or _DIRECTED.search(command.text):
            return
        if self._home.number_of(spared.called.all[0], place.called.all):
            raise UnclearError(f"Do you mean {spared.text} that is at {place.text}, or shall the others go there?")

    def _without(self, mentions: Sequence[Mention], spared: Sequence[NounPhrase], phrase: NounPhrase) -> list[Mention]:
        """Return the kinds of a group but those that are ruled out: "all the cutlery, except the knife"."""
        if any(one.called is None or one.attributes or one.states or one.places for one in spared):
            raise UnclearError(f"I cannot tell which of them is meant: {phrase.text!r}. Which one?", slot=Slot.TARGET)
        names = {name for one in spared if one.called is not None for name in one.called.own or one.called.also}
        return [one for one in mentions if one.object_class not in names]

    def _members(self, phrase: NounPhrase) -> list[Mention]:
        """Return every thing spoken of that "both" or "all the tableware" covers; [] for others."""
        if not (phrase.plural or phrase.every or phrase.count > 1):
            return []
        names: Sequence[str]
        if phrase.anything:
            names = self._lying_there(phrase)
        elif phrase.refers_back and not (phrase.states or phrase.pieces or phrase.other):
            names = self._discourse.together()
            if not names and self._discourse.targets:
                raise UnclearError(f"What do you mean by {phrase.text!r}?", slot=Slot.TARGET)
        elif phrase.group and phrase.called is None:
            spoken = [name for name in self._discourse.classes[::-1] if name in phrase.group]
            at = [place.called.all for _, place in phrase.places if place.called is not None]
            here = [name for name in phrase.group if name in self._home.objects]
            there = [name for name in here if self._home.number_of(name, *at)]
            if not there and not self._meaning.guesses and self._kinds.spoken_names.answering(phrase.head):
                # "The dishes" are more kinds than are called so.
                raise UnclearError(f"Which ones are {phrase.text!r}?", slot=Slot.TARGET)
            here = there or here
            names = spoken if len(spoken) > 1 or not here else here  # one thing is not "all the cutlery"
            if len(names) < len(phrase.group) and not (self._home.surveyed or self._meaning.guesses):
                known = ", ".join(self._kinds[name].best_name for name in names) or "nothing"
                self._meaning.notes.append(f"Of {phrase.text!r} I know so far: {known}.")
        else:
            return []
        carried = [name for name in names if self._kinds[name].pickupable]
        return [Mention(phrase.text, (name,), phrase.states, referring=phrase.refers_back) for name in carried]

    def _from_one_place(self, command: Command, phrase: NounPhrase) -> NounPhrase:
        """Return "everything on the table" with the one kind of table that is meant."""
        told = [*(place for sense, place in phrase.places if sense in (INTO, FROM)), command.origin]
        place = next((one for one in told if one is not None and one.called is not None), None)
        if place is not None and command.kind is _K.FETCH and not command.to_user:
            raise UnclearError(f"Where shall I put {phrase.text}?", slot=Slot.DESTINATION)
        if place is None:
            raise UnclearError(f"Which things do you mean by {phrase.text!r}?", slot=Slot.TARGET)
        meant = self._meaning.mention(place, Slot.TARGET, self._holds)
        return replace(phrase, places=((INTO, replace(place, called=Called((meant.object_class,)))),))

    def _lying_there(self, phrase: NounPhrase) -> list[str]:
        """Return the classes of what lies where "everything on the desk" tells; but those that were spoken of already
        for "everything else"."""
        place = phrase.places[0][1]
        spoken = self._discourse.named_before() if phrase.other else ()
        there = {name for name in self._home.lying_on(place.called.all) if name not in spoken}  # type: ignore[union-attr]
        if not there:
            raise UnclearError(f"I know of nothing{' else' * phrase.other} in or on {place.text}. What do you mean?")
        return sorted(there)

    def _kinds_of(self, command: Command, phrase: NounPhrase) -> list[Mention]:
        """Return all kinds that a generic name covers: "all the lamps"."""
        called = phrase.called
        both = phrase.text.startswith("both ")
        several = phrase.every or (phrase.plural and command.kind is _K.TELL) or both
        if called is None or not several or not self._meaning.is_generic(called):
            return []
        needed = _NEEDED.get(command.kind)
        able = [name for name in called.also if needed is None or self._kinds[name].can(needed)]
        known = [name for name in able if name in self._home.all] or able
        return [Mention(phrase.text, (name,), phrase.states) for name in known] if not both or len(known) == 2 else []

    def _alone(self, phrase: NounPhrase, mention: Mention) -> NounPhrase:
        name, spoken = mention.object_class, self._discourse
        if not phrase.refers_back:
            one_of_each = phrase.called is None or phrase.count > 1  # "both shakers"
            return replace(phrase, count=1, plural=False) if one_of_each else phrase
        return replace(phrase, count=spoken.count_of(name), plural=False, every=name in spoken.whole)

    def _target(self, command: Command, phrase: NounPhrase) -> Mention:
        """Return the thing that a phrase of a command means: one with which that can be done."""
        needed = _NEEDED.get(command.kind)
        if needed is Property.TOGGLEABLE and phrase.head == "water" and self._kinds.able(Property.WATERS):
            return self._meaning.tap(phrase)
        if needed is not None:
            return self._own_door(phrase) or self._with(needed, phrase)
        if phrase.part and command.kind in _CARRIED and command.kind is not _K.CLEAN:
            raise UnclearError(f"I do not know {phrase.text!r} apart from the {phrase.head}. What do you mean?")
        return self._meaning.mention(phrase, Slot.TARGET, self._fits(command, phrase))

    def _fits(self, command: Command, phrase: NounPhrase) -> Fits | None:
        if command.kind is _K.SLICE and phrase.refers_back:
            return lambda name: bool(self._kinds[name].slices)
        if command.kind is _K.HEAT and command.treatment and phrase.refers_back:
            usual = self._kinds.usual_treatment(_K.HEAT)
            if self._kinds.treatment(command.treatment) != usual:
                return lambda name: self._kinds[name].can(Property.EDIBLE)
        if command.kind in _CARRIED:
            return lambda name: self._kinds[name].pickupable
        if command.kind is _K.FILL:
            return lambda name: self._kinds[name].can(Property.FILLABLE) or self._kinds[name].can(Property.DRAINS)
        return None

    def _own_door(self, phrase: NounPhrase) -> Mention | None:
        """Return the furniture that was just used, for "close the door" behind it."""
        told = phrase.attributes or phrase.places or phrase.owner or phrase.other or phrase.plural or phrase.room
        place = self._discourse.place if phrase.head in ("door", "lid") and phrase.definite and not told else None
        if place is None or place.beside or not self._kinds[place.object_class].can(Property.OPENABLE):
            return None
        return Mention(phrase.text, place.candidates, referring=True)

    def _with(self, needed: Property, phrase: NounPhrase) -> Mention:
        """Return the thing to open or to switch; by a second name only one that can be."""
        mention = self._meaning.mention(phrase, Slot.TARGET, lambda name: self._kinds[name].can(needed))
        thing = self._kinds[mention.object_class]
        second = phrase.called is not None and not phrase.called.own
        if second and thing.pickupable and not thing.can(needed) and not self._meaning.guesses:
            known = f"I know {phrase.text!r} only as the {thing.best_name}, with which that cannot be done."
            raise UnclearError(f"{known} What do you mean?", slot=Slot.TARGET)
        return mention

    # --- one goal

    def _filling(self, command: Command, phrase: NounPhrase) -> list[Goal]:
        """Return what comes first for "a glass of water"."""
        if command.kind is not _K.PLACE or phrase.definite or phrase.matter != "water":
            return []
        return [Goal(_K.FILL, self._meaning.mention(phrase, Slot.TARGET), text=command.text)]

    def _either(self, command: Command) -> Goal:
        """Return the goal of "a cup or a mug": any of them will do, one that is known before others."""
        mentions = [self._target(command, phrase) for phrase in command.targets]
        names = dict.fromkeys(name for mention in mentions for name in mention.candidates)
        known = [name for name in names if name in self._home.all]
        text = " or ".join(mention.text for mention in mentions)
        return self._goal(command, command.targets[0], Mention(text, tuple(dict.fromkeys((*known, *names)))))

    def _handed_over(self, goal: Goal) -> Goal:
        kind = _K.PLACE_TWO if goal.count == 2 else _K.PLACE
        target = replace(goal.target, referring=True)
        return Goal(kind, target, self._person("me"), count=goal.count, every=goal.every, text=goal.text)

    def _put_afterwards(self, command: Command, goal: Goal) -> Goal:
        kind = _K.PLACE_TWO if goal.count == 2 else _K.PLACE
        place = self._into(command, goal.target)
        return replace(goal, kind=kind, destination=place, sliced=command.kind is _K.SLICE)

    def _goal(self, command: Command, phrase: NounPhrase, target: Mention) -> Goal:
        command = self._switched(self._for_such_things(command, target), target)
        if command.verb == "leave" and command.to_user:
            raise UnclearError(f"Shall I leave {phrase.text} where it is, or bring it to you?")
        destination = self._destination(command, target)
        container = None
        if command.vessel is not None:
            container = self._meaning.mention(command.vessel, Slot.DESTINATION, self._holds)
            container = self._where_it_is(container, command.vessel.places)
        if command.to_user and command.destination is not None and command.kind is _K.PLACE:
            container, destination = destination, self._person("me")  # "bring it to me on a plate"
        if phrase.contents is not None and command.kind is _K.PLACE and is_movable(target, self._kinds):
            container, phrase = target, phrase.contents
            target = self._meaning.mention(phrase, Slot.TARGET)
        self._meaning.check_described(phrase, target, Slot.TARGET)
        if command.destination is not None and destination is not None:
            self._meaning.check_described(command.destination, destination, Slot.DESTINATION)
        light = self._meaning.lamp(command.light) if command.kind is _K.EXAMINE else None
        self._check_complete(command, target, destination)
        if not self._meaning.guesses:
            self._check_possible(command, phrase, target)
        kind, target = self._by_claimed_state(command.kind, phrase, target)
        spoken, name = self._discourse, target.object_class
        is_piece = phrase.pieces or (target.referring and name in spoken.pieces and name not in spoken.whole)
        is_cut = not is_piece and _S.SLICED in {*phrase.states, *spoken.states_of(name)}
        count, every = self._quantity(phrase, name)
        every |= phrase.pieces and phrase.plural and phrase.definite and phrase.count == 1 and not phrase.uncounted
        if is_cut and kind is _K.PLACE and count == 1 and phrase.text.split()[:1] != ["some"]:
            every |= not self._meaning.guesses
        self._check_counted(phrase)
        if not (phrase.refers_back and phrase.pronoun != "one"):
            told = [one for one in phrase.places if one[0] == FROM or not self._is_done_at(command, one[1])]
            told += self._listed_at(command, phrase, name, every)
            target = self._not_there(self._where_it_is(target, told, phrase.room, every), phrase)
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
            sliced=(is_piece or is_cut) and kind is not _K.SLICE,
            count=count,
            every=every,
            text=command.text,
            treatment=command.treatment,
        )

    def _listed_at(
        self, command: Command, phrase: NounPhrase, name: str, every: bool
    ) -> Sequence[tuple[str, NounPhrase]]:
        """Return where the last thing of a list is, or is taken from: "the cup and the pen from the desk". The others
        are there, too, where memory knows them there and no words tell another place."""
        last = command.targets[-1]
        if phrase is last or every:
            return [(FROM, command.origin)] if command.origin is not None else []
        places = [(FROM, command.origin)] if command.origin is not None else [*last.places]
        at = [place.called.all for _, place in places if place.called is not None]
        is_known = not phrase.places and at and self._home.number_of(name, *at)
        return [one for one in places if one[1].called is not None] if is_known else []

    def _is_done_at(self, command: Command, place: NounPhrase) -> bool:
        """Return whether "wash the mug in the sink" says where that is done; "the mug on the desk" says which."""
        work = {name for one in self._kinds.treatments for name in one.at}
        elsewhere = command.kind in _TREATMENT.values() and place.called and work.isdisjoint(place.called.all)
        return command.kind in _TREATED and not elsewhere

    def _not_there(self, thing: Mention, phrase: NounPhrase) -> Mention:
        """Return a thing that is neither where nor how the one is that is ruled out: "the book, not the one on the
        desk", "the mug that is not dirty"."""
        if phrase.excluded is None or not _is_alike(phrase, phrase.excluded):
            return thing
        places = [place.called for sense, place in phrase.excluded.places if sense == INTO and place.called is not None]
        if len(places) < len(phrase.excluded.places):
            raise UnclearError(f"I cannot tell which of them is meant: {phrase.text!r}. Which one?", slot=Slot.TARGET)
        off = tuple(name for called in places for name in called.own or called.also)
        return replace(thing, off=off, unlike=phrase.excluded.states)

    def _where_it_is(
        self, thing: Mention, places: Sequence[tuple[str, NounPhrase]], room: str = "", every: bool = False
    ) -> Mention:
        """Return a thing with the furniture and the room that words tell of it: no other one is meant. Where nobody
        can be asked, any will do."""
        inside = [place for sense, place in places if sense in (INTO, FROM)]
        room = next(filter(None, (room, *(place.room for place in inside if place.only_room))), "")
        if every:
            thing = replace(thing, room=room)
        if self._meaning.guesses:
            return thing
        beside = any(sense not in (INTO, FROM) for sense, _ in places)
        if beside and self._home.number_of(thing.object_class) > 1:
            name = self._kinds[thing.object_class].best_name
            raise UnclearError(f"I know of several {plural(name)}, and cannot tell which one that is. Which one?")
        thing = replace(thing, room=room) if self._home.has_room(room) else thing
        if not is_movable(thing, self._kinds):
            return thing
        on = next((place.called.own or place.called.also for place in inside if place.called is not None), ())
        return replace(thing, on=on)

    def _switched(self, command: Command, target: Mention) -> Command:
        """Return "close the light" as switching it off."""
        thing = self._kinds[target.object_class]
        if command.kind in (_K.OPEN, _K.CLOSE) and thing.can(Property.TOGGLEABLE) and not thing.can(Property.OPENABLE):
            return replace(command, kind=_K.SWITCH_ON if command.kind is _K.OPEN else _K.SWITCH_OFF)
        return command

    def _for_such_things(self, command: Command, target: Mention) -> Command:
        """Return the command with the treatment that is declared for such things, of those that share its verb: a table
        is wiped with a cloth where a mug is washed. Of several the one that is called as the verb is meant."""
        thing = self._kinds[target.object_class]
        said = self._kinds.treatment(command.treatment)
        verbs = (
            {verb for verb in said.verbs if verb.split()[0] == command.verb.split()[0]} if said is not None else set()
        )
        declared = []
        for other in self._kinds.treatments:
            abilities = SKILLS[other.skill].abilities_of("object")
            is_other = said is not None and other.skill != said.skill and bool(verbs & set(other.verbs))
            if is_other and abilities and not thing.pickupable and all(map(thing.satisfies, abilities)):
                declared.append(other)
        meant = next((one for one in declared if one.name in verbs), next(iter(declared), None))
        return command if meant is None else replace(command, kind=meant.goal, treatment=meant.name)

    def _by_claimed_state(self, kind: GoalKind, phrase: NounPhrase, target: Mention) -> tuple[GoalKind, Mention]:
        """Return the treatment that brings a claimed state about, and the thing without it: "put a clean mug ...".

        A thing that is so already, or that memory recalls so, is only placed.
        """
        pointed_at = phrase.text.split()[:1] in (["this"], ["that"], ["these"], ["those"])
        claimed = [state for state in phrase.states if state in _TREATMENT and not (pointed_at or phrase.handled)]
        known_apart = phrase.definite and phrase.plural and not self._meaning.guesses  # "the clean cups" are so already
        if kind is not _K.PLACE or not claimed or known_apart:
            return kind, target
        recalled = set(phrase.states) if self._meaning.recalls(phrase, target.object_class) else set()
        if (recalled | self._discourse.states_of(target.object_class)) & set(claimed):
            return kind, target
        others = tuple(state for state in target.states if state not in claimed)
        return _TREATMENT[claimed[0]], replace(target, states=others)

    def _quantity(self, phrase: NounPhrase, name: str) -> tuple[int, bool]:
        """Return how many are meant, and whether all."""
        if phrase.refers_back and phrase.plural and phrase.count == 1 and not phrase.every:
            return self._discourse.count_of(name), name in self._discourse.whole
        if phrase.refers_back and phrase.pronoun in ("it", "that", "this"):
            return 1, False
        if phrase.spare:
            places = [place.called.all for _, place in phrase.places if place.called is not None]
            left = self._home.number_of(name, *places) - phrase.spare
            if left < 1:
                raise UnclearError(f"I know of no more than {phrase.spare} of them. Which one?", slot=Slot.TARGET)
            return left, False
        return phrase.count, phrase.every

    # --- where to

    def _destination(self, command: Command, target: Mention) -> Mention | None:
        """Return where the target goes; None where the command moves nothing, or does not tell."""
        if command.kind in _MOVES_NOTHING:
            return None
        if command.destination is not None:
            return self._into(command, target)
        if command.to_user:
            return self._person("me") if command.kind in (_K.PLACE, _K.FETCH) else None
        if command.way == "bin":
            return Mention("the bin", self._kinds.bins)
        if command.way == "away" and self._meaning.guesses:
            order = self._kinds.hiding_places(target.object_class)
            known = [name for name in order if name in self._home.all]
            return Mention("away", tuple(dict.fromkeys((*known, *order))), guessed=True)
        if command.way == "back":
            return Mention("where it was", original_place=True)
        if command.there and command.kind is _K.PLACE:
            if self._discourse.place is None:
                raise UnclearError("Where do you mean?", slot=Slot.DESTINATION)
            return replace(self._discourse.place, referring=True)
        return None

    def _into(self, command: Command, target: Mention) -> Mention:
        phrase = command.destination
        assert phrase is not None
        if phrase.only_room:
            return self._somewhere_in(phrase.room)
        beside_any = command.near and phrase.plural  # "near the pens"
        several = (phrase.every or phrase.count > 1) and not beside_any
        if several or "own" in phrase.attributes:
            raise UnclearError(f"Which one is {phrase.text!r}?", slot=Slot.DESTINATION)
        if phrase.other and command.targets[:1] and command.targets[0].plural:  # another one for each?
            raise UnclearError(f"Which one is {phrase.text!r}?", slot=Slot.DESTINATION)
        if command.near or command.under:
            beside = self._meaning.mention(phrase, Slot.DESTINATION)
            if command.under and not self._kinds[beside.object_class].can(Property.BREWS):
                name = self._kinds[beside.object_class].best_name
                words = f"I cannot put anything under the {name}. Shall I put it beside the {name}?"
                raise UnclearError(words, (name,), slot=Slot.DESTINATION)
            if target.referring and beside.referring and beside.candidates == target.candidates:
                name = self._kinds[target.object_class].best_name
                raise UnclearError(f"Which {name} shall I put beside which?", slot=Slot.TARGET)
            return beside if command.under else self._beside(beside)
        place = self._meaning.mention(phrase, Slot.DESTINATION, self._holds, partner=target.object_class)
        if target.candidates and place.candidates[:1] == target.candidates[:1] and not place.referring:
            raise UnclearError(f"I know {target.text!r} only as the {place}. What do you mean?", slot=Slot.TARGET)
        if place.candidates and not self._holds(place.object_class):
            if command.verb in _CARRYING:
                return self._beside(place)  # "carry the vase to the lamp"
            if not self._meaning.guesses:
                self._refuse_place(place)
        room = phrase.told_room
        known = room and self._home.has_room(room)
        return self._where_it_is(replace(place, room=room) if known else place, phrase.places)

    def _refuse_place(self, place: Mention) -> None:
        thing = self._kinds[place.object_class]
        if thing.can(Property.EDIBLE) or (not thing.pickupable and thing.can(Property.TOGGLEABLE)):
            raise UnclearError(
                f"I cannot put anything in or on the {thing.best_name}. Where shall it go?", slot=Slot.DESTINATION
            )

    def _beside(self, place: Mention) -> Mention:
        return Mention(f"beside {place}", place.candidates, beside=True, stand_ins=place.stand_ins)

    def _holds(self, name: str) -> bool:
        return self._kinds[name].is_receptacle or name == self._kinds.recipient

    def _somewhere_in(self, room: str) -> Mention:
        """Leave the place in a room to the robot."""
        if self._meaning.guesses:
            raise UnclearError(f"Where in the {room}?", slot=Slot.DESTINATION)
        if self._home.rooms and not self._home.has_room(room):
            here = tuple(sorted(self._home.rooms))
            raise UnclearError(f"I know no {room} here. Where do you mean?", here, Slot.DESTINATION)
        return Mention(room, room=room)

    # --- what has to be asked

    def _check_means(self, command: Command) -> None:
        """Ask what an unknown appliance, vessel, tool or place is; and about what things cannot be filled with."""
        if command.under and command.kind is not _K.PLACE:
            raise UnclearError("I do nothing under things. What shall I do?")
        for phrase in command.phrases:
            liquid = phrase.head in ("water", "soap") and command.kind in (_K.FILL, _K.CLEAN)
            if phrase.strange and phrase not in command.targets and not self._meaning.guesses and not liquid:
                is_place = phrase is command.destination
                self._meaning.mention(phrase, Slot.DESTINATION if is_place else Slot.COMMAND)
        matter = command.instrument if command.kind is _K.FILL else None
        if matter is not None and not matter.refers_back and matter.head != "water" and not self._meaning.guesses:
            raise UnclearError(f"I can fill things with water only. What shall I do about {matter.text!r}?")
        if command.kind in _TREATED:
            inside = (
                place for one in command.targets for _, place in one.places if place.strange and place.head != "water"
            )
            strange = next(inside, None)
            if strange is not None and not self._meaning.guesses:
                self._meaning.mention(strange, Slot.COMMAND)

    def _check_counted(self, phrase: NounPhrase) -> None:
        if phrase.uncounted:
            raise UnclearError(f"How many are {phrase.text!r}?", slot=Slot.TARGET)
        told = phrase.excluded is not None and (phrase.excluded.places or phrase.excluded.states)
        if (phrase.every or phrase.count > 1) and _is_alike(phrase, phrase.excluded) and not told:
            raise UnclearError(f"I cannot tell which of them is meant: {phrase.text!r}. Which one?", slot=Slot.TARGET)

    def _check_possible(self, command: Command, phrase: NounPhrase, target: Mention) -> None:
        """Ask about what cannot be done, and what is taken out of its like."""
        thing = self._kinds[target.object_class]
        taken = phrase.called.all[0] if phrase.called else ""
        if command.origin is not None and command.origin.called and command.origin.called.all[0] == taken:
            raise UnclearError(f"What is {phrase.text!r} in {command.origin.text!r}?", slot=Slot.TARGET)
        out = command.kind is _K.FETCH and command.origin is None and "out" in command.text.split()
        if out and thing.name in self._kinds.bins:
            raise UnclearError(f"I do not leave the home. What shall I do with the {thing.best_name}?")
        if (
            (command.kind is _K.SLICE or phrase.pieces)
            and thing.name
            and not self._kinds[self._kinds.whole(thing.name)].slices
        ):
            raise UnclearError(f"I cannot cut the {thing.best_name}. What shall I cut?", slot=Slot.TARGET)
        carried = command.kind in (_K.PLACE, _K.FETCH, _K.THROW) and target.referring
        if carried and thing.name in self._kinds and not thing.pickupable:
            what = f"I cannot carry the {thing.best_name}. What do you mean by {phrase.text!r}?"
            raise UnclearError(what, slot=Slot.TARGET)
        if target.candidates and thing.name in self._kinds and not self._is_able(command.kind, thing):
            what = str(command.kind).replace("_", " ")
            raise UnclearError(f"I cannot {what} the {thing.best_name}. What do you mean?")

    def _is_able(self, kind: GoalKind, thing: ObjectKind) -> bool:
        """Return whether a goal of a kind is possible; what a person would try counts as possible."""
        if kind in (_K.HEAT, _K.COOL):
            return not any(thing.can(one) for one in (Property.FIXED, Property.HEATS, Property.COOLS))
        if kind in (_K.SWITCH_ON, _K.SWITCH_OFF):
            dead = thing.is_receptacle or any(thing.can(one) for one in _WITHOUT_SWITCH)
            return self._kinds.is_kettle(thing.name) or not dead or any(thing.can(one) for one in _POWERED)
        if kind in (_K.OPEN, _K.CLOSE):
            return thing.can(Property.OPENABLE) or not (thing.holds == "on" or thing.can(Property.DRAINS))
        if kind in (_K.PLACE, _K.FETCH, _K.THROW):
            return not thing.can(Property.FIXED)
        emptied = thing.is_receptacle or any(thing.can(one) for one in _EMPTIED) or thing.name in self._kinds.bins
        return kind is not _K.EMPTY or emptied

    def _check_complete(self, command: Command, target: Mention, destination: Mention | None) -> None:
        """Ask for what a command leaves out: where a thing goes, or what is to be taken out of furniture."""
        thing = self._kinds[target.object_class]
        if command.kind is _K.PLACE and destination is None:
            where = f"Where shall I {command.verb} the {thing.best_name}?" if target.candidates else "Where does it go?"
            raise UnclearError(where, slot=Slot.DESTINATION)
        if command.kind is _K.FILL and target.candidates and not self._takes_water(thing):
            raise UnclearError(f"What shall I put in the {thing.best_name}?")
        unloaded = command.kind is _K.EMPTY or command.verb in ("unload", "clear")
        if unloaded and thing.can(Property.OPENABLE) and not thing.pickupable:
            raise UnclearError(f"What shall I take out of the {thing.best_name}?")

    def _takes_water(self, thing: ObjectKind) -> bool:
        """Return whether water can be let into it: nobody fills a box or a plate with it."""
        wet = any(thing.can(one) for one in (Property.FILLABLE, Property.DRAINS, Property.WATERS))
        dry = thing.is_receptacle or thing.can(Property.USABLE_UP)
        return wet or self._kinds.is_vessel(thing.name) or (thing.pickupable and not dry)


def _is_alike(phrase: NounPhrase, excluded: NounPhrase | None) -> bool:
    """Return whether what is ruled out may be one of the things that a phrase means."""
    if excluded is None:
        return False
    both = excluded.called is not None and phrase.called is not None
    same = both and bool(set(excluded.called.all) & set(phrase.called.all))  # type: ignore[union-attr]
    return same or bool(excluded.pronoun) or excluded.strange


def _one_by_one(goal: Goal) -> list[Goal]:
    """Return a goal of several things in a vessel that goes somewhere as what it takes: they are put into the vessel,
    then that goes there."""
    if goal.container is None or goal.kind is not _K.STACK or (goal.count == 1 and not goal.every):
        return [goal]
    kind = _K.PLACE_TWO if goal.count == 2 else _K.PLACE
    filled = replace(goal, kind=kind, destination=goal.container, container=None)
    return [filled, Goal(_K.PLACE, replace(goal.container, referring=True), goal.destination, text=goal.text)]
