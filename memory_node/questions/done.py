"""Answers plain questions about what the robot did, and how it did it, from its deeds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.deed import Deed
from memory_node.domain.scene import SceneSnapshot
from memory_node.knowledge.told.binding import BindingFacts
from memory_node.questions.past import Past, clock_of, spoken_deed, verb_of
from memory_node.questions.phrase import TIME, phrase_of

_OF_TIME = rf"(?: (?P<time>{TIME}))?"
_AT = rf"(?: (?:from|in|into|on|onto|to) (?:the )?(?P<place>(?!{TIME})[\w' -]+?))?"


class UnreadableError(Exception):
    """The words are none of the plain forms; never leaves a reader."""


@dataclass
class PlainPast:
    """What questions about the past are answered from.

    kinds: the label space; scene: what memory knows; facts: what was told, as an index; deeds: what the robot did, the
    newest last; now_ns, zone: what "yesterday" counts from.
    """

    kinds: ObjectCatalogue
    scene: SceneSnapshot
    facts: BindingFacts
    deeds: Sequence[Deed]
    now_ns: int
    zone: tzinfo | None = None

    def __post_init__(self) -> None:
        self.past = Past(self.deeds, self.scene, self.kinds.recipient, self.now_ns, self.zone)

    def answer(self, question: str) -> str:
        """Return the answer to a plain question, in words; "" where it is none of the plain forms."""
        plain = " ".join(question.replace("’", "'").split()).strip(" ?.!")
        plain = plain[:1].lower() + plain[1:]
        for form, answer in _FORMS:
            match = form.match(plain)
            if match is not None:
                try:
                    return answer(self, match)
                except UnreadableError:
                    return ""
        return ""

    def person_id(self, words: str) -> str:
        """Return memory's id of somebody of a name; raises UnreadableError where nobody of that name was seen."""
        name = self.facts.person_called(words.removeprefix("my ")).lower()
        found = [one.id for one in self.scene.objects if str(one.attributes.get("name", "")).lower() == name]
        if not found:
            raise UnreadableError(words)
        return found[0]


def _what(known: PlainPast, match: re.Match[str]) -> str:
    verb, place = _verb(match["verb"]), match["place"]
    to_class = _class_of(place, known) if place else ""
    to_me = (match["who"] or "").lower() == "me"
    deeds = known.past.found(verb, (), match["time"] or "", to_me, to_class)
    if match["who"] and not to_me:
        person_id = known.person_id(match["who"])
        deeds = [deed for deed in deeds if deed.to_id == person_id]
    when = f" {match['time']}" if match["time"] else ""
    names = list(dict.fromkeys(known.kinds[deed.object_class].best_name for deed in deeds))
    if not names:
        return f"I remember nothing that I {_past(verb)}{when}."
    return f"I {_past(verb)} {_listed([f'the {name}' for name in names])}{when}."


def _when(known: PlainPast, match: re.Match[str]) -> str:
    verb = _verb(match["verb"])
    classes = (_class_of(match["thing"], known),)
    name = known.kinds[classes[0]].best_name
    deeds = known.past.found(verb, classes)
    if not deeds:
        return f"I do not remember that I ever {_past(verb)} the {name}."
    when = clock_of(deeds[-1].stamp_ns, known.now_ns, known.zone)
    return f"I last {_past(verb)} the {name} {when}."


def _how_often(known: PlainPast, match: re.Match[str]) -> str:
    verb = _verb(match["verb"])
    classes = (_class_of(match["thing"], known),)
    deeds = known.past.found(verb, classes, match["time"] or "")
    times = {0: "never", 1: "once", 2: "twice (2 times)"}.get(len(deeds), f"{len(deeds)} times")
    when = f" {match['time']}" if match["time"] else ""
    return f"I {_past(verb)} the {known.kinds[classes[0]].best_name} {times}{when}."


def _did(known: PlainPast, match: re.Match[str]) -> str:
    verb = _verb(match["verb"])
    classes = (_class_of(match["thing"], known),)
    deeds = known.past.found(verb, classes, match["time"] or "")
    name = known.kinds[classes[0]].best_name
    if not deeds:
        return f"No, I do not remember that I {_past(verb)} the {name}."
    return f"Yes, {clock_of(deeds[-1].stamp_ns, known.now_ns, known.zone)}."


def _did_today(known: PlainPast, match: re.Match[str]) -> str:
    deeds = known.past.found("use", (), match["time"] or "today")
    done = dict.fromkeys(
        _told(deed, known) for deed in deeds if deed.skill not in ("PickupObject", "OpenObject", "CloseObject")
    )
    return f"I {_listed(list(done))}." if done else f"I did nothing {match['time'] or 'today'}."


def _how(known: PlainPast, match: re.Match[str]) -> str:
    """Tell a way that worked, also where it worked for another kind of thing."""
    verb = _verb(match["verb"])
    thing = _class_of(match["thing"], known)
    deeds = known.past.found(verb, (thing,)) or known.past.found(verb)
    if not deeds:
        raise UnreadableError(match.group())
    last = deeds[-1]
    before = [one for one in known.deeds if one.episode_id == last.episode_id and one.stamp_ns <= last.stamp_ns]
    done = dict.fromkeys(_told(one, known) for one in before)
    name, other = (known.kinds[one].best_name for one in (thing, last.object_class))
    like = "" if thing == last.object_class else f" as I did with the {other}"
    return f"To {verb} the {name}{like}: I {_listed(list(done))}."


def _told(deed: Deed, known: PlainPast) -> str:
    kinds = known.kinds
    told = spoken_deed(deed, kinds[deed.object_class].best_name)
    if deed.skill == "PutObject" and deed.to_class:
        to = "to you" if deed.to_class == kinds.recipient else f"on or in the {kinds[deed.to_class].best_name}"
        return f"{told.replace('put', 'brought', 1)} {to}" if to == "to you" else f"{told} {to}"
    if deed.skill in ("CleanObject", "HeatObject", "CoolObject", "FillObject") and deed.to_class:
        return f"{told} at the {kinds[deed.to_class].best_name}"
    return told


def _verb(word: str) -> str:
    verb = verb_of(word)
    if not verb:
        raise UnreadableError(word)
    return verb


def _past(verb: str) -> str:
    irregular = {"bring": "brought", "give": "gave", "take": "took", "put": "put", "cut": "cut", "throw": "threw",
                 "get": "got", "empty": "emptied"}  # fmt: skip
    return irregular.get(verb) or (f"{verb}d" if verb.endswith("e") else f"{verb}ed")


def _class_of(words: str, known: PlainPast) -> str:
    phrase = phrase_of(words, known.kinds)
    if phrase is None or phrase.pronoun:
        raise UnreadableError(words)
    return phrase.classes[0]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


_FORMS: tuple[tuple[re.Pattern[str], Callable[[PlainPast, re.Match[str]], str]], ...] = tuple(
    (re.compile(rf"^{form}$"), answer)
    for form, answer in (
        (rf"what did you do{_OF_TIME}", _did_today),
        (rf"what did you (?P<verb>\w+)(?: (?P<who>me|[A-Z][\w-]*))?{_AT}{_OF_TIME}", _what),
        (r"when did you (?:last )?(?P<verb>\w+) (?P<thing>.+)", _when),
        (rf"how often did you (?P<verb>\w+) (?P<thing>.+?){_OF_TIME}", _how_often),
        (r"how (?:do|can) (?:you|I|we) (?P<verb>\w+) (?P<thing>.+)", _how),
        (rf"did you (?P<verb>\w+) (?P<thing>.+?){_OF_TIME}", _did),
    )
)  # fmt: skip
