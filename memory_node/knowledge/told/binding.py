"""Which told facts bind an act: what must not be done, what cannot be used, what would harm somebody.

Facts are looked up by the thing, its class and its wholes, its place and the person of the act, never by similarity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.skill import SkillCall
from memory_node.domain.time_zone import part_of_day
from memory_node.knowledge.told.fact import Relation, Term, ToldFact

# What is done to its first thing by a skill, in the verbs of people; "touch" and "use" are in all of them.
_VERBS: dict[str, frozenset[str]] = {
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
    "ToggleOn": frozenset({"switch", "turn"}),
    "SwitchOn": frozenset({"switch", "turn"}),
    "ToggleOff": frozenset({"switch", "turn"}),
    "SwitchOff": frozenset({"switch", "turn"}),
}
_ANY_ACT = frozenset({"touch", "use"})
_USED = frozenset({"ToggleOn", "SwitchOn", "HeatObject", "CoolObject", "CleanObject", "FillObject"})
_NEAR_M = 0.5


@dataclass(frozen=True)
class Act:
    """What is about to be done. thing: to what; place: where to or with which appliance; both as calls name things
    (an id, a class, "Class@x,y,z"), "" for none."""

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


@dataclass
class BindingFacts:
    """The facts that are true now, by what they are about.

    kinds: the label space. scene: what memory knows. zone: of "in the evening".
    """

    facts: Sequence[ToldFact]
    kinds: ObjectCatalogue
    scene: SceneSnapshot
    now_ns: int
    zone: tzinfo | None = None
    _by_class: dict[str, list[ToldFact]] = field(default_factory=lambda: defaultdict(list), init=False)

    def __post_init__(self) -> None:
        part = part_of_day(self.now_ns, self.zone) if self.now_ns else ""
        self.current = [fact for fact in self.facts if fact.true_at(self.now_ns, part)]
        for fact in self.current:
            for name in fact.subject.classes:
                self._by_class[folded(name)].append(fact)
        self._objects = {one.id: one for one in self.scene.objects if not one.removed}

    # --- what forbids

    def objection(self, act: Act) -> Objection | None:
        """Return what speaks against an act, None where nothing does."""
        thing, place = self._found(act.thing), self._found(act.place)
        class_name = self._class_of(act.thing, thing)
        verbs = _VERBS.get(act.skill, frozenset()) | (_ANY_ACT if act.skill in _VERBS else frozenset())
        for fact in self._about(class_name, thing):
            if fact.relation is Relation.BROKEN and act.skill in _USED and not act.place:
                return Objection(fact, thing.id if thing is not None else "")
            if fact.relation is Relation.NEVER and fact.verb in verbs and self._is_there(fact.object, place, act.place):
                return Objection(fact)
        if act.place and act.skill in _USED:
            for fact in self._about(self._class_of(act.place, place), place):
                if _bans_use(fact):
                    return Objection(fact, place.id if place is not None else act.place)
        if act.skill == "PutObject" and self._is_person(act.place, place):
            return self._harmful(class_name, place)
        return None

    def unusable(self) -> frozenset[str]:
        """Return the ids of the appliances that are told to be out of order or not to be used."""
        banned = [fact for fact in self.current if _bans_use(fact)]
        return frozenset(
            one.id for one in self._objects.values() for fact in banned if self._is_meant(fact.subject, one)
        )

    def _harmful(self, class_name: str, person: SceneObject | None) -> Objection | None:
        names = self.names_of(person)
        for fact in self.current:
            if fact.relation is not Relation.AVOIDS or self.person_called(fact.subject.words).lower() not in names:
                continue
            if folded(class_name) in map(folded, fact.object.classes):
                return Objection(fact)
        return None

    # --- persons

    def names_of(self, person: SceneObject | None) -> frozenset[str]:
        """Return the names of a person of the scene, in lower case."""
        name = str(person.attributes.get("name", "")) if person is not None else ""
        return frozenset({name.lower()}) if name else frozenset()

    def person_called(self, words: str) -> str:
        """Return the name of somebody who is called by a name or by a role ("brother")."""
        for fact in self.current:
            if fact.relation is Relation.CALLED and fact.subject.words == words.lower():
                return fact.object.words
        return words

    def about_person(self, name: str) -> list[ToldFact]:
        """Return what was told of somebody, in the order in which it was told."""
        wanted = self.person_called(name).lower()
        return [
            fact
            for fact in self.current
            if not fact.subject.classes and self.person_called(fact.subject.words).lower() == wanted
        ]

    # --- things

    def owned_by(self, name: str, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the ids of the things of some classes that are told to be somebody's."""
        wanted, spelt = self.person_called(name).lower(), {folded(one) for one in classes}
        found: dict[str, None] = {}
        for fact in self.current:
            if (
                fact.relation is Relation.OWNED
                and not _is_vague(fact)
                and self.person_called(fact.object.words).lower() == wanted
            ):
                meant = [one for one in self._objects.values() if self._is_meant(fact.subject, one)]
                found |= dict.fromkeys(one.id for one in meant if folded(one.class_name) in spelt)
        return tuple(found)

    def place_of(self, class_name: str, object_id: str = "") -> ToldFact | None:
        """Return the newest fact that says where a thing belongs now; one that names the time of day comes first."""
        thing = self._objects.get(object_id)
        told = [
            one for one in self._about(class_name, thing) if one.relation is Relation.BELONGS and not _is_vague(one)
        ]
        return max(told, key=lambda one: (bool(one.part_of_day), one.told_ns), default=None)

    def _about(self, class_name: str, thing: SceneObject | None) -> list[ToldFact]:
        whole = self.kinds.whole(class_name) if class_name else ""
        names = dict.fromkeys(folded(name) for name in (class_name, whole) if name)
        return [
            fact
            for name in names
            for fact in self._by_class.get(name, ())
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
        return place is not None and self._room_of(place).lower() == term.words.lower()

    def _room_of(self, thing: SceneObject) -> str:
        return self.scene.room_of_area.get(thing.area_id, "")

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


def _bans_use(fact: ToldFact) -> bool:
    """Return whether its subject is told to be out of order or not to be used."""
    return fact.relation is Relation.BROKEN or (fact.relation is Relation.NEVER and fact.verb == "use")


def _is_vague(fact: ToldFact) -> bool:
    """Return whether it is of one of several things, and nobody knows which: "the blue mug" among three mugs."""
    return bool(fact.subject.attributes) and not fact.subject.object_ids


def grounded(fact: ToldFact, scene: SceneSnapshot, kinds: ObjectCatalogue) -> ToldFact:
    """Return a fact with memory's ids of the things that its subject means now: "the mug on the desk", "the vase".

    Without a place it is bound to a thing only where there is one of its class; "mugs" means them all.
    """
    term = fact.subject
    if not term.classes:
        return fact
    objects = {one.id: one for one in scene.objects if not one.removed}
    best = folded(term.classes[0])
    alike = [one for one in objects.values() if folded(one.class_name) == best]
    if term.place or term.room:
        places = {folded(name) for name in term.place}
        alike = [
            one
            for one in alike
            if (one.support_id in objects and folded(objects[one.support_id].class_name) in places)
            or (term.room and scene.room_of_area.get(one.area_id, "").lower() == term.room)
        ]
    elif len(alike) != 1 or term.words.lower().endswith("s"):
        return fact
    ids = tuple(sorted(one.id for one in alike))
    return fact.changed(subject=replace(term, object_ids=ids)) if ids else fact
