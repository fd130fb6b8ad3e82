"""Finds the things, places and persons that plain words mean, with what memory knows of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.states import ObjectState, adjective_of
from memory_node.domain.step import Deed
from memory_node.knowledge.told.binding import BindingFacts
from memory_node.knowledge.told.fact import ToldFact
from memory_node.planner.goal import Mention
from memory_node.planner.reading.conversation import Question, Slot, UnclearError
from memory_node.planner.reading.english import is_indefinite
from memory_node.planner.reading.named_things import speaker_id
from memory_node.questions.done import PlainPast, UnreadableError, Way
from memory_node.questions.past import THING_OF_DEED, Phrase, past_form, phrase_of, verb_of, with_whole_verbs
from memory_node.questions.present import PresentQuestions

_SURE = 0.5
_OPEN_WISH = re.compile(
    r"^(?:(?:a|some) snack|something to (?P<doing>eat|drink)|"
    r"(?:his|her|their|my|[A-Z][\w-]*'s) favou?rite (?P<kind>\w+))$"
)


@dataclass
class References:
    """What words mean in one instruction.

    kinds: the label space; scene: what memory knows; facts: what was told; deeds: what the robot did, the newest last;
    unseen: what is to be asked about somebody whose place nobody knows. now_ns, zone: what "yesterday" counts from.
    notes: what was taken for what, for people. verb: of the command that is read, which tells what is meant by "again".
    taken_from: by its id, the support of a thing that was moved since. way, asked: see PlainPast.
    """

    kinds: ObjectCatalogue
    scene: SceneSnapshot
    facts: Sequence[ToldFact]
    deeds: Sequence[Deed]
    now_ns: int
    zone: tzinfo | None = None
    notes: list[str] = field(default_factory=list)
    verb: str = ""
    taken_from: Mapping[str, str] = field(default_factory=dict)
    way: Way | None = None
    asked: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.binding = BindingFacts(self.facts, self.kinds, self.scene, self.now_ns, self.zone)
        self.plain_past = PlainPast(
            self.kinds, self.scene, self.binding, self.deeds, self.now_ns, self.zone, self.way, self.asked
        )
        self.past = self.plain_past.past
        self.present = PresentQuestions(
            self.kinds, self.scene, lambda _: self.scene, self.now_ns, self.zone, self.binding.person_called
        )
        self._objects = {one.id: one for one in self.scene.objects if not one.removed}
        self._present = frozenset(one.class_name for one in self._objects.values())
        self._named: Mention | None = None
        self._mentions: list[Mention] = []
        self._person = ""
        self.unseen: Question | None = None

    def as_of(self, stamp_ns: int) -> References:
        """Return what words meant at a stamp: the past before it, and things where the robot took them from since."""
        before = [deed for deed in self.deeds if deed.stamp_ns < stamp_ns]
        moved = (deed for deed in self.deeds if deed.stamp_ns >= stamp_ns and deed.skill == "PickupObject")
        taken_from = {deed.object_id: deed.from_id for deed in reversed([*moved]) if deed.from_id}
        return References(
            self.kinds, self.scene, self.facts, before, stamp_ns, self.zone, self.notes, taken_from=taken_from
        )

    def knows(self, object_id: str) -> bool:
        """Return whether memory still has a thing."""
        return object_id in self._objects

    def is_gone(self, thing: Mention) -> bool:
        """Return whether memory knows of none of a kind that can be carried, although every place was looked at."""
        pieces = [self.kinds[name].slices for name in thing.candidates]
        movable = any(self.kinds[name].pickupable for name in thing.candidates)
        return movable and self.scene.surveyed and not self._of((*thing.candidates, *pieces))

    def settle(self, object_id: str) -> None:
        """Let "it" mean one thing from here on."""
        if self._named is not None and self.knows(object_id):
            self._named = replace(self._named, thing_id=object_id)

    # --- things

    def phrase(self, words: str) -> Phrase:
        """Return what words say of a thing.

        Raises:
            UnreadableError: they name no class.
        """
        room = self._room_called(words.rpartition(" in ")[2]) if " in " in words else ""
        here = {one.class_name for one in self._objects.values() if self._room_of(one) == room}
        phrase = phrase_of(words, self.kinds, here if room else self._present)
        if phrase is None:  # a name that somebody gave to a kind of thing
            named = bare(words)
            meant = self.binding.meant_by(named)
            phrase = phrase_of(meant, self.kinds, self._present) if meant != named else None
        if phrase is None:
            raise UnreadableError(words)
        return self._as_the_home_has_it(phrase)

    def _as_the_home_has_it(self, phrase: Phrase) -> Phrase:
        """Return the phrase for another class that is called so, where the home is known to have none of the first:
        "the lamp" is a floor lamp where there is no other."""
        if phrase.pronoun or self._of(phrase.classes):
            return phrase
        for name in phrase.others:
            if self._of((name,)) and (self.scene.surveyed or not self.kinds[name].pickupable):
                return replace(phrase, classes=(name,))
        return phrase

    def wished(self, who: str, words: str) -> Mention:
        """Return what somebody is to get who is to be given "a snack", "something to drink" or "her favourite fruit":
        the one thing that they are told to like.

        Raises:
            UnreadableError: nothing is open.
            UnclearError: nothing or more than one thing is told to be liked.
        """
        open_wish = _OPEN_WISH.match(words)
        if open_wish is None:
            raise UnreadableError(words)
        food = self.kinds.group("food") or ()
        group = self.kinds.group(open_wish["kind"]) or () if open_wish["kind"] else food
        liked = self.binding.liked_by(self._person or who, () if open_wish["doing"] == "drink" else group)
        if open_wish["doing"] == "drink":
            liked = {name: fact for name, fact in liked.items() if name not in food}
        if len(liked) != 1:
            known = [one.text.rstrip(".") for one in self.binding.about_person(self._person or who)]
            told = f" I was told: {'; '.join(dict.fromkeys(known))}." if known else ""
            raise UnclearError(f"What shall I bring {'you' if who == 'me' else who}?{told}")
        self.note(liked.values())
        return Mention(words, tuple(liked))

    def thing(self, words: str, wanted: ObjectState | None = None, able: Property | None = None) -> Mention:
        """Return the thing that words mean. wanted: the state that it is to be brought into, which tells what is meant
        among several: a full cup is what can be emptied. able: what it must be able to, which tells what "it" is: of
        an egg and a pan, the pan is switched on; and what may be meant by "a lamp".

        Raises:
            UnreadableError, UnclearError.
        """
        said = THING_OF_DEED.match(with_whole_verbs(words))
        if said is not None:
            return self._named_by(said)
        told = self.binding.thing_called(bare(words))
        phrase = self.phrase(words) if told is None else Phrase(words, told.classes[:1])
        if phrase.several and not (phrase.verb or phrase.again or phrase.owner):
            raise UnreadableError(words)  # all of them, or so many as were spoken of
        if phrase.pronoun:
            if able is not None:
                return self._named_last(words, lambda one: self.kinds[one.object_class].can(able))
            if self._named is None:
                raise UnreadableError(words)
            return self._named
        ids = self._told_apart(phrase, wanted) if told is None else told.object_ids
        if ids is None:
            ids = self._by_state(phrase.classes, wanted)
        only_placed = ids is not None and len(ids) > 1 and not (phrase.verb or phrase.again or phrase.owner)
        any_in = self._room_called(phrase.place) if only_placed else ""  # any of those in the room
        thing_id = self._latest(ids) if ids and not any_in else ""
        classes = (self._objects[thing_id].class_name,) if thing_id else phrase.classes
        if able is not None and not thing_id and is_indefinite(words) and not phrase.another:
            alike = (name for name in phrase.others if self.kinds[name].can(able) and self._of((name,)))
            classes = (*classes, *alike)  # any that is called so will do where nothing has to be carried
        mention = Mention(phrase.text, classes, phrase.states, phrase.another, room=any_in, thing_id=thing_id)
        self._named = mention
        self._mentions.append(mention)
        return mention

    def _named_by(self, said: re.Match[str]) -> Mention:
        """Return what "the first thing that you brought me today" means."""
        verb, to, time, way, at = (said[one] or "" for one in ("verb", "to", "time", "way", "at"))
        deeds = self.plain_past.handled(verb, (), to, time, way, at)
        deeds = {"first": deeds[:1], "last": deeds[-1:]}.get(said["which"], deeds)
        meant = {one.object_id: one.object_class for one in deeds if self.knows(one.object_id)}
        if len(meant) != 1:
            raise UnclearError(f"I do not know what you mean by {said.group()!r}. What is it called?")
        ((thing_id, name),) = meant.items()
        self._named = Mention(said.group(), (name,), thing_id=thing_id)
        self._mentions.append(self._named)
        return self._named

    def are_several_open(self, words: str) -> bool:
        """Return whether words mean a kind of which several stand open, and nothing tells one of them apart; "a drawer"
        and "this drawer" are one."""
        is_called = self.binding.thing_called(bare(words)) is not None
        if is_called or is_indefinite(words) or words.lower().startswith(("this ", "that ")):
            return False
        phrase = self.phrase(words)
        if phrase.pronoun or self._told_apart(phrase) is not None:
            return False
        return len(self._by_state(phrase.classes, ObjectState.CLOSED) or ()) > 1

    def _named_last(self, words: str, fits: Callable[[Mention], bool]) -> Mention:
        found = next(filter(fits, reversed(self._mentions)), None)
        if found is None:
            raise UnreadableError(words)
        return found

    def _told_apart(self, phrase: Phrase, wanted: ObjectState | None = None) -> tuple[str, ...] | None:
        """Return the ids of the things that a phrase tells apart from others of their class; None where it does not."""
        ids: set[str] | None = None
        if phrase.verb:
            ids = set(self._handled(phrase))
        elif phrase.again:
            same = [one for one in self.past.found(self.verb, phrase.classes) if one.object_id]
            last = same[-1] if same and verb_of(self.verb) else self.past.last_of(phrase.classes)
            ids = {last.object_id} if last is not None and self.knows(last.object_id) else None
            if last is not None and ids is None and len(self._of(phrase.classes)) > 1:
                raise self._lost(phrase, f"I no longer know which {self._name_of(phrase)} that was")
        if phrase.owner and phrase.owner != "my":
            ids = self._both(ids, self._owned(phrase))
        elif phrase.owner == "my":
            owned = set(self.binding.owned_by("I", phrase.classes)) or self._unowned(phrase)
            ids = self._both(ids, owned) if owned else ids
        if phrase.place and ids is None:
            ids = set(self._placed(phrase))
            if not ids:
                raise UnreadableError(phrase.text)  # memory knows of none: it has to be looked for
        if phrase.states and ids is None:
            alike = self._of(phrase.classes)
            with_states = {one.id for one in alike if set(phrase.states) <= _states(one)}
            ids = with_states or None
            if alike and ids is None and not (is_indefinite(phrase.text) or wanted):
                self._check_state(phrase, len(alike))
        return None if ids is None else tuple(sorted(ids))

    def _check_state(self, phrase: Phrase, number: int) -> None:
        """Ask which of several is "the broken plate" where none is known to be so; take the only one, and say so."""
        name, state = self._name_of(phrase), adjective_of(phrase.states[0])
        if number > 1:
            raise self._lost(phrase, f"I do not know which {name} is {state}")
        self.notes.append(f"I know of one {name} only, and not that it is {state}.")

    def _handled(self, phrase: Phrase) -> Iterable[str]:
        # "The lamp that you turned on" may be of any class that is called so.
        for classes in filter(None, (phrase.classes, phrase.others)):
            deeds = self.plain_past.handled(phrase.verb, classes, phrase.to, phrase.time, phrase.way, phrase.at)
            ids = [one.object_id if one.object_class in classes else one.to_id for one in deeds]
            left = self._what_is_left(next(filter(None, reversed(ids)), ""))
            if left:
                return left[-1:]
            if any(ids):
                raise self._lost(phrase, f"I no longer know which {self._name_of(phrase)} that was")
        at = f" {phrase.way} the {phrase.at}" if phrase.at else ""
        when = f" {phrase.time}" if phrase.time else ""
        did = past_form(verb_of(phrase.verb) or phrase.verb)
        raise self._lost(phrase, f"I do not remember a {self._name_of(phrase)} that I {did}{at}{when}")

    def _lost(self, phrase: Phrase, why: str) -> UnclearError:
        return UnclearError(f"{why}. Which one do you mean?", about=phrase.text)

    def _name_of(self, phrase: Phrase) -> str:
        return self.kinds[phrase.classes[0]].best_name

    def _what_is_left(self, object_id: str) -> list[str]:
        """Return a thing's id, or the ids of the pieces that it was cut into."""
        if self.knows(object_id):
            return [object_id]
        return [
            one.id for one in self._objects.values() if object_id and one.attributes.get("created_from") == object_id
        ]

    def _owned(self, phrase: Phrase) -> set[str]:
        owner = phrase.owner.removesuffix("'s").removesuffix("'")
        who = self._person if owner in ("his", "her", "their") else owner.removeprefix("my ")
        if not who:
            raise UnreadableError(phrase.text)
        owned = set(self.binding.owned_by(who, phrase.classes))
        if not owned:
            raise self._lost(phrase, f"I was not told which {self._name_of(phrase)} is {who}'s")
        self.note(fact for fact in self.binding.current if fact.object.words.lower() == who.lower())
        return owned

    def _unowned(self, phrase: Phrase) -> set[str]:
        """Return what may be the speaker's since it is nobody else's; nothing where nothing is told of others."""
        others = self.binding.owned_by_others("I", phrase.classes)
        left = {one.id for one in self._of(phrase.classes)} - others if others else set()
        if others and not left:
            told = self.binding.owner_told(next(iter(others))).rstrip(".")
            raise self._lost(phrase, f"I was told: {told}. I know of no other {self._name_of(phrase)}")
        return left

    def _placed(self, phrase: Phrase) -> Iterable[str]:
        """Return what stands on or in a place, or in a room, by memory."""
        things = self._of(phrase.classes)
        if self._room_called(phrase.place):
            return {one.id for one in things if self._room_of(self._support_then(one) or one) == phrase.place.lower()}
        named = self.kinds.spoken_names.answering(phrase.place.lower().removeprefix("the "))
        if not named:
            raise UnreadableError(phrase.text)
        for name in named:  # "the table" is of the first kind that has such a thing on it
            supports = {one.id: one for one in self._of((name,))}
            found = {
                one.id
                for one in things
                if self.taken_from.get(one.id, one.support_id) in supports
                or (not one.support_id and any(_encloses(support, one) for support in supports.values()))
            }
            if found:
                return found
        return ()

    def _support_then(self, one: SceneObject) -> SceneObject | None:
        return self._objects.get(self.taken_from.get(one.id, ""))

    def _room_called(self, words: str) -> str:
        """Return the name of the room that words name, "" for none."""
        name = bare(words.lower())
        return next((one.name.lower() for one in self.scene.rooms if one.name and one.name.lower() == name), "")

    def _by_state(self, classes: Sequence[str], wanted: ObjectState | None) -> tuple[str, ...] | None:
        """Return the things that a change of state is meant for: those that are known to be its opposite."""
        if wanted is None:
            return None
        before = wanted.contrary
        found = [one.id for one in self._of(classes) if before in _states(one)]
        return tuple(found) or None

    def _latest(self, ids: Sequence[str]) -> str:
        return max(ids, key=lambda one: (self._objects[one].last_seen_ns, one)) if ids else ""

    def _of(self, classes: Sequence[str]) -> list[SceneObject]:
        spelt = {folded(name) for name in classes}
        return [one for one in self._objects.values() if folded(one.class_name) in spelt]

    def _room_of(self, one: SceneObject) -> str:
        return self.scene.room_of(one).lower()

    def _both(self, first: set[str] | None, second: set[str]) -> set[str]:
        return second if first is None else first & second

    # --- places

    def place(self, words: str, thing: Mention | None = None) -> Mention:
        """Return the furniture, container or room that words mean. thing: what goes there; of furniture of several
        kinds that is called so, such as tables, the only one in its room is meant.

        Raises:
            UnreadableError, UnclearError.
        """
        room = self._room_called(words)
        if room:
            return Mention(words, (), room=room)
        beside = self._only_one_beside(words, thing) if thing is not None else None
        if beside is not None:
            return beside
        named = self._named
        if self.phrase(words).pronoun:
            return self._named_last(words, lambda one: one != named and self.kinds[one.object_class].is_receptacle)
        mention = self.thing(words)
        self._named = named  # "it" is what is carried, not where to
        return mention

    def _only_one_beside(self, words: str, thing: Mention) -> Mention | None:
        """Return the only furniture in a thing's room that is called so; None where the words alone tell it."""
        noun = words.lower().removeprefix("the ")
        called = self.kinds.spoken_names.answering(noun)
        known = [self._objects[thing.thing_id]] if thing.thing_id in self._objects else self._of(thing.candidates)
        here = [one for one in called if one in self._present]
        rooms = {self._room_of(one) for one in known}
        if self.kinds.spoken_names.only_class(noun) or len(here) < 2 or len(rooms) != 1 or is_indefinite(words):
            return None
        room = rooms.pop()
        beside = [one for one in self._of(here) if room and self._room_of(one) == room]
        if len(beside) != 1 or not self.kinds[beside[0].class_name].is_receptacle:
            return None
        name = self.kinds[beside[0].class_name].best_name
        self.notes.append(f"By {words} I understand the {name}: it is in the {room}, where the {thing} is.")
        return Mention(words, (beside[0].class_name,), thing_id=beside[0].id)

    def is_room(self, words: str) -> bool:
        """Return whether words name a room."""
        return bool(self._room_called(words))

    def is_in_room(self, thing: Mention, place: Mention) -> bool:
        """Return whether a place is a room, and the thing is known to be in it."""
        known = self.scene.by_id.get(thing.thing_id)
        return bool(place.room) and not place.candidates and known is not None and self._room_of(known) == place.room

    def where_it_belongs(self, thing: Mention, asks: str = "") -> Mention:
        """Return where people said that a thing belongs now. asks: words by which nothing but that can be meant, unless
        the robot itself took the thing from its place; "" for others.

        Raises:
            UnreadableError, UnclearError: nobody told it.
        """
        fact = self.binding.place_of(thing.object_class, thing.thing_id, called=bare(thing.text))
        if fact is None:
            ids = [thing.thing_id] if thing.thing_id else [one.id for one in self._of(thing.candidates)]
            if asks and not any(self.past.place_before(one) for one in ids):
                name = self.kinds[thing.object_class].best_name
                told = f"I do not know where the {name} belongs"
                other = self.binding.place_of(thing.object_class, thing.thing_id, any_time=True)
                raise UnclearError(
                    f"{other.text.rstrip('.') if other is not None else told}. Where shall I put it?", about=asks
                )
            raise UnreadableError(thing.text)
        self.note([fact])
        if fact.object.classes:
            try:
                return self.place(f"the {fact.object.words.replace(' of the ', ' in the ')}")
            except UnreadableError:
                # Another drawer would be the wrong one; a bowl may have been moved since.
                is_fixed = not self.kinds[fact.object.classes[0]].pickupable
                if is_fixed and fact.object.place and len(self._of(fact.object.classes[:1])) != 1:
                    unknown = f"{fact.text.strip().rstrip('.')}, and I know of no {fact.object.words}."
                    raise UnclearError(f"{unknown} Where shall I put it?", about=asks) from None
                return Mention(fact.object.words, fact.object.classes, room=fact.object.room)
        return Mention(fact.object.words, (), room=fact.object.words.lower())

    def where_it_was(self, thing: Mention) -> tuple[Mention, Mention]:
        """Return a thing, and where it stood before the robot last took it.

        Raises:
            UnclearError: the robot does not remember to have moved it.
        """
        ids = [thing.thing_id] if thing.thing_id else [one.id for one in self._of(thing.candidates)]
        taken = [deed for one in ids if (deed := self.past.place_before(one)) is not None and deed.from_class]
        if not taken:
            name = self.kinds[thing.object_class].best_name
            raise UnclearError(f"I do not remember that I moved the {name}. Where shall I put it?")
        last = max(taken, key=lambda deed: deed.stamp_ns)
        known = last.from_id if last.from_id in self._objects else ""
        self._named = thing = Mention(thing.text, thing.candidates, thing.states, thing_id=last.object_id)
        name = self.kinds[last.from_class].best_name
        self.notes.append(f"It stood on or in the {name} before I moved it.")
        return thing, Mention(f"the {name}", (last.from_class,), thing_id=known)

    # --- persons

    def person(self, words: str) -> Mention:
        """Return somebody to hand things to: "me", a name, "my brother", "her".

        Raises:
            UnreadableError: the words name nobody whom memory knows of.
        """
        people = self._of((self.kinds.recipient,)) if self.kinds.recipient else []
        if words.lower() in ("me", "us"):
            return Mention("me", (self.kinds.recipient,), thing_id=speaker_id(people))
        called = self._person if words.lower() in ("him", "her", "them") else words.removeprefix("my ")
        name = self.binding.person_called(called)
        found = [one for one in people if str(one.attributes.get("name", "")).lower() == name.lower()]
        if not name:
            raise UnreadableError(words)
        meant = self.binding.persons_called(called)
        if len(meant) > 1:
            choices = " or ".join(one.replace("my ", "your ", 1) for one in meant)
            raise UnclearError(f"Whom do you mean: {choices}?", tuple(meant), about=words)
        if not found:
            return self._unseen_person(meant[0], called, people)
        if name != called:
            self.note(self.binding.roles_told(meant[0]))
        self._person = meant[0]
        # People walk about: where somebody was seen last is where they are.
        return Mention(meant[0], (self.kinds.recipient,), thing_id=max(found, key=lambda one: one.last_seen_ns).id)

    def _unseen_person(self, name: str, called: str, people: Sequence[SceneObject]) -> Mention:
        """Return where somebody is told to be whom memory has not seen; else the only people whom nobody names."""
        seat = self.binding.seat_of(name)
        if seat is not None:
            self._person = name
            self.note([seat])
            return Mention(name, seat.object.classes)
        if name == called and not self.binding.about_person(name):
            raise UnreadableError(called)
        if name != called or not people or any(one.attributes.get("name") for one in people):
            asked = f"I do not know where {self.binding.person_called(name)} is. Where shall I bring it?"
            self.unseen = Question(asked, slot=Slot.DESTINATION)
        self._person = name
        return Mention(name, (self.kinds.recipient,))

    def note(self, facts: Iterable[ToldFact]) -> None:
        """Tell people which facts were used."""
        self.notes += [fact.text for fact in facts if fact.text and fact.text not in self.notes]


def bare(words: str) -> str:
    """Return words for a thing without "the" and "my"."""
    return words.removeprefix("the ").removeprefix("my ")


def _encloses(place: SceneObject, one: SceneObject) -> bool:
    """Return whether the middle of a thing lies in the box of a place: what is shut in may have no known support."""
    return bool(place.box.contains(one.box.center[None, :])[0])


def _states(one: SceneObject) -> set[ObjectState]:
    return {belief.state for belief in one.states if belief.probability >= _SURE}
