"""Which told facts bind an act: what must not be done, what cannot be used, what would harm somebody.

Facts are looked up by the thing, its class and its wholes, its place and the person of the act, never by similarity.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.clock import part_of_day
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.names import singular
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.skill import ObjectReference, SkillCall
from memory_node.knowledge.told.fact import Relation, Term, ToldFact, names_of_several, same_role, with_whose
from memory_node.knowledge.told.plainer import ANIMAL, BEING

# What is done to its first thing by a skill, in the verbs of people; "touch" and "use" are in all of them.
VERBS: dict[str, frozenset[str]] = {
    "PickupObject": frozenset({"move", "take", "carry", "lift", "handle", "throw"}),
    "PutObject": frozenset({"put", "give", "move"}),
    "ThrowObject": frozenset({"throw", "move"}),
    "OpenObject": frozenset({"open"}),
    "CloseObject": frozenset({"close", "shut"}),
    "CleanObject": frozenset({"wash", "clean", "rinse", "wet"}),
    "HeatObject": frozenset({"heat", "warm", "cook", "microwave", "bake", "boil", "fry", "toast"}),
    "CoolObject": frozenset({"cool", "chill", "freeze"}),
    "SliceObject": frozenset({"slice", "cut"}),
    "BreakObject": frozenset({"break"}),
    "FillObject": frozenset({"fill"}),
    "EmptyObject": frozenset({"empty"}),
    "ToggleOn": frozenset({"switch", "turn", "switch on", "turn on"}),
    "SwitchOn": frozenset({"switch", "turn", "switch on", "turn on"}),
    "ToggleOff": frozenset({"switch", "turn", "switch off", "turn off"}),
    "SwitchOff": frozenset({"switch", "turn", "switch off", "turn off"}),
}
_ANY_ACT = frozenset({"touch", "use"})
_USED = frozenset({"ToggleOn", "SwitchOn", "HeatObject", "CoolObject", "CleanObject", "FillObject"})
_EATEN = frozenset({"SliceObject", "HeatObject"})  # food that is told to be spoilt is not made ready to be eaten
_NEAR_M = 0.5
# "niece Anna", "Ben's aunt Vera".
_ROLE_AND_NAME = re.compile(r"(?P<role>(?:[A-Z][\w-]*'s )?[a-z-]+) (?P<name>[A-Z].*)")
# Of whom anybody may be: "kids".
_GROUP = re.compile(rf"(?:{BEING})(?:(?<=s)|(?<=ren))")
_ANIMAL = re.compile(ANIMAL)
_SPEAKER = frozenset({"i", "me", "we", "us"})


@dataclass(frozen=True)
class Act:
    """What is about to be done. thing: to what; place: where to or with which appliance; both as calls name things
    (an id, a class, "Class@x,y,z"), the place also by the name of a room; "" for none."""

    skill: str
    thing: str = ""
    place: str = ""

    @classmethod
    def of(cls, call: SkillCall) -> Act:
        """Return the act of a call."""
        first, second = (*call.arguments, "", "")[:2]
        return cls(call.skill, first, second)


@dataclass(frozen=True)
class Objection:
    """A told fact that speaks against an act. blocked: the thing that another one may take the part of, such as an
    appliance that is out of order: its id, "" where the act itself must not be done."""

    fact: ToldFact
    blocked: str = ""

    @property
    def text(self) -> str:
        """The fact in the words in which it was told."""
        return self.fact.text.rstrip(".")


class BindingFacts:
    """An index of told facts by what they are about: the class of a thing, or the name of a person.

    facts: in the order in which they were told. kinds: the label space. scene: what memory knows. now_ns: only what is
    true then is found. zone: of "in the evening".
    """

    def __init__(
        self,
        facts: Sequence[ToldFact],
        kinds: ObjectCatalogue,
        scene: SceneSnapshot,
        now_ns: int,
        zone: tzinfo | None = None,
    ) -> None:
        self.facts, self.kinds, self.zone = facts, kinds, zone
        self._by_class: dict[str, list[ToldFact]] = defaultdict(list)
        self._by_relation: dict[Relation, list[ToldFact]] = defaultdict(list)
        for fact in facts:
            self._by_relation[fact.relation].append(fact)
            for name in fact.subject.classes:
                self._by_class[folded(name)].append(fact)
        self.move_to(scene, now_ns)

    def move_to(self, scene: SceneSnapshot, now_ns: int) -> None:
        """Go by another scene and another moment; the index stays."""
        self.scene, self.now_ns = scene, now_ns
        self._part = part_of_day(now_ns, self.zone) if now_ns else ""
        self._roles = [one for one in self.of(Relation.CALLED) if not one.object.classes]
        self._several = names_of_several(self._roles)
        self._objects = {one.id: one for one in scene.objects if not one.removed}

    def of_facts(self, facts: Sequence[ToldFact]) -> BindingFacts:
        """Return an index of other facts in the same home at the same moment."""
        return BindingFacts(facts, self.kinds, self.scene, self.now_ns, self.zone)

    @property
    def current(self) -> list[ToldFact]:
        """The facts that are true now."""
        return self._true(self.facts)

    def _true(self, facts: Iterable[ToldFact], any_time: bool = False) -> list[ToldFact]:
        return [one for one in facts if one.true_at(self.now_ns, one.part_of_day if any_time else self._part)]

    def of(self, relation: Relation, any_time: bool = False) -> list[ToldFact]:
        """Return the facts of a relation that are true now; any_time: those of another time of the day, too."""
        return self._true(self._by_relation.get(relation, []), any_time)

    def concerns(self, act: Act) -> bool:
        """Return whether any fact may speak against an act, by the classes of its things alone; also where one of them
        is not in the scene that is gone by."""
        for text in filter(None, (act.thing, act.place)):
            found = self._found(text)
            class_name = self._class_of(text, found)
            if found is None and self.kinds.get(class_name) is None:
                return True
            kind = self.kinds[class_name]
            names = (class_name, self.kinds.whole(class_name), kind.part_of, kind.switched_by)
            if any(folded(name) in self._by_class for name in names if name):
                return True
            if Relation.AVOIDS in self._by_relation and self._is_person(text, found):
                return True
        return False

    # --- what forbids

    def objection(self, act: Act) -> Objection | None:
        """Return what speaks against an act, None where nothing does."""
        thing, place = self._found(act.thing), self._found(act.place)
        class_name = self._class_of(act.thing, thing)
        verbs = VERBS.get(act.skill, frozenset()) | (_ANY_ACT if act.skill in VERBS else frozenset())
        for fact in self._about(class_name, thing):
            if fact.relation is Relation.BROKEN and (act.skill in _EATEN or (act.skill in _USED and not act.place)):
                return Objection(fact, thing.id if thing is not None else "")
            if fact.verb == "leave" and act.skill == "PutObject" and self._is_elsewhere(fact.object, place, act.place):
                return Objection(fact)
            if fact.relation is Relation.NEVER and self._is_there(fact.object, place, act.place):
                if fact.verb in verbs:
                    return Objection(fact)
                if fact.verb == "put" and fact.object.words and act.skill in _USED:  # it would be put there for that
                    return Objection(fact, place.id if place is not None else act.place)
        if act.place and (act.skill in _USED or act.skill == "PutObject"):
            # What is only put there needs no tap.
            is_used = place is not None and act.skill in _USED
            closed = self._closed(place) if is_used and place else self._about(self._class_of(act.place, place), place)
            for fact in filter(forbids_use, closed):
                return Objection(fact, place.id if place is not None else act.place)
        if act.skill == "PutObject" and self._is_person(act.place, place):
            return self._harmful(class_name, place)
        return None

    def unusable(self) -> frozenset[str]:
        """Return the ids of the appliances that are told to be out of order or not to be used."""
        if not any(map(forbids_use, (*self.of(Relation.BROKEN), *self.of(Relation.NEVER)))):
            return frozenset()
        return frozenset(one.id for one in self._objects.values() if any(map(forbids_use, self._closed(one))))

    def repaired(self) -> dict[str, int]:
        """Return the ids of the things of which was told that they, or what they need, work again, and when (ns)."""
        told = [fact for fact in self._by_relation.get(Relation.BROKEN, ()) if not fact.holds]
        found: dict[str, int] = {}
        for thing in self._objects.values() if told else ():
            parts = self._with_needed(thing)
            stamps = [fact.told_ns for fact in told if any(self._is_meant(fact.subject, part) for part in parts)]
            if stamps:
                found[thing.id] = max(stamps)
        return found

    def _closed(self, thing: SceneObject) -> list[ToldFact]:
        """Return the facts about a thing, and about what it needs."""
        return [fact for one in self._with_needed(thing) for fact in self._about(one.class_name, one)]

    def _with_needed(self, thing: SceneObject) -> list[SceneObject]:
        """Return a thing, and what it needs: the sink of a basin, and its tap."""
        kind = self.kinds[thing.class_name]
        needed = [folded(name) for name in (kind.part_of, kind.switched_by) if name and name != kind.name]
        others = [one for one in self._objects.values() if needed and folded(one.class_name) in needed]
        return [thing, *(one for one in others if math.dist(one.box.center[:2], thing.box.center[:2]) <= _NEAR_M)]

    def _harmful(self, class_name: str, person: SceneObject | None) -> Objection | None:
        """Return what speaks against handing a thing to a person of the scene; who has no name is the speaker."""
        name = person.attributes.get("name") if person is not None else None
        return self.harm(class_name, str(name or "I"))

    def harm(self, class_name: str, person: str, place: str = "") -> Objection | None:
        """Return what speaks against giving somebody of a name a thing of a class: also for what it contains, and where
        it is spoilt. place: where it would be given, which somebody may have to avoid, too."""
        told = self._about(class_name, None)
        content = [one.object for one in told if one.relation is Relation.CONTAINS]
        at = self._class_of(place, self._found(place))
        classes = {folded(name) for name in (class_name, at, *(name for one in content for name in one.classes))}
        inside = [*(one.words for one in content), *self.kinds[class_name].names]
        for fact in self.of(Relation.AVOIDS):
            if not self._is_person_of(fact.subject, person):
                continue
            is_of_class = not classes.isdisjoint(map(folded, fact.object.classes))
            if is_of_class or any(self.kinds.names_food(words, fact.object.words) for words in inside):
                return Objection(fact)
        is_given = self.kinds[class_name].can(Property.EDIBLE) and self._is_somebody(person)
        return next((Objection(one) for one in told if one.relation is Relation.BROKEN and is_given), None)

    # --- persons

    def person_called(self, words: str) -> str:
        """Return the name of somebody who is called by a name or by a role ("brother", "my niece Anna")."""
        return self._person(words)[0]

    def persons_called(self, words: str) -> list[str]:
        """Return whom words may mean, each as "my niece Anna" where two people have one name or one role."""
        name, role = self._person(words)
        shared = self._several.get(name.lower(), ())
        if not role:
            return [f"{with_whose(one)} {name}" for one in shared] or [name]
        is_named = name.lower() in words.lower()
        called = self._called(role if is_named else words.removeprefix("my "))
        names = dict.fromkeys(f"{with_whose(one.subject.words)} {one.object.words}" for one in called)
        if len(names) > 1 and not is_named:
            return list(names)
        return [f"{with_whose(role)} {name}" if shared or len(names) > 1 else name]

    def _called(self, role: str) -> list[ToldFact]:
        """Return the facts that tell who is in a role."""
        return [one for one in self._roles if same_role(one.subject.words, role)]

    def _person(self, words: str) -> tuple[str, str]:
        """Return the name and role of somebody; "" where no role is told. Who speaks is "I"."""
        plain = words.removeprefix("my ")
        if plain.lower() in _SPEAKER:
            return "I", ""
        named = _ROLE_AND_NAME.fullmatch(plain)
        if named is not None:
            return named["name"], named["role"]
        called = self._called(plain)
        return (called[-1].object.words, called[-1].subject.words) if called else (plain, "")

    def roles_told(self, words: str) -> list[ToldFact]:
        """Return the facts that tell in which roles somebody is: "my niece is called Anna"."""
        name, role = self._person(words)
        told = [one for one in self._roles if one.object.words.lower() == name.lower()]
        return [one for one in told if not role or same_role(role, one.subject.words)]

    def _is_person_of(self, term: Term, words: str) -> bool:
        """Return whether a fact is of the person whom words mean; where either tells no role it may be."""
        if term.classes:
            return False
        if _GROUP.fullmatch(term.words.lower()):
            return self._may_be_one_of(term.words, words)
        name, role = self._person(f"{term.attributes} {term.words}".strip())
        wanted, wanted_role = self._person(words)
        if not same_role(name, wanted):
            return False
        return not (role and wanted_role) or same_role(role, wanted_role) or name.lower() not in self._several

    def _may_be_one_of(self, group: str, person: str) -> bool:
        """Return whether somebody is told to be one of the "kids"; where nobody is, any but the speaker may be, but for
        an animal."""
        if same_role(group, person):
            return True
        kind = re.compile(rf"(?:an? |the )?(?:\w+ )*{re.escape(singular(group.lower()))}", re.I)
        members = [one.subject for one in self.of(Relation.IS) if kind.fullmatch(one.object.words)]
        if not members:
            return self._person(person)[0] != "I" and _ANIMAL.fullmatch(group.lower()) is None
        return any(self._is_person_of(one, person) for one in members)

    def _is_somebody(self, words: str) -> bool:
        name = self._person(words)[0]
        return name == "I" or name in self.persons_here() or bool(self.about_person(words))

    def about_person(self, name: str) -> list[ToldFact]:
        """Return what was told of somebody, in the order in which it was told."""
        return [
            fact
            for fact in self.current
            if self._is_person_of(fact.subject, name)
            or (fact.relation is Relation.OWNED and self._is_person_of(fact.object, name))
        ]

    def persons_in(self, text: str) -> list[str]:
        """Return the persons of the facts that a text names, by a name or by a role."""
        roles = {fact.subject.words for fact in self._roles}
        of_people = (fact for fact in self.facts if fact.relation is not Relation.MEANS and not fact.subject.classes)
        names = {fact.subject.words for fact in of_people}
        names |= {fact.object.words for fact in self._by_relation.get(Relation.OWNED, ())}
        said = {one: _as_said(one, text) for one in roles | names}
        found = {one for role in roles if said[role] for one in self.persons_called(said[role])}
        named = {self.person_called(one) for one in found}
        # "My niece Anna" is not the colleague of that name.
        others = (one for one in names - roles - named if said[one])
        return sorted(found | {person for one in others for person in self.persons_called(one)})

    def persons_here(self) -> list[str]:
        """Return the names of the persons whom memory knows to be there."""
        recipient = folded(self.kinds.recipient)
        people = (one for one in self._objects.values() if folded(one.class_name) == recipient)
        return sorted(str(one.attributes["name"]) for one in people if one.attributes.get("name"))

    def bearing_on(self, text: str) -> list[ToldFact]:
        """Return all facts about the things and persons that a text names, and about the persons who are there."""
        named = self.kinds.spoken_names.named_in(text.lower())
        classes = {folded(name) for names in named for name in names[:1]}
        found = {id(fact): fact for name in sorted(classes) for fact in self._by_class.get(name, ())}
        people = dict.fromkeys([*self.persons_in(text), *self.persons_here()])
        found |= {id(fact): fact for name in people for fact in self.about_person(name)}
        return [fact for fact in self.facts if id(fact) in found and fact.true_at(self.now_ns, self._part)]

    def seat_of(self, name: str) -> ToldFact | None:
        """Return the newest fact that says where somebody is, works or sleeps: a piece of furniture."""
        told = [one for one in self.about_person(name) if one.relation in (Relation.AT, Relation.SLEEPS)]
        return max((one for one in told if one.object.classes), key=lambda one: one.told_ns, default=None)

    def liked_by(self, name: str, classes: Collection[str] = ()) -> dict[str, ToldFact]:
        """Return by class what somebody likes and may have; classes: of these alone, () for any."""
        wanted = {folded(one) for one in classes}
        liked = [fact for fact in self.about_person(name) if fact.relation is Relation.LIKES and fact.object.classes]
        found = {fact.object.classes[0]: fact for fact in liked}
        return {
            kind: fact
            for kind, fact in found.items()
            if (not wanted or folded(kind) in wanted) and self.harm(kind, name) is None
        }

    def preparation_for(self, name: str, class_name: str) -> ToldFact | None:
        """Return the newest fact that says how somebody likes things of a class: sliced, warm; its object's attributes
        tell the state."""
        liked = [one for one in self.about_person(name) if one.relation is Relation.LIKES and one.object.attributes]
        wanted = [one for one in liked if class_name in one.object.classes]
        return max(wanted, key=lambda one: one.told_ns, default=None)

    # --- things

    def meant_by(self, words: str) -> str:
        """Return what words are told to mean: "remote control" for "zapper"; else the words."""
        for fact in self.of(Relation.CALLED):
            if fact.object.classes and fact.subject.words.lower() == words.lower():
                return fact.object.words
        return words

    def thing_called(self, words: str) -> Term | None:
        """Return the things that were told of in just these words, "spare keys"; None where nothing is called so, and
        where it is not known which of several they are.

        It has the ids of those that memory knows. Where nothing but their place was told, they are also the only one of
        their class, and none that is known yet: a fact of another kind must not be lost by taking that one.
        """
        named = [fact for fact in self.current if fact.subject.attributes and fact.subject.words == words]
        only_placed = all(fact.relation is Relation.BELONGS for fact in named)
        if only_placed:  # it may have been told before a thing of its class was known
            named = [fact if fact.subject.object_ids else grounded(fact, self.scene, self.kinds) for fact in named]
        known = (
            replace(one.subject, object_ids=tuple(filter(self._objects.get, one.subject.object_ids))) for one in named
        )
        found = (one for one in known if one.object_ids or (only_placed and not self._knows(one.classes[0])))
        return next(found, None)

    def _knows(self, class_name: str) -> bool:
        return any(folded(one.class_name) == folded(class_name) for one in self._objects.values())

    def owned_by(self, name: str, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the ids of the things of some classes that are told to be somebody's."""
        spelt = {folded(one) for one in classes}
        found: dict[str, None] = {}
        for fact in self.of(Relation.OWNED):
            if not _is_vague(fact) and self._is_person_of(fact.object, name):
                meant = [one for one in self._objects.values() if self._is_meant(fact.subject, one)]
                found |= dict.fromkeys(one.id for one in meant if folded(one.class_name) in spelt)
        return tuple(found)

    def owned_by_others(self, name: str, classes: Iterable[str]) -> frozenset[str]:
        """Return the ids of the things of some classes that are told to be somebody's, and neither of somebody of that
        name nor the speaker's, not even in part."""
        owners = dict.fromkeys(fact.object.words for fact in self.of(Relation.OWNED))
        owned = {one for owner in owners for one in self.owned_by(owner, classes)}
        return frozenset(owned.difference(*(self.owned_by(who, classes) for who in (name, "I", "we"))))

    def owner_told(self, object_id: str) -> str:
        """Return the newest words that tell whose a thing is, "" for none."""
        thing = self._objects.get(object_id)
        told = [one for one in self.of(Relation.OWNED) if thing is not None and self._is_meant(one.subject, thing)]
        return max(told, key=lambda one: one.told_ns).text if told else ""

    def place_of(
        self, class_name: str, object_id: str = "", any_time: bool = False, called: str = ""
    ) -> ToldFact | None:
        """Return the newest fact that says where a thing belongs now; one that names the time of day comes first.
        any_time: or at another time of the day. called: the words for it: "spare keys" are those that were told of."""
        about = self._about(class_name, self._objects.get(object_id), any_time)
        told = [
            one
            for one in about
            if one.relation is Relation.BELONGS and (not _is_vague(one) or one.subject.words == called)
        ]
        return max(told, key=lambda one: (bool(one.part_of_day), one.told_ns), default=None)

    def _about(self, class_name: str, thing: SceneObject | None, any_time: bool = False) -> list[ToldFact]:
        whole = self.kinds.whole(class_name) if class_name else ""
        names = dict.fromkeys(folded(name) for name in (class_name, whole) if name)
        return [
            fact
            for name in names
            for fact in self._true(self._by_class.get(name, ()), any_time)
            if thing is None or self._is_meant(fact.subject, thing)
        ]

    def _is_meant(self, term: Term, thing: SceneObject) -> bool:
        known = [one for one in term.object_ids if one in self._objects]
        if known:
            return thing.id in known or thing.attributes.get("created_from") in known
        classes = {folded(name) for name in term.classes}
        return folded(thing.class_name) in classes or folded(self.kinds.whole(thing.class_name)) in classes

    def _is_there(self, term: Term, place: SceneObject | None, said: str) -> bool:
        """Return whether a place of an act is the one of a fact; a fact without a place is about any."""
        if not term.words:
            return True
        if not said:
            return False
        classes = {folded(name) for name in term.classes}
        if folded(self._class_of(said, place)) in classes:
            return True
        room = self.scene.room_of(place) if place is not None else said
        return room.lower() == term.words.lower()

    def _is_elsewhere(self, term: Term, place: SceneObject | None, said: str) -> bool:
        """Return whether no place that an act may mean is the one of a fact, where memory knows that."""
        rooms = {one.name.lower() for one in self.scene.rooms}
        alike = [place] if place is not None else [one for one in self._objects.values() if one.class_name == said]
        known = bool(term.classes) or term.words.lower() in rooms
        return known and not any(self._is_there(term, one, said) for one in alike or (None,))

    def _is_person(self, text: str, place: SceneObject | None) -> bool:
        return bool(text) and folded(self._class_of(text, place)) == folded(self.kinds.recipient)

    def _class_of(self, text: str, found: SceneObject | None) -> str:
        return found.class_name if found is not None else text.partition("@")[0]

    def _found(self, text: str) -> SceneObject | None:
        """Return the thing of the scene that a reference means; None for a class of which there are several."""
        if not text or text in self._objects:
            return self._objects.get(text)
        try:
            reference = ObjectReference.parse(text)
        except InvalidValueError:
            return None
        alike = [one for one in self._objects.values() if folded(one.class_name) == folded(reference.object_class)]
        if reference.position is None:
            return alike[0] if len(alike) == 1 else None
        x, y, z = reference.position
        far = [(sum((a - b) ** 2 for a, b in zip(one.box.center, (x, y, z))) ** 0.5, one) for one in alike]
        near = [pair for pair in far if pair[0] <= _NEAR_M]
        return min(near, key=lambda pair: pair[0])[1] if near else None


def forbids_use(fact: ToldFact) -> bool:
    """Return whether its subject is told to be out of order or not to be used."""
    return fact.relation is Relation.BROKEN or (fact.relation is Relation.NEVER and fact.verb == "use")


def _as_said(person: str, text: str) -> str:
    """Return how a text names somebody of a name or role, "" where it does not: Ben's aunt as "aunt", or as his."""
    name = person.rpartition("'s ")[2]
    said = re.findall(rf"(?:\b[\w-]+'s )?\b{re.escape(name)}\b", text, re.I) if name else []
    if not name.islower():
        return name if said else ""
    return next((one for one in said if same_role(person, one)), "")


def _is_vague(fact: ToldFact) -> bool:
    """Return whether it is of one of several things, and nobody knows which: "the blue mug" among three mugs, "the card
    in the drawer" while none is known there."""
    said = fact.subject
    return bool(said.attributes or said.place or said.room) and not said.object_ids


def grounded(fact: ToldFact, scene: SceneSnapshot, kinds: ObjectCatalogue) -> ToldFact:
    """Return a fact with memory's ids of the things that its subject means now: "the mug on the desk", "the vase".

    Without a place it is bound to a thing only where there is one of its class; "mugs" means them all, "keys" one.
    """
    term = fact.subject
    if not term.classes:
        return fact
    objects = {one.id: one for one in scene.objects if not one.removed}
    best, name = folded(term.classes[0]), term.words.lower().removeprefix(term.attributes).strip()
    alike = [one for one in objects.values() if folded(one.class_name) == best]
    if term.place or term.room:
        stands_on = {one.id: objects[one.support_id].class_name for one in alike if one.support_id in objects}
        placed = ([one for one in alike if folded(stands_on.get(one.id, "")) == folded(name)] for name in term.place)
        in_room = [one for one in alike if scene.room_of(one).lower() == term.room]
        # "The table" is of the first kind that has such a thing on it.
        alike = in_room if term.room else next(filter(None, placed), [])
    elif len(alike) != 1 or (name.endswith("s") and name not in kinds[term.classes[0]].names):
        return fact
    ids = tuple(sorted(one.id for one in alike))
    return fact.changed(subject=replace(term, object_ids=ids)) if ids else fact
