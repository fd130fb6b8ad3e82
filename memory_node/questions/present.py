"""Answers plain questions about what is now: the scene graph decides, each thing is at one place, with how sure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from memory_node.catalogue.class_name import folded, spoken
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import ago
from memory_node.domain.names import singular
from memory_node.domain.scene import Place, SceneObject, SceneSnapshot
from memory_node.domain.states import STATE_CALLED, ObjectState
from memory_node.knowledge.text import bare
from memory_node.questions.past import clock_of, phrase_of, span_of
from memory_node.questions.plain_question import plain_question
from memory_node.scene_graph.state import ROBOT_ID
from memory_node.world.state import called

BELIEVED = 0.5


class ThingWords:
    """scene: what is remembered. person_class: of persons, who are handed things. now_ns: what ages count to."""

    def __init__(self, scene: SceneSnapshot, person_class: str, now_ns: int) -> None:
        self._scene = scene
        self._person_class = person_class
        self._now_ns = now_ns

    def at(self, one: SceneObject) -> str:
        """Return its place: "on SideTable 2, in the kitchen"."""
        support, room = self._scene.by_id.get(one.support_id), self._scene.room_of(one)
        in_room = f"in {'' if room[-1].isdigit() else 'the '}{room}" if room else ""  # "room 1" is a name
        if one.support_id == ROBOT_ID:
            return "in the robot's hand"
        if support is not None:
            how = "with" if support.class_name == self._person_class else "in" if one.inside else "on"
            return ", ".join(filter(None, (f"{how} {name_of(support)}", in_room)))
        x, y, z = (float(value) for value in one.box.center)
        return in_room or f"at ({x:.1f}, {y:.1f}, {z:.1f}) m in map"

    def seen(self, one: SceneObject) -> str:
        """Return how long ago it was seen."""
        return f"seen {ago((self._now_ns - one.last_seen_ns) * 1e-9)}"

    def whereabouts(self, one: SceneObject) -> str:
        """Return where it is, when that was seen and how sure it is."""
        doubt = "probably no longer " if one.existence < BELIEVED else ""
        return f"{name_of(one)} is {doubt}{self.at(one)} ({self.seen(one)}, {one.existence:.0%} sure)"

    def named_at(self, one: SceneObject) -> str:
        """Return what it is called and where it is."""
        return f"{name_of(one)} {self.at(one)}"

    def with_states(self, one: SceneObject) -> str:
        """Return what it is called, with its states and doubts."""
        states = [str(belief.state) for belief in one.states if belief.probability >= BELIEVED]
        states += ["probably gone"] if one.existence < BELIEVED else []
        return f"{name_of(one)} ({', '.join(states)})" if states else name_of(one)

    def gone(self, one: SceneObject) -> str:
        """Return where a thing was that is not there any more."""
        was = self._then(one, one.history[-1]) if one.history else one
        return f"{name_of(one)} is not there any more; it was {self.at(was)} ({self.seen(one)})"

    def before(self, one: SceneObject, most: int = 3) -> str:
        """Return where a thing was before, the latest first; of a support it is not kept whether it was in or on it."""
        places = [
            f"{self.at(self._then(one, place)).replace('on ', 'at ', 1)} "
            f"(last seen there {ago((self._now_ns - place.until_ns) * 1e-9)})"
            for place in reversed(one.history[-most:])
        ]
        return f"{name_of(one)} was {listed(places)}" if places else f"I know of no earlier place of {name_of(one)}"

    @staticmethod
    def _then(one: SceneObject, place: Place) -> SceneObject:
        return one.changed(area_id=place.area_id, support_id=place.support_id, box=place.box, inside=False)


def name_of(one: SceneObject) -> str:
    """Return what a thing is called; with what it is where its name, which it keeps, speaks of something else."""
    word = folded(one.name.rpartition(" ")[0])
    fits = bool(word) and folded(one.class_name).startswith(word)
    return one.name if fits else f"{one.name} ({spoken(one.class_name)})" if one.name else spoken(one.class_name)


def is_so(one: SceneObject, state: ObjectState) -> bool:
    """Return whether a thing is believed to be in a state."""
    return any(belief.state is state and belief.probability >= BELIEVED for belief in one.states)


def listed(words: Iterable[str]) -> str:
    """Return words as a list of a sentence."""
    return "; ".join(words)


_MOST_TOLD = 20
_MOVED_M = 0.15
_BESIDE_M = 1.0
_WORDS_OF_A_KIND = 2


@dataclass(frozen=True)
class PresentAnswer:
    """An answer in words. known: whether memory had one. confidence: how sure its least sure thing is, 0 to 1.

    ids: of the things that it is about. is_kind: the words name a kind of thing of the label space or of the scene.
    """

    text: str
    known: bool = True
    confidence: float = 1.0
    ids: tuple[str, ...] = ()
    is_kind: bool = True


class PresentQuestions:
    """kinds: the label space. scene: now, with what is removed. past: the scene as of a stamp. now_ns, zone: now.
    person_called: gives the name of somebody from a name or a role ("brother")."""

    def __init__(
        self,
        kinds: ObjectCatalogue,
        scene: SceneSnapshot,
        past: Callable[[int], SceneSnapshot],
        now_ns: int,
        zone: tzinfo | None = None,
        person_called: Callable[[str], str] = str,
    ) -> None:
        self._kinds, self._scene, self._past, self._now_ns, self._zone = kinds, scene, past, now_ns, zone
        self._person_called = person_called
        self._here = [one for one in scene.objects if not one.removed]
        self._words = ThingWords(scene, kinds.recipient, now_ns)

    def answer(self, question: str) -> PresentAnswer | None:
        """Return the answer to a question about what is now; None where it is no such question."""
        return self._by(_FORMS, question)

    def _by(self, forms: Sequence[_Form], question: str) -> PresentAnswer | None:
        for plain in plain_question(question):
            for form, answer in forms:
                match = form.match(plain)
                told = answer(self, match) if match is not None else None
                if told is not None:
                    return told
        return None

    # --- places

    def where(self, match: re.Match[str]) -> PresentAnswer | None:
        """Answer: where is it?"""
        person = self.person(match["thing"])
        if person is not None:
            return person
        found = self._present(match["thing"])
        if found is None:
            return _no_kind(match["thing"])
        if not found:
            return self._missing(match["thing"])
        return self._told(f"{listed(map(self._words.whereabouts, found[:_MOST_TOLD]))}.", found)

    def person(self, words: str) -> PresentAnswer | None:
        """Answer: where is somebody? None where memory has seen nobody of that name."""
        name = self._person_called(bare(words)).lower()
        found = [one for one in self._here if name and str(one.attributes.get("name", "")).lower() == name]
        if not found:
            return None
        one = max(found, key=lambda one: one.last_seen_ns)  # people walk about
        room = self._scene.room_of(one)
        near = [(other.box.distance_m(one.box.center[:2]), other) for other in self._here]
        seats = [pair for pair in near if pair[0] <= _BESIDE_M and pair[1].class_name in self._kinds.put_down_places]
        nearest = min(seats, key=lambda pair: pair[0])[1] if seats else None
        beside = f"beside the {self._kinds[nearest.class_name].best_name}" if nearest is not None else ""
        where = " ".join(filter(None, (beside, f"in the {room}" if room else "")))
        called = one.attributes["name"]
        return self._told(f"{called} is {where}." if where else f"I know {called}, and not which room that is.", [one])

    def having(self, question: str) -> PresentAnswer | None:
        """Answer: who has it, what has somebody got? None where it is no such question, or nobody of that name was
        seen."""
        return self._by(_HAVING, question)

    def _holder(self, match: re.Match[str]) -> PresentAnswer | None:
        found, people = self._present(match["thing"]), {one.id: one for one in self._people()}
        if not found:
            return None
        told = []
        for one in found:
            if one.support_id in people:
                name = people[one.support_id].attributes.get("name")
                told.append(f"{name} has {name_of(one)}" if name else f"You have {name_of(one)}")
        nobody = f"I know of nobody who has it: {listed(map(self._words.whereabouts, found[:_MOST_TOLD]))}"
        return self._told(f"{listed(told) or nobody}.", found)

    def _held_by(self, match: re.Match[str]) -> PresentAnswer | None:
        name = self._person_called(bare(match["who"])).lower()
        ids = {one.id for one in self._people() if name and str(one.attributes.get("name", "")).lower() == name}
        kind = self._present(match["thing"]) if match["thing"] else self._here
        held = [one for one in kind or () if one.support_id in ids]
        return self._held(held, f"with {match['who']}") if ids and kind is not None else None

    def _people(self) -> list[SceneObject]:
        return [one for one in self._here if one.class_name == self._kinds.recipient]

    def room(self, words: str) -> PresentAnswer | None:
        """Answer: what is in a room? None where words name no room."""
        room = self._room(bare(words))
        there = [one for one in self._here if self._scene.room_of(one) == room] if room else []
        return self._held(there, f"in the {room}") if room else None

    def before(self, match: re.Match[str]) -> PresentAnswer | None:
        """Answer: where was it before?"""
        found = self._things(match["thing"])
        if found is None:
            return None
        if not found:
            return _unknown(match["thing"])
        found = [one for one in found if not one.removed] or found
        return self._told(f"{'. '.join(self._words.before(one) for one in found[:_MOST_TOLD])}.", found)

    def contents(self, match: re.Match[str]) -> PresentAnswer | None:
        """Answer: what is in it, or on it?"""
        at, inside = bare(match["place"]), match["how"] in ("in", "inside")
        room = self.room(at)
        if room is not None:
            return room
        supports = self._present(at)
        if supports is None:
            return None
        if not supports:
            return self._missing(at)
        ids = {support.id for support in supports}
        held = [one for one in self._here if one.support_id in ids and not self._scene.was_met_elsewhere(one)]
        within = [one for one in held if one.inside]
        where = f"{'in' if inside else 'on'} {listed(map(name_of, supports[:3]))}"
        return self._held(within if inside and within else held, where)

    def seen(self, match: re.Match[str]) -> PresentAnswer | None:
        """Answer: when was it seen last?"""
        found = self._things(match["thing"])
        if found is None:
            return None
        if not found:
            return _unknown(match["thing"])
        last = max(found, key=lambda one: one.last_seen_ns)
        when = clock_of(last.last_seen_ns, self._now_ns, self._zone)
        where = self._words.gone(last) if last.removed else self._words.whereabouts(last)
        return self._told(f"I last saw {name_of(last)} {when}: {where}.", [last])

    def is_there(self, match: re.Match[str]) -> PresentAnswer | None:
        """Answer: is it there?"""
        found, at = self._present(match["thing"]), bare(match["place"])
        if found is None:
            return None
        is_at = self._is_at(at)
        if is_at is None:
            return None
        if not found:
            return self._missing(match["thing"])
        there = [one for one in found if is_at(one)]
        told = listed(map(self._words.whereabouts, (there or found)[:_MOST_TOLD]))
        return self._told(f"{'Yes' if there else 'No'}: {told}.", there or found)

    # --- how many, which

    def count(self, match: re.Match[str]) -> PresentAnswer | None:
        """Answer: how many are there?"""
        found, at = self._present(match["thing"]), match["place"]
        is_at = self._is_at(bare(at)) if at else None
        if found is None or (at and is_at is None):
            return None
        found = [one for one in found if is_at is None or is_at(one)]
        where = f" {match['how']} the {bare(at)}" if at else ""
        names = f": {listed(map(self._words.named_at, found[:_MOST_TOLD]))}" if found else ""
        return self._told(f"I know of {_counted(found, bare(match['thing']))}{where}{names}.", found)

    def have(self, match: re.Match[str]) -> PresentAnswer | None:
        """Answer: is there one?"""
        found = self._present(match["thing"])
        if found is None:
            return _no_kind(match["thing"])
        if not found:
            return self._missing(match["thing"])
        return self._told(f"Yes: {listed(map(self._words.whereabouts, found[:_MOST_TOLD]))}.", found)

    def which(self, match: re.Match[str]) -> PresentAnswer | None:
        """Answer: which are so?"""
        thing, word = match.groupdict().get("thing"), match["state"].lower()
        found = self._present(thing) if thing else self._here
        if found is None:
            return None
        if thing and not found:
            return self._missing(thing)
        so = [one for one in found if is_so(one, STATE_CALLED[word])]
        if so:
            return self._told(f"{word.capitalize()}: {listed(map(self._words.named_at, so[:_MOST_TOLD]))}.", so)
        if not thing:
            return PresentAnswer(f"I know of nothing that is {word}.")
        unsure = sum(_is(one, STATE_CALLED[word]) is None for one in found)
        rest = f"; of {unsure} nobody told me" if unsure else ""
        kind = _counted(found, bare(thing))
        return PresentAnswer(f"Of {kind} none is known to be {word}{rest}.")

    def is_state(self, match: re.Match[str]) -> PresentAnswer | None:
        """Answer: is it so?"""
        found, word = self._present(match["thing"]), match["state"].lower()
        if found is None:
            return None
        if not found:
            return self._missing(match["thing"])
        said = [_is(one, STATE_CALLED[word]) for one in found]
        verbs = {True: "is", False: "is not", None: "is not known to be"}
        told = listed(f"{name_of(one)} {verbs[so]} {word}" for one, so in zip(found[:_MOST_TOLD], said))
        lead = "Yes: " if all(said) else "No: " if all(so is False for so in said) else ""
        answer = self._told(f"{lead}{told}.", found)
        if any(so is not None for so in said):
            return answer
        ids = {one.id for one in found if one.class_name in self._kinds and self._kinds[one.class_name].holds_inside}
        if word == "empty" and ids:
            held = [one for one in self._here if one.support_id in ids]
            return self._held(held, f"in {listed(name_of(one) for one in found if one.id in ids)}")
        return PresentAnswer(answer.text, False, 0.0, answer.ids)

    # --- what changed

    def changed(self, match: re.Match[str]) -> PresentAnswer | None:
        """Answer: what has changed?"""
        time = match["time"] or "today"
        since_ns, _ = span_of(time, self._now_ns, self._zone)
        told = self.changes(since_ns)
        return PresentAnswer(f"{'. '.join(told)}." if told else f"I saw nothing change since {time}.")

    def changes(self, since_ns: int) -> list[str]:
        """Return in words what came, went, moved and became of things since a stamp."""
        before = {one.id: one for one in self._past(max(since_ns, 1)).objects}
        now = {one.id: one for one in self._here}
        told = [f"New: {self._words.whereabouts(one)}" for key, one in now.items() if key not in before]
        told += [
            f"Moved: {self._words.whereabouts(one)}; before {self._words.at(before[key])}"
            for key, one in now.items()
            if key in before and _has_moved(before[key], one)
        ]
        told += [
            f"{name_of(one)} became {belief.state}"
            for one in now.values()
            for belief in one.states
            if belief.probability >= BELIEVED and belief.confirmed_ns > since_ns
        ]
        gone = (one for key, one in before.items() if key not in now)
        return told + [f"Gone: {name_of(one)}, before {self._words.at(one)}" for one in gone]

    # --- things

    def _things(self, words: str) -> list[SceneObject] | None:
        """Return the things that words name, removed ones included; None where they name no kind of thing."""
        objects, noun = self._scene.objects, bare(words)
        one = called(words, objects) or called(noun, objects)
        if one is not None:
            return [one]
        phrase = phrase_of(words, self._kinds)
        classes = phrase.classes if phrase is not None else self._kinds.spoken_names.answering(noun)
        spelt = {folded(one) for one in classes} or {folded(noun), folded(noun).removesuffix("s")}
        found = [one for one in objects if folded(one.class_name) in spelt]
        if not found:  # a lamp may be one on the floor, too
            others = {folded(one) for one in (phrase.others if phrase is not None else ())}
            found = [one for one in objects if folded(one.class_name) in others]
        if not found and not classes:
            return None
        states = phrase.states if phrase is not None else ()
        return [one for one in found if all(is_so(one, state) for state in states)]

    def _present(self, words: str) -> list[SceneObject] | None:
        found = self._things(words)
        return None if found is None else [one for one in found if not one.removed]

    def _room(self, words: str) -> str:
        return next((room.name for room in self._scene.rooms if words.lower() in (room.name.lower(), room.id)), "")

    def _is_at(self, words: str) -> Callable[[SceneObject], bool] | None:
        """Return what tells whether a thing is in or on a room or thing that words name; None where they name none."""
        room = self._room(words)
        if room:
            return lambda one: self._scene.room_of(one) == room
        supports = self._present(words)
        ids = {support.id for support in supports or ()}
        return None if supports is None else lambda one: one.support_id in ids

    # --- answers

    def _missing(self, words: str) -> PresentAnswer:
        gone = self._things(words)
        if not gone:
            return _unknown(words)
        return self._told(f"{self._words.gone(max(gone, key=lambda one: one.last_seen_ns))}.", gone)

    def _held(self, things: Sequence[SceneObject], where: str) -> PresentAnswer:
        if not things:
            return PresentAnswer(f"I know of nothing {where}.")
        more = f" and {len(things) - _MOST_TOLD} more" if len(things) > _MOST_TOLD else ""
        names = listed(map(self._words.with_states, things[:_MOST_TOLD]))
        seen = self._words.seen(max(things, key=lambda one: one.last_seen_ns))
        return self._told(f"{where[:1].upper()}{where[1:]}: {names}{more} ({seen}).", things)

    @staticmethod
    def _told(text: str, things: Iterable[SceneObject]) -> PresentAnswer:
        things = tuple(things)
        sure = min((one.existence for one in things if not one.removed), default=1.0)
        return PresentAnswer(text, True, sure, tuple(one.id for one in things))


def _no_kind(words: str) -> PresentAnswer | None:
    """Return that nothing of a few words is known here: longer ones ask for more than a thing."""
    is_short = len(bare(words).split()) <= _WORDS_OF_A_KIND
    return replace(_unknown(words), is_kind=False) if is_short else None


def _unknown(words: str) -> PresentAnswer:
    return PresentAnswer(f"I know of no {bare(words)} here.", known=False, confidence=0.0)


def _counted(things: Sequence[SceneObject], kind: str) -> str:
    return f"{len(things)} {singular(kind) if len(things) == 1 else kind}"


def _is(one: SceneObject, state: ObjectState) -> bool | None:
    """Return whether a thing is so; None where nobody told."""
    if is_so(one, state):
        return True
    contrary = state.contrary
    denied = any(belief.state is state for belief in one.states) or (contrary is not None and is_so(one, contrary))
    return False if denied else None


def _has_moved(was: SceneObject, one: SceneObject) -> bool:
    distance_m = float(((one.box.center - was.box.center) ** 2).sum()) ** 0.5
    return distance_m >= _MOVED_M or one.support_id != was.support_id


_IS = r"(?:is|are)"
_WHO = r"(?:I|we|you)"
_SO = "|".join(STATE_CALLED)
_AT = r"(?P<how>in|inside|on|at) (?P<place>.+?)"
_SINCE = r"today|yesterday|this (?:morning|afternoon|evening)|last night"
_Form = tuple[re.Pattern[str], Callable[[PresentQuestions, re.Match[str]], "PresentAnswer | None"]]
_HAVING: tuple[_Form, ...] = tuple(
    (re.compile(rf"^(?:and )?{form}(?: now)?$", re.I), answer)
    for form, answer in (
        (r"who(?: has|'s)(?: got)? (?P<thing>.+?)", PresentQuestions._holder),
        (r"(?:what|which (?P<thing>[\w ]+?)) (?:has|does) (?P<who>[\w-]+) (?:got|have)", PresentQuestions._held_by),
    )
)
_FORMS: tuple[_Form, ...] = (
    tuple(
        (re.compile(rf"^{form}$", re.I), answer)
        for form, answer in (
            (rf"what(?: has|'s)? changed(?: since)?(?: (?P<time>{_SINCE}))?", PresentQuestions.changed),
            (r"when did (?:you|anyone) last see (?P<thing>.+)", PresentQuestions.seen),
            (r"where (?:was|were) (?P<thing>.+?) (?:before(?: that| this)?|earlier)", PresentQuestions.before),
            (
                rf"where(?: {_IS}|'s| did {_WHO} (?:put|leave)| (?:do|can) {_WHO} find) (?P<thing>.+?)(?: now)?",
                PresentQuestions.where,
            ),
            (rf"(?:which|what) room {_IS} (?P<thing>.+?) in", PresentQuestions.where),
            (rf"what(?: {_IS}|'s| do we have| stands| lies)(?: there)? {_AT}(?: now)?", PresentQuestions.contents),
            (
                rf"how many (?P<thing>.+?)(?: {_IS} there| do (?:we|you|I) (?:have|know)| {_IS})?(?: {_AT})?",
                PresentQuestions.count,
            ),
            (
                rf"(?:(?:what|which things?)(?: {_IS}|'s)|{_IS} anything)(?: still)? (?P<state>{_SO})",
                PresentQuestions.which,
            ),
            (rf"(?:which|what) (?P<thing>.+?) {_IS} (?P<state>{_SO})", PresentQuestions.which),
            (rf"{_IS} there (?P<thing>.+?)(?: left)?", PresentQuestions.have),
            (r"do (?:we|you|I) have (?P<thing>.+?)(?: left)?", PresentQuestions.have),
            (rf"{_IS} (?P<thing>.+?)(?: still)? (?P<state>{_SO})", PresentQuestions.is_state),
            (rf"{_IS} (?P<thing>.+?)(?: still)? {_AT}", PresentQuestions.is_there),
        )
    )
    + _HAVING
)
