"""Answers plain questions about the past and about what people told, from memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from memory_node.domain.deed import Deed
from memory_node.planner.reading.past import clock_of, spoken_deed, verb_of
from memory_node.planner.reading.phrase import TIME, phrase_of
from memory_node.planner.reading.references import References, UnreadableError

_OF_TIME = rf"(?: (?P<time>{TIME}))?"
_AT = rf"(?: (?:from|in|into|on|onto|to) (?:the )?(?P<place>(?!{TIME})[\w' -]+?))?"


def answer_to(question: str, references: References) -> str:
    """Return the answer to a plain question, in words.

    Raises:
        UnreadableError: it is none of the plain forms.
    """
    plain = " ".join(question.replace("’", "'").split()).strip(" ?.!")
    plain = plain[:1].lower() + plain[1:]
    for form, answer in _FORMS:
        match = form.match(plain)
        if match is not None:
            return answer(references, match)
    raise UnreadableError(question)


def _what(references: References, match: re.Match[str]) -> str:
    verb, place = _verb(match["verb"]), match["place"]
    to_class = _class_of(place, references) if place else ""
    to_me = (match["who"] or "").lower() == "me"
    deeds = references.past.found(verb, (), match["time"] or "", to_me, to_class)
    if match["who"] and not to_me:
        person = references.person(match["who"])
        deeds = [deed for deed in deeds if deed.to_id == person.thing_id]
    when = f" {match['time']}" if match["time"] else ""
    names = list(dict.fromkeys(references.kinds[deed.object_class].best_name for deed in deeds))
    if not names:
        return f"I remember nothing that I {_past(verb)}{when}."
    return f"I {_past(verb)} {_listed([f'the {name}' for name in names])}{when}."


def _when(references: References, match: re.Match[str]) -> str:
    verb = _verb(match["verb"])
    classes = (_class_of(match["thing"], references),)
    name = references.kinds[classes[0]].best_name
    deeds = references.past.found(verb, classes)
    if not deeds:
        return f"I do not remember that I ever {_past(verb)} the {name}."
    when = clock_of(deeds[-1].stamp_ns, references.now_ns, references.zone)
    return f"I last {_past(verb)} the {name} {when}."


def _how_often(references: References, match: re.Match[str]) -> str:
    verb = _verb(match["verb"])
    classes = (_class_of(match["thing"], references),)
    deeds = references.past.found(verb, classes, match["time"] or "")
    times = {0: "never", 1: "once", 2: "twice (2 times)"}.get(len(deeds), f"{len(deeds)} times")
    when = f" {match['time']}" if match["time"] else ""
    return f"I {_past(verb)} the {references.kinds[classes[0]].best_name} {times}{when}."


def _did(references: References, match: re.Match[str]) -> str:
    verb = _verb(match["verb"])
    classes = (_class_of(match["thing"], references),)
    deeds = references.past.found(verb, classes, match["time"] or "")
    name = references.kinds[classes[0]].best_name
    if not deeds:
        return f"No, I do not remember that I {_past(verb)} the {name}."
    return f"Yes, {clock_of(deeds[-1].stamp_ns, references.now_ns, references.zone)}."


def _did_today(references: References, match: re.Match[str]) -> str:
    deeds = references.past.found("use", (), match["time"] or "today")
    done = dict.fromkeys(
        _told(deed, references) for deed in deeds if deed.skill not in ("PickupObject", "OpenObject", "CloseObject")
    )
    return f"I {_listed(list(done))}." if done else f"I did nothing {match['time'] or 'today'}."


def _how(references: References, match: re.Match[str]) -> str:
    """Tell a way that worked, also where it worked for another kind of thing."""
    verb = _verb(match["verb"])
    thing = _class_of(match["thing"], references)
    deeds = references.past.found(verb, (thing,)) or references.past.found(verb)
    if not deeds:
        raise UnreadableError(match.group())
    last = deeds[-1]
    before = [one for one in references.deeds if one.episode_id == last.episode_id and one.stamp_ns <= last.stamp_ns]
    done = dict.fromkeys(_told(one, references) for one in before)
    name, other = (references.kinds[one].best_name for one in (thing, last.object_class))
    like = "" if thing == last.object_class else f" as I did with the {other}"
    return f"To {verb} the {name}{like}: I {_listed(list(done))}."


def _about(references: References, match: re.Match[str]) -> str:
    who = match["who"].removeprefix("my ")
    name = references.binding.person_called(who)
    facts = references.binding.about_person(who)
    if name != who:
        facts = [one for one in references.binding.current if one.object.words == name] + facts
    said = dict.fromkeys(fact.text.rstrip(".") for fact in facts)
    return ". ".join(said) + "." if said else f"Nobody told me anything about {name}."


def _told(deed: Deed, references: References) -> str:
    kinds = references.kinds
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


def _class_of(words: str, references: References) -> str:
    phrase = phrase_of(words, references.kinds)
    if phrase is None or phrase.pronoun:
        raise UnreadableError(words)
    return phrase.classes[0]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


_FORMS: tuple[tuple[re.Pattern[str], Callable[[References, re.Match[str]], str]], ...] = tuple(
    (re.compile(rf"^{form}$"), answer)
    for form, answer in (
        (rf"what did you do{_OF_TIME}", _did_today),
        (rf"what did you (?P<verb>\w+)(?: (?P<who>me|[A-Z][\w-]*))?{_AT}{_OF_TIME}", _what),
        (r"when did you last (?P<verb>\w+) (?P<thing>.+)", _when),
        (rf"how often did you (?P<verb>\w+) (?P<thing>.+?){_OF_TIME}", _how_often),
        (r"how (?:do|can) (?:you|I|we) (?P<verb>\w+) (?P<thing>.+)", _how),
        (rf"did you (?P<verb>\w+) (?P<thing>.+?){_OF_TIME}", _did),
        (r"what (?:should I know|do you know|did people tell you) about (?P<who>my [a-z]+|[A-Z][\w-]*)", _about),
    )
)  # fmt: skip
