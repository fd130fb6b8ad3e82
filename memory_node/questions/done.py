"""Answers plain questions about what the robot did, and how it did it, from its deeds."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.step import Deed
from memory_node.knowledge.text import on_one_line
from memory_node.knowledge.told.binding import BindingFacts
from memory_node.lessons.expectations import place_of
from memory_node.lessons.lesson import Lesson, Preparation
from memory_node.questions.past import (
    TIME,
    Past,
    Phrase,
    clock_of,
    past_form,
    phrase_of,
    spoken_deed,
    verb_of,
)
from memory_node.questions.plain_question import plain_question

Way = Callable[[str, str, str, str], Lesson | None]

_OF_TIME = rf"(?: (?P<time>{TIME}))?"
_AT = rf"(?: (?P<how>from|out of|in|into|on|onto|to|at) (?:the |my )?(?P<place>(?!{TIME})[\w' -]+?))?"
_WHOM = r"(?: (?P<who>me|[A-Z][\w-]*))?"


class UnreadableError(Exception):
    """The words are none of the plain forms; never leaves a reader."""


@dataclass
class PlainPast:
    """What questions about the past are answered from.

    kinds: the label space; scene: what memory knows; facts: what was told, as an index; deeds: what the robot did, the
    newest last; now_ns, zone: what "yesterday" counts from. way: returns what has to be done before a call works, by
    skill, class of thing, and id and class of place; None where lessons are not used. asked: instructions by episode.
    """

    kinds: ObjectCatalogue
    scene: SceneSnapshot
    facts: BindingFacts
    deeds: Sequence[Deed]
    now_ns: int
    zone: tzinfo | None = None
    way: Way | None = None
    asked: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.past = Past(self.deeds, self.scene, self.kinds, self.now_ns, self.zone)
        self._present = frozenset(one.class_name for one in self.scene.objects if not one.removed)

    def answer(self, question: str) -> str:
        """Return the answer to a plain question, in words; "" where it is none of the plain forms."""
        for plain in plain_question(question):
            form = next((one for one in _FORMS if one[0].match(plain)), None)
            with contextlib.suppress(UnreadableError):
                if form is not None and (match := form[0].match(plain)):
                    return form[1](self, match)
        return ""

    def found(self, match: re.Match[str]) -> list[Deed]:
        """Return the deeds that a question is about, the newest last.

        Raises:
            UnreadableError: its verb, thing, person or place is not known.
        """
        groups = match.groupdict()
        phrase = self._phrase(groups["thing"]) if groups.get("thing") else None
        classes = phrase.classes if phrase is not None else ()
        how, place = (phrase.how, phrase.place) if phrase is not None and phrase.place else ("", "")
        how, place = (how, place) if place else (groups.get("how") or "", groups.get("place") or "")
        return self.handled(
            _verb(groups["verb"]), classes, groups.get("who") or "", groups.get("time") or "", how, place
        )

    def handled(
        self, verb: str, classes: Sequence[str], who: str = "", time: str = "", how: str = "", place: str = ""
    ) -> list[Deed]:
        """Return the deeds that a verb means, the newest last. classes: of the thing; who: got it; how, place: where it
        was taken "from" or brought "to".

        Raises:
            UnreadableError: the person or the place is not known.
        """
        if place and how.endswith("to") and verb_of(verb) == "take":
            verb = "carry"  # "the cup that you took to the kitchen"
        deeds = self.past.found(verb, classes, time, who == "me")
        if who not in ("", "me"):
            person_id = self.person_id(who)
            deeds = [deed for deed in deeds if deed.to_id == person_id]
        return self._at(deeds, how, place) if place else deeds

    def _at(self, deeds: Sequence[Deed], how: str, words: str) -> list[Deed]:
        """Return the deeds that took a thing from a place or room, brought it there, or were done there."""
        room = next((one.name for one in self.scene.rooms if one.name and one.name.lower() == words.lower()), "")
        classes = () if room else (self.class_of(words),)
        objects = self.scene.by_id

        def is_there(object_id: str, class_name: str) -> bool:
            if not room:
                return class_name in classes
            return object_id in objects and self.scene.room_of(objects[object_id]) == room

        found = []
        for deed in deeds:
            origin = is_there(*self.past.origin(deed))
            itself = objects.get(deed.object_id)
            stays = itself is not None and (is_there(deed.object_id, "") or is_there(itself.support_id, ""))
            if how in ("from", "out of", "off") or deed.skill == "PickupObject":
                there = origin
            elif deed.to_class:
                there = is_there(deed.to_id, deed.to_class)
            else:
                there = origin or stays
            found += [deed] if there else []
        return found

    def _phrase(self, words: str) -> Phrase:
        """Return what words say of a thing; "it" is the one that was handled last."""
        phrase = phrase_of(words, self.kinds, self._present)
        last = next((deed.object_class for deed in reversed(self.deeds) if deed.skill == "PickupObject"), "")
        if phrase is not None and phrase.pronoun and last:
            return Phrase(words, (last,))
        if phrase is None or phrase.pronoun:
            raise UnreadableError(words)
        return phrase

    def class_of(self, words: str) -> str:
        """Return the class that words mean; raises UnreadableError where they mean none."""
        return self._phrase(words).classes[0]

    def person_id(self, words: str) -> str:
        """Return memory's id of somebody of a name; raises UnreadableError where nobody of that name was seen."""
        name = self.facts.person_called(words.removeprefix("my ")).lower()
        found = [one.id for one in self.scene.objects if str(one.attributes.get("name", "")).lower() == name]
        if not found:
            raise UnreadableError(words)
        return found[0]

    def taken(self, match: re.Match[str]) -> Deed:
        """Return the deed by which the robot last took the thing of a question from where it found it.

        Raises:
            UnreadableError: the thing is not known, or it was never taken.
        """
        deeds = self.past.found("take", self._phrase(match["thing"]).classes, match.groupdict().get("time") or "")
        if not deeds or not deeds[-1].from_class:
            raise UnreadableError(match.group())
        return deeds[-1]

    def reason(self, deed: Deed) -> str:
        """Return why the robot did something: the instruction; raises UnreadableError where memory has it no more."""
        if deed.episode_id not in self.asked:
            raise UnreadableError(deed.source)
        when = clock_of(deed.stamp_ns, self.now_ns, self.zone)
        return f"Because you said {when}: {on_one_line(self.asked[deed.episode_id])}"

    def where(self, object_id: str, class_name: str) -> str:
        """Return a place's name, with its room where another room has one, too."""
        name = self.kinds[class_name].best_name
        rooms = {one.id: self.scene.room_of(one) for one in self.scene.objects
                 if one.class_name == class_name and not one.removed}  # fmt: skip
        room = rooms.get(object_id, "")
        return f"{name} in the {room}" if room and len(set(rooms.values())) > 1 else name


def _what(known: PlainPast, match: re.Match[str]) -> str:
    verb, when = _verb(match["verb"]), f" {match['time']}" if match["time"] else ""
    at = f" {match['how']} the {match['place']}" if match["place"] else ""
    which, deeds = match.groupdict().get("which") or "", known.found(match)
    deeds = {"first": deeds[:1], "last": deeds[-1:]}.get(which, deeds)
    names = list(dict.fromkeys(known.kinds[deed.object_class].best_name for deed in deeds))
    if not names:
        to = f" {'you' if match['who'] == 'me' else match['who']}" if match["who"] else ""
        return f"I remember nothing that I {past_form(verb)}{to}{at}{when}."
    spoken = " ".join(filter(None, (which, past_form(verb))))
    return f"I {spoken} {_listed([f'the {name}' for name in names])}{at}{when}."


def _when(known: PlainPast, match: re.Match[str]) -> str:
    verb, name = _verb(match["verb"]), known.kinds[known.class_of(match["thing"])].best_name
    deeds = known.found(match)
    if not deeds:
        return f"I do not remember that I ever {past_form(verb)} the {name}."
    when = clock_of(deeds[-1].stamp_ns, known.now_ns, known.zone)
    return f"I last {past_form(verb)} the {name} {when}."


def _how_often(known: PlainPast, match: re.Match[str]) -> str:
    verb, name = _verb(match["verb"]), known.kinds[known.class_of(match["thing"])].best_name
    deeds = known.found(match)
    times = {1: "once", 2: "twice (2 times)"}.get(len(deeds), f"{len(deeds)} times")
    when = f" {match['time']}" if match["time"] else ""
    if not deeds:
        return f"I did not {verb.replace('_', ' ')} the {name}{when}."
    return f"I {past_form(verb)} the {name} {times}{when}."


def _did(known: PlainPast, match: re.Match[str]) -> str:
    verb, name = _verb(match["verb"]), known.kinds[known.class_of(match["thing"])].best_name
    deeds = known.found(match)
    if not deeds and match["time"]:
        return f"No, I did not {verb.replace('_', ' ')} the {name} {match['time']}."
    if not deeds:
        return f"No, I do not remember that I {past_form(verb)} the {name}."
    return f"Yes, {clock_of(deeds[-1].stamp_ns, known.now_ns, known.zone)}."


def _where_found(known: PlainPast, match: re.Match[str]) -> str:
    taken = known.taken(match)
    name, place = known.kinds[taken.object_class].best_name, known.where(taken.from_id, taken.from_class)
    lead = ""
    if match.groupdict().get("place"):
        lead = "Yes. " if known.class_of(match["place"]) == taken.from_class else "No. "
    when = clock_of(taken.stamp_ns, known.now_ns, known.zone)
    return f"{lead}I found the {name} on or in the {place}, {when}."


def _how_many(known: PlainPast, match: re.Match[str]) -> str:
    """Tell how many things of a kind, or of the last instruction, something was done with."""
    verb, deeds = _verb(match["verb"]), known.found(match)
    if not match["thing"] and deeds:
        deeds = [one for one in deeds if one.episode_id == deeds[-1].episode_id]
    names = {one.object_id: known.kinds[one.object_class].best_name for one in deeds}
    counts = [f"{list(names.values()).count(name)} {name}" for name in dict.fromkeys(names.values())]
    return f"I {past_form(verb)} {len(names)}: {_listed(counts)}." if names else f"I {past_form(verb)} none."


def _to_whom(known: PlainPast, match: re.Match[str]) -> str:
    """Tell who got a thing, each once, the last one last."""
    given = [known.scene.by_id.get(one.to_id) for one in known.found(match) if one.to_class == known.kinds.recipient]
    if not given:
        raise UnreadableError(match.group())
    names = dict.fromkeys(str((one and one.attributes.get("name")) or "you") for one in given)
    name = known.kinds[known.class_of(match["thing"])].best_name
    return f"I {past_form(_verb(match['verb']))} the {name} to {_listed(list(names))}."


def _why(known: PlainPast, match: re.Match[str]) -> str:
    deeds = known.found(match)
    if not deeds:
        raise UnreadableError(match.group())
    return known.reason(deeds[-1])


def _what_and_why(known: PlainPast, match: re.Match[str]) -> str:
    deeds = known.found(match)
    return " ".join([_what(known, match), *dict.fromkeys(map(known.reason, deeds))])


def _why_there(known: PlainPast, match: re.Match[str]) -> str:
    """Tell why a thing is where the robot put it; of a thing that somebody else put there nothing."""
    classes, place = (known.class_of(match["thing"]),), known.class_of(match["place"])
    put = next((one for one in reversed(known.past.found("put", classes))), None)
    if put is None or put.to_class != place:
        raise UnreadableError(match.group())
    return known.reason(put)


def _who(known: PlainPast, match: re.Match[str]) -> str:
    """Tell of what the robot did alone: memory keeps no deeds of others."""
    deeds = known.past.found(_verb(match["verb"]), (known.class_of(match["thing"]),))
    if not deeds:
        raise UnreadableError(match.group())
    return f"I did, {clock_of(deeds[-1].stamp_ns, known.now_ns, known.zone)}."


def _did_today(known: PlainPast, match: re.Match[str]) -> str:
    deeds = known.past.found("use", (), match["time"] or "today")
    done = dict.fromkeys(
        _told(deed, known) for deed in deeds if deed.skill not in ("PickupObject", "OpenObject", "CloseObject")
    )
    return f"I {_listed(list(done))}." if done else f"I did nothing {match['time'] or 'today'}."


def _how(known: PlainPast, match: re.Match[str]) -> str:
    """Tell a way that worked, also where it worked for another kind of thing."""
    verb = _verb(match["verb"])
    thing = known.class_of(match["thing"])
    # What was done by single calls is told as a way, step by step.
    deeds = known.past.found(verb, (thing,), by_hand=False) or known.past.found(verb, by_hand=False)
    if not deeds:
        raise UnreadableError(match.group())
    last = deeds[-1]
    before = [one for one in known.deeds if one.episode_id == last.episode_id and one.stamp_ns <= last.stamp_ns]
    lesson = known.way(last.skill, thing, *place_of(last.skill, last)) if known.way is not None else None
    needed = lesson.before if lesson is not None else ()
    earlier = [_done_as(one, known.deeds, last.stamp_ns) for one in needed]
    before = [*(one for one in earlier if one is not None and one not in before), *before]
    done = dict.fromkeys(_told(one, known) for one in before)
    name, other = (known.kinds[one].best_name for one in (thing, last.object_class))
    like = "" if thing == last.object_class else f" as I did with the {other}"
    return f"To {verb} the {name}{like}: I {_listed(list(done))}."


def _done_as(preparation: Preparation, deeds: Sequence[Deed], until_ns: int) -> Deed | None:
    """Return the last deed before a stamp that was such a preparation."""
    for deed in reversed(deeds):
        is_thing = preparation.thing_id in ("", deed.object_id) and deed.object_class == preparation.thing_class
        if deed.stamp_ns <= until_ns and deed.skill == preparation.skill and is_thing:
            return deed
    return None


def _told(deed: Deed, known: PlainPast) -> str:
    kinds = known.kinds
    told = spoken_deed(deed, kinds[deed.object_class].best_name)
    if deed.skill == "PutObject" and deed.to_class:
        if deed.to_class == kinds.recipient:
            person = known.scene.by_id.get(deed.to_id)
            name = person.attributes.get("name") if person is not None else ""
            return f"{told.replace('put', 'brought', 1)} to {name or 'you'}"
        return f"{told} on or in the {known.where(deed.to_id, deed.to_class)}"
    if deed.skill in ("CleanObject", "HeatObject", "CoolObject", "FillObject") and deed.to_class:
        return f"{told} at the {known.where(deed.to_id, deed.to_class)}"
    return told


def _verb(word: str) -> str:
    verb = verb_of(word)
    if not verb:
        raise UnreadableError(word)
    return verb


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


_FORMS: tuple[tuple[re.Pattern[str], Callable[[PlainPast, re.Match[str]], str]], ...] = tuple(
    (re.compile(rf"^{form}$"), answer)
    for form, answer in (
        (rf"what did you do{_OF_TIME}", _did_today),
        (rf"what did you (?P<verb>\w+){_WHOM}{_AT}{_OF_TIME},? and why", _what_and_why),
        (rf"what did you (?:(?P<which>first|last) )?(?P<verb>\w+){_WHOM}{_AT}{_OF_TIME}", _what),
        (rf"when did you (?:last )?(?P<verb>\w+){_WHOM} (?P<thing>.+)", _when),
        (rf"how often did you (?P<verb>\w+){_WHOM} (?P<thing>.+?){_OF_TIME}", _how_often),
        (r"how (?:do|can) (?:you|I|we) (?P<verb>\w+) (?P<thing>.+)", _how),
        (rf"where did you (?:find|found|get|got|take|taken|have) (?P<thing>.+?)(?: from)?{_OF_TIME}", _where_found),
        (r"(?:was|were) (?P<thing>.+?) (?:on|in|at) (?P<place>.+)", _where_found),
        (rf"how many(?: of them)?(?: (?P<thing>[\w' -]+?))? did you (?P<verb>\w+){_WHOM}{_AT}{_OF_TIME}", _how_many),
        (rf"whom? did you (?P<verb>\w+) (?P<thing>.+?) to{_OF_TIME}", _to_whom),
        (rf"why did you (?P<verb>\w+){_WHOM} (?P<thing>.+?){_OF_TIME}", _why),
        (r"why (?:is|are) (?P<thing>.+?)(?: still)? (?:on|in|at) (?P<place>.+)", _why_there),
        (r"who (?P<verb>\w+) (?P<thing>.+?)(?: away| out)?", _who),
        (rf"did you (?P<verb>\w+){_WHOM} (?P<thing>.+?){_OF_TIME}", _did),
    )
)  # fmt: skip
