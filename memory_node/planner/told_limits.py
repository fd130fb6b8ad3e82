"""Keeps every planner to what people told: before a plan is told, and before each call is carried out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Treatment
from memory_node.domain.clock import Clock, local_day
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import GOALS, GoalKind
from memory_node.knowledge.text import DAYS, with_days
from memory_node.knowledge.told.binding import Act, BindingFacts, Objection, forbids_use
from memory_node.knowledge.told.fact import Relation, ToldFact
from memory_node.planner.goal import Goal, Mention

_K = GoalKind
# What is done to the target itself; to take it into the hand is said below.
_SKILL_OF = {kind: goal.skills[0] for kind, goal in GOALS.items() if goal.skills and not goal.in_hand}
_MOVED = frozenset({_K.PLACE, _K.PLACE_TWO, _K.STACK, _K.FETCH, _K.THROW})
_GIVEN = frozenset({_K.PLACE, _K.PLACE_TWO, _K.FETCH})
_TREATED = frozenset(kind for kind, goal in GOALS.items() if goal.treats)


# What was told that shares a name or thing with an instruction: statements.
Told = Callable[[str], Sequence[str]]


def nothing_told(_text: str) -> Sequence[str]:
    """Stand in for memory where nobody told anything."""
    return ()


@dataclass(frozen=True)
class Verdict:
    """What told facts make of goals. question: asked instead of doing anything, "" for none. notes: what is told on the
    way; closed: for each goal ids of the things that must not be used for it, () where no fact holds."""

    question: str = ""
    notes: tuple[str, ...] = ()
    closed: tuple[frozenset[str], ...] = ()


class ToldLimits:
    """facts: the told facts that were read; scene: what memory knows; clock: now; zone: of "in the evening"."""

    def __init__(
        self,
        facts: Sequence[ToldFact],
        scene: Callable[[], SceneSnapshot],
        kinds: ObjectCatalogue,
        clock: Clock,
        zone: tzinfo | None = None,
    ) -> None:
        self._facts, self._scene, self._kinds, self._clock, self._zone = facts, scene, kinds, clock, zone
        self._index: BindingFacts | None = None

    def now(self) -> BindingFacts | None:
        """Return the facts that are true now, beside the scene of now; None where nothing was told."""
        if not self._facts:
            return None
        return self._index_at(self._scene())

    def _index_at(self, scene: SceneSnapshot) -> BindingFacts:
        if self._index is None:
            self._index = BindingFacts(self._facts, self._kinds, scene, self._clock(), self._zone)
        else:
            self._index.move_to(scene, self._clock())
        return self._index

    def of_call(self, call: SkillCall) -> Objection | None:
        """Return what speaks against a call; the scene is read anew only where a fact may."""
        if not self._facts:
            return None
        act = Act.of(call)
        index = self._index or self.now()
        if index is None or not index.concerns(act):
            return None
        return self._index_at(self._scene()).objection(act)

    def told_of(self, text: str) -> list[str]:
        """Return in their words all facts about the things and persons that a text names, and about those present; and
        what cannot be used, which no text needs to name."""
        index = self.now()
        if index is None:
            return []
        closed = filter(forbids_use, index.current)
        return list(dict.fromkeys(fact.text for fact in (*index.bearing_on(text), *closed)))

    def told_of_people(self, text: str) -> list[str]:
        """Return in their words the facts about the persons whom a text names."""
        index = self.now()
        if index is None:
            return []
        return list(dict.fromkeys(fact.text for one in index.persons_in(text) for fact in index.about_person(one)))

    def unread(self, statements: Sequence[str]) -> list[str]:
        """Return the statements that were not read, or not whole: nothing holds the robot to their rest. They are kept
        with the day of "tomorrow" behind it."""
        return self._not_told(statements, [fact for fact in self._facts if not fact.is_part])

    def _not_told(self, statements: Sequence[str], facts: Sequence[ToldFact]) -> list[str]:
        told = ((fact.text, with_days(fact.text, fact.told_ns, self._zone)) for fact in facts)
        read = {text.strip(" .!").lower() for texts in told for text in texts}
        return [one for one in statements if one.strip(" .!").lower() not in read]

    def unread_ban(self, goals: Sequence[Goal], statements: Sequence[str]) -> Verdict:
        """Return what is to be asked where a statement seems to forbid what goals do with its things, at its places and
        appliances, in its rooms or for its persons, and nothing that was read of it forbids anything."""
        read = [fact for fact in self._facts if fact.relation in FORBIDS or not fact.is_part]
        acting = [one for one in goals if GOALS[one.kind].skills or one.kind in _MOVED]
        for text in filter(self._seems_ban, self._not_told(statements, read)):
            named = {name for called in self._named_in(text) for name in called[:1]} - {self._kinds.recipient}
            named |= self._rooms_in(text) | set(_PERSON.findall(text))
            if any(not named.isdisjoint(self._forbidden_of(goal, text, named)) for goal in acting):
                return _asking_of([text.rstrip(" .!")])
        return Verdict()

    def _named_in(self, text: str) -> Sequence[Sequence[str]]:
        return self._kinds.spoken_names.named_in(text.lower())

    def _seems_ban(self, text: str) -> bool:
        """Return whether a statement forbids something now: its end has not come."""
        today = local_day(self._clock(), self._zone)
        ban, excepted, ends = _BANS.search(text), _EXCEPT.search(text), _ENDS_ON.search(text)
        if ends is not None and datetime.strptime(ends["date"], "%d %B %Y").date() <= today:
            return False
        # "No problem at all" bans nothing.
        is_ban = ban is not None and (ban["thing"] is None or bool(self._named_in(ban["thing"])))
        # On its day an exception from a ban lets, and one from "you may" bans.
        return is_ban != (excepted is not None and excepted["day"].lower() == DAYS[today.weekday()])

    def _forbidden_of(self, goal: Goal, text: str, named: Collection[str]) -> set[str]:
        """Return what of a goal a ban may be of: classes, rooms and a person."""
        to, treatment, ban = goal.destination, self._treatment_of(goal), _BANS.search(text)
        if to is not None and re.search(rf"\b(?:but|except|only)(?: for)? {re.escape(to.text)}\b", text, re.I):
            return set()
        moves = any(name in self._kinds and self._kinds[name].pickupable for name in named)
        # "Kim must not open the window" says nothing of what is brought to him.
        of_nothing = not (moves or self._named_in(text[ban.start() if ban is not None else 0 :]))
        is_used = bool(_USED.search(text) or (not moves and _UNUSABLE.search(text)))
        is_given = to is not None and to.object_class == self._kinds.recipient
        kinds_of_ban: tuple[tuple[bool, Iterable[str]], ...] = (
            (True, {goal.target.object_class}),
            (not moves and to is not None, {to.object_class} if to is not None else ()),
            (is_used and treatment is not None, treatment.at if treatment is not None else ()),
            (_ENTERED.search(text) is not None, self._rooms_in(goal.text) | {one.room for one in goal.mentions}),
            (of_nothing and is_given, to.text.split()[:1] if to is not None else ()),
        )
        return {name for is_of, names in kinds_of_ban if is_of for name in names}

    def _rooms_in(self, text: str) -> set[str]:
        return {room for room in self._kinds.rooms if re.search(rf"\b{re.escape(room)}\b", text, re.I)}

    def of_goals(self, goals: Sequence[Goal]) -> Verdict:
        """Return what is to be asked before any of the goals is pursued, or told and minded on the way."""
        binding = self.now()
        if binding is None:
            return Verdict()
        unusable = binding.unusable()
        notes: dict[str, None] = {}
        closed: list[frozenset[str]] = []
        for goal in goals:
            objection = _against(goal, binding)
            if objection is not None:
                return _asking([objection])
            closed.append(unusable | _of_others(goal, binding))
            notes |= dict.fromkeys(f"{one.text}." for one in _unsure(goal, binding))
            notes |= dict.fromkeys(f"{one.text.rstrip('.')}." for one in self._tools_out_of_order(goal, binding))
            for skill, places in self._places_of(goal, binding):
                acts = ((one.id, Act(skill, _reference(goal.target), one.id)) for one in places)
                found = {name: objection for name, act in acts if (objection := binding.objection(act)) is not None}
                if found and len(found) == len(places):
                    return _asking(found.values())
                notes |= dict.fromkeys(f"{one.text}, so I use another." for one in found.values())
                closed[-1] |= found.keys()
        return Verdict("", tuple(notes), tuple(closed))

    def of_others(self, goal: Goal) -> dict[str, str]:
        """Return what was told of the things that are not meant by a goal since they are somebody else's, by memory's
        id. Which thing a goal is about does not count, unless its words tell whose that is."""
        binding = self.now()
        if binding is None:
            return {}
        to = goal.destination.text.lower() if goal.destination is not None else ""
        owners = [one for one in binding.persons_in(goal.text) if one.lower() != to]
        if not owners and not _WHOSE.search(goal.text):
            goal = goal.changed(target=replace(goal.target, thing_id=""))
        return {one: binding.owner_told(one) for one in _of_others(goal, binding)}

    def _treatment_of(self, goal: Goal) -> Treatment | None:
        return self._kinds.meant_treatment(goal.kind, goal.treatment) if goal.kind in _TREATED else None

    def _tools_out_of_order(self, goal: Goal, binding: BindingFacts) -> list[ToldFact]:
        """Return what was told of tools that a goal may take and that cannot be used."""
        treatment = self._treatment_of(goal)
        tools = {folded(name) for name in treatment.tools} if treatment is not None else set()
        return [one for one in binding.of(Relation.BROKEN) if tools & set(map(folded, one.subject.classes))]

    def _places_of(self, goal: Goal, binding: BindingFacts) -> Iterator[tuple[str, list[SceneObject]]]:
        """Yield where a goal may be achieved as memory knows it, each with the skill: appliances, destinations."""
        things = [one for one in binding.scene.objects if not one.removed]
        treatment = self._treatment_of(goal)
        if treatment is not None:
            yield _SKILL_OF[goal.kind], [one for one in things if one.class_name in treatment.at]
        place = goal.destination
        if place is None or place.beside:
            return
        alike = [one for one in things if one.class_name == place.object_class]
        if place.object_class == self._kinds.recipient:
            alike = [one for one in alike if not one.attributes.get("name")]  # "me"; whoever else is meant has an id
        yield "PutObject", [one for one in things if one.id == place.thing_id] or alike


# Words that tell whose a thing is.
_WHOSE = re.compile(r"\b(my|mine|our|ours|your|his|her|hers|their|theirs)\b|'s\b", re.IGNORECASE)


FORBIDS = (Relation.NEVER, Relation.AVOIDS, Relation.BROKEN)
# What sounds like a ban, or a rule with exceptions; "the mug is not mine", "I can't find it" and what was, are none.
_BANS = re.compile(
    r"\b(?:(?:never|nobody|no one)(?! (?:ha[sd]|have|was|were|did|knew|knows|saw)\b)|"
    r"nothing (?:goes|is to|may|must|should)|(?:do|does)(?: not|n't) (?:go|belong)(?! (?:to|with)\b)|reserved for|"
    r"(?:leave|keep) .+ (?:where|as) (?:it|they) (?:is|are)|"
    r"(?-i:[Oo]nly [A-Z][\w-]* (?!(?:is|was|has|knows)\b)[a-z]+s)|"
    r"(?:must|may|should|shall)(?: not|n't)|not (?:to|allowed|supposed)|off[ -]limits|away from|out of reach|"
    r"(?:is|are|has|have) (?!good|fresh|fine|here|open)[^,;]+ (?:until|till)|"
    r"(?:is|are) (?:broken|out of (?:order|service))|"
    r"(?:is|are) only(?! (?:here|there|an?)\b)|(?:use|put|give|take|only \w+) (?:only|may|must))\b|"
    r"(?:^|[,;:] ?|\b(?:and|so|but|please|rather you) )"
    r"(?:do not|don't|didn't|did not|no (?=\w+ (?:for|in|on|near)\b|"
    r"(?P<thing>\w+) (?:before|after|until|during|while|at)\b))\b",
    re.IGNORECASE,
)
# Of rooms, of appliances that something is done with, and a day on which a ban does not hold.
_ENTERED = re.compile(
    r"(?:\b(?:nobody|no one|you|the robot)(?: \w+){0,3}?|(?:^|[,;:] ?|\b(?:and|so|but|please) )(?:do not|don't|never)) "
    r"(?:(?:go|come|walk|set foot|goes|comes) (?:in|into|to|near|inside)|enters?)\b|\boff[ -]limits\b",
    re.IGNORECASE,
)
_USED = re.compile(r"\b(?:use[sd]?|touch(?:es)?|turn(?:s|ed)?|switch(?:es|ed)?|run|start)\b", re.IGNORECASE)
_UNUSABLE = re.compile(r"\b(?:until|till|broken|out of (?:order|service))\b", re.IGNORECASE)
_PERSON = re.compile(r"(?<!about )\b[A-Z][\w-]*")
_ENDS_ON = re.compile(r"\b(?:until|till) [a-z ]+ \((?P<date>\d{1,2} [A-Z][a-z]+ \d{4})\)")
_EXCEPT = re.compile(rf"\bexcept (?:for |on )?(?P<day>{'|'.join(DAYS)})s?\b", re.IGNORECASE)


def _asking(objections: Iterable[Objection]) -> Verdict:
    return _asking_of([one.text for one in objections])


def _asking_of(told: Iterable[str]) -> Verdict:
    texts = tuple(dict.fromkeys(told))
    return Verdict(f'I was told: "{texts[0]}." What shall I do instead?', texts)


def _against(goal: Goal, binding: BindingFacts) -> Objection | None:
    """Return what speaks against a goal: what it does to its things, or for whom it is."""
    for act in _acts_of(goal):
        objection = binding.objection(act)
        if objection is not None:
            return objection
    to = [goal.destination.text] if goal.destination is not None else []
    people = [*binding.persons_in(goal.text), *to] if goal.kind in _GIVEN else []
    what, place = goal.target.object_class, _reference(goal.destination) if goal.destination is not None else ""
    return next((one for name in people if (one := binding.harm(what, name, place)) is not None), None)


def _unsure(goal: Goal, binding: BindingFacts) -> list[Objection]:
    """Return what the person who is given food must not have, where that is of no known kind."""
    people = [goal.destination.text] if goal.destination is not None and goal.kind in _GIVEN else []
    is_food = goal.target.object_class in (binding.kinds.group("food") or ())
    told = [fact for name in people if is_food for fact in binding.about_person(name)]
    return [Objection(one) for one in told if one.relation is Relation.AVOIDS and not one.object.classes]


def _of_others(goal: Goal, binding: BindingFacts) -> frozenset[str]:
    """Return the ids of the things that "a mug" must not be, since they are somebody else's, where there is another in
    the room that is meant."""
    if goal.target.thing_id or goal.every:
        return frozenset()
    person, names = goal.destination.text if goal.destination is not None else "", goal.target.candidates[:1]
    scene, room = binding.scene, goal.target.room
    known = [one for one in scene.objects if one.class_name in names and not one.removed]
    alike = frozenset(one.id for one in known if not room or scene.room_of(one).lower() == room.lower())
    own = alike.intersection(binding.owned_by(person, names))  # "bring Ana a cup": hers
    usable = (own, alike - binding.owned_by_others(person, names))
    return next((alike - enough for enough in usable if len(enough) >= goal.count), frozenset())


def _acts_of(goal: Goal) -> Iterator[Act]:
    """Yield what a goal does to its target, as far as its words tell it."""
    target = _reference(goal.target)
    if goal.kind in _SKILL_OF:
        yield Act(_SKILL_OF[goal.kind], target)
    if goal.kind in _MOVED or (goal.destination is not None and goal.kind in _TREATED):
        yield Act("PickupObject", target)
    if goal.destination is not None:
        yield Act("PutObject", target, _reference(goal.destination))


def _reference(mention: Mention) -> str:
    return mention.thing_id or mention.object_class or mention.room
