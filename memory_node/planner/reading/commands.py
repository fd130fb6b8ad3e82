"""Reads plain commands: VERB THING [PLACE], several of them joined by comma, "and" and "then"."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import replace

from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ATTRIBUTES, ObjectState
from memory_node.knowledge.text import on_one_line
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.reading.references import References, UnreadableError, bare
from memory_node.questions.past import TIME

_K = GoalKind
_TREATED: dict[str, tuple[GoalKind, ObjectState | None]] = {
    "wash": (_K.CLEAN, ObjectState.CLEANED),
    "clean": (_K.CLEAN, ObjectState.CLEANED),
    "rinse": (_K.CLEAN, ObjectState.CLEANED),
    "heat": (_K.HEAT, None),
    "warm": (_K.HEAT, None),
    "cook": (_K.HEAT, None),
    "cool": (_K.COOL, None),
    "chill": (_K.COOL, None),
    "slice": (_K.SLICE, None),
    "cut": (_K.SLICE, None),
    "fill": (_K.FILL, None),
    "empty": (_K.EMPTY, ObjectState.USED_UP),
    "open": (_K.OPEN, None),
    "close": (_K.CLOSE, ObjectState.CLOSED),
    "shut": (_K.CLOSE, ObjectState.CLOSED),
    "break": (_K.BREAK, None),
    "find": (_K.FIND, None),
}
# What is done to a thing so that it is as somebody likes it.
_BRINGS_ABOUT = {
    ObjectState.SLICED: "slice",
    ObjectState.HEATED: "heat",
    ObjectState.COOKED: "cook",
    ObjectState.COLD: "cool",
    ObjectState.CLEANED: "wash",
}
_PUT = r"(?:put|place|set|lay|move|bring|take|stand|leave|return|store|tidy)"
_GIVE = r"(?:bring|give|hand|get|fetch|take|pass)"
_WHO = r"(?P<who>me|us|him|her|them|my [a-z]+(?: [A-Z][\w-]*)?|[A-Z][\w-]*\.?(?: [A-Z][\w-]*)*)"
_OPEN = r"(?:(?:a|some) snack|something to (?:eat|drink)|\S+ favou?rite \w+)"
_HOW = r"(?:in|into|on|onto|to|inside)"
_BELONGS = r"(?:belongs?|goes|go|lives?|(?:should|has to|have to) (?:be|go))"
_ITS_SPOT = r"(?:(?:to |in )?the (?:place|spot)(?: where| that| which)?|(?:to )?where)"
_WAS = rf"{_ITS_SPOT} (?:it|they) (?:was|were|sat|stood|lay|came from)(?: {TIME})?"
_YOU_DID = rf"(?:(?: before)? you [a-z]+ (?:it|them)(?: to me)?(?: {TIME})?)?"
_SHOULD = r"(?:should|must|has to|have to|ought to|can) (?:sit|stand|lie|be|go)"
_ITS_PLACE = r"(?:in|to) (?:its|their) (?:place|home)"
_ARTICLE = r"(?:the|a|an|my|his|her|their|some|another|[A-Z][\w-]*(?: [A-Z][\w-]*)*'s)"
_BEGIN = rf"(?:{_PUT}|{_GIVE}|{'|'.join(_TREATED)}|turn|switch|throw|bin|go|make)"
_PLACED_IN = re.compile(rf"^{_PUT} (?P<thing>.+?) {_HOW} (?P<place>.+)$")
_AND = re.compile(rf"(?:,? and then |,? then |,? and |, )(?={_BEGIN}\b)")
_POLITE = re.compile(
    r"^(?:please|now|could you(?: please)?|can you(?: please)?|would you(?: please)?)[, ]+|"
    r"(?:,? (?:please|now|then|instead|too|will you|would you))+$",
    re.I,
)
_REQUEST = re.compile(r"(?:could|can|would) you ", re.IGNORECASE)

_TAIL = rf"(?: (?:to|{_HOW}|next to|beside) .+| with water| away| back .+| where .+)"
_NO_PLACE = r" away|(?: back)? where (?:it|they) .+| back"  # what is said instead of a place
_VERB = rf"(?:{_BEGIN}(?: (?:on|off|up|away))?(?: {_WHO.replace('?P<who>', '?:')})?) "
_LIST = re.compile(rf"(?:,? and |, )(?={_ARTICLE} )")
_ONE = re.compile(rf"^(?P<begin>{_VERB})(?P<thing>{_ARTICLE} .+?)(?P<end>{_TAIL})?$")
_LISTED = re.compile(rf"^(?P<begin>{_VERB})(?P<things>{_ARTICLE} .+(?:,? and |, ){_ARTICLE} .+?)(?P<end>{_TAIL})?$")
_THEM = re.compile(r"\bthem\b")
_FROM = re.compile(r" from (?!.* from ).+$")

# "Take the mug from the desk and wash it": what is taken from a place only to do something with it.
_TAKEN_FIRST = re.compile(
    r"^(?:take|get|fetch|grab|pick up) (?P<thing>[^,]+? from (?:(?! (?:to|in|into|on|onto) )[^,])+?)"
    rf"(?:,? and(?: then)?|,? then|,) (?P<begin>{_BEGIN}) it\b"
)
# "The pen that you gave me has run dry, bin it": what is said of it in between is only why.
_SAID_FIRST = re.compile(
    rf"^(?P<thing>{_ARTICLE} [\w' -]+? (?:you|I) [^,]+?) (?:is|has) (?!not |to )[\w ]+, (?P<begin>{_BEGIN}) it\b"
)

_SAYS = re.compile(
    rf"^(?:{_BEGIN}|what|where|whose?|when|how|is|are|do|does|did|can|may|has|have|remember|note|forget|stop|cancel|never|"
    r"continue|carry|resume|keep|no|yes)\b",
    re.I,
)

_GIVING = (rf"{_GIVE} {_WHO} (?P<thing>{_ARTICLE} .+)", rf"{_GIVE} (?P<thing>.+) (?:to|for) {_WHO}")
_GIVEN = tuple(re.compile(f"^{form}$") for form in _GIVING)
_Made = Callable[[References, re.Match[str]], Goal]


def is_fragment(text: str) -> bool:
    """Return whether a text begins like neither a command nor a question: "the one on the desk", "on the desk"."""
    return not _SAYS.match(_POLITE.sub("", text.strip()))


def commands_of(text: str) -> list[str]:
    """Return the commands of an instruction, each with one thing: "wash the fork and the cup and put them in the sink"
    has four."""
    said = on_one_line(text).strip(" .!")
    plain = _POLITE.sub("", said.rstrip(" ?") if _REQUEST.match(said) else said)
    for first in (_TAKEN_FIRST, _SAID_FIRST):
        plain = first.sub(r"\g<begin> \g<thing>", plain[:1].lower() + plain[1:])
    commands: list[str] = []
    things: list[str] = []
    for part in _AND.split(plain):
        shared = _THEM.split(part.strip(" ,"), maxsplit=1)
        if len(shared) == 2 and things:
            commands += [f"{shared[0]}{thing}{shared[1]}" for thing in things]
            continue
        each = _each(part.strip(" ,"))
        commands += [f"{begin}{thing}{end}" for begin, thing, end in each]
        things += [thing for _, thing, _ in each if thing]
    return commands


def _each(command: str) -> list[tuple[str, str, str]]:
    """Return a command for each of the things that it lists, as what stands before the thing, the thing, and behind.
    Where the last one is taken from, the others are: "the pen and the cup from the desk"."""
    listed = _LISTED.match(command)
    if listed is None:
        one = _ONE.match(command)
        return [(one["begin"], one["thing"], one["end"] or "")] if one is not None else [(command, "", "")]
    begin, end = listed["begin"], listed["end"] or ""
    if not re.match(rf"(?:{_PUT}|{_GIVE}|throw)\b", begin):
        return [(begin, thing, "") for thing in _LIST.split(listed["things"] + end)]
    # "put the fork and the spoon in the drawer and the cup in the cabinet": what has no place of its own has the next.
    own = re.compile(rf"^(.+?)({_NO_PLACE})$|^(.+)( {'to' if end.startswith(' to ') else _HOW} .+)$")
    each: list[tuple[str, str, str]] = []
    *_, last = things = _LIST.split(listed["things"])
    origin = _FROM.search(last)
    for thing in reversed(things):
        placed = own.match(thing) if end and each else None
        if origin is not None and placed is None and not _FROM.search(thing):
            thing += origin.group()
        thing, end = filter(None, placed.groups()) if placed is not None else (thing, end)
        each.insert(0, (begin, thing, end))
    return each


def as_liked(command: str, references: References) -> list[str]:
    """Return a command, behind the one that first does with its thing what the person is told to like: "bring Ida an
    apple", who likes them sliced; or what its name means: "the usual" is a cold apple.

    Raises:
        UnclearError: it leaves open who is meant.
    """
    given = next(filter(None, (form.match(command) for form in _GIVEN)), None)
    try:
        person = references.person(given["who"]).text if given is not None else ""
        phrase = references.phrase(given["thing"]) if given is not None else None
    except UnreadableError:
        return [command]
    if given is None or phrase is None or not phrase.classes:
        return [command]
    named = bare(given["thing"])
    if phrase.states:  # "the usual", which means a cold apple
        is_called_so = references.binding.meant_by(named) != named
        verb = _BRINGS_ABOUT.get(phrase.states[0]) if is_called_so else None
    else:
        fact = references.binding.preparation_for(person, phrase.classes[0])
        verb = _BRINGS_ABOUT.get(ATTRIBUTES[fact.object.attributes]) if fact is not None else None
        references.note([fact] if fact is not None and verb is not None else [])
    if verb is None:
        return [command]
    return [f"{verb} {given['thing']}", f"bring it to {given['who']}"]


def goal_of(command: str, references: References) -> Goal:
    """Return the goal of one command.

    Raises:
        UnreadableError: it is none of the plain forms.
        UnclearError: it leaves open what is meant.
    """
    references.verb = command.partition(" ")[0]
    # "bring Ida the mug again": the mug of last time.
    words = re.sub(rf"^({_BEGIN} .*?{_ARTICLE} [\w' -]+?)( (?:to|{_HOW}) .+) again$", r"\1 again\2", command)
    for form, made in _FORMS:
        match = form.match(words)
        if match is not None:
            return made(references, match).changed(text=command)
    raise UnreadableError(command)


def _given(references: References, match: re.Match[str]) -> Goal:
    person = references.person(match["who"])
    return Goal(_K.PLACE, references.thing(match["thing"]), person)


def _wished(references: References, match: re.Match[str]) -> Goal:
    person = references.person(match["who"])
    return Goal(_K.PLACE, references.wished(person.text, match["thing"]), person)


def _put(references: References, match: re.Match[str]) -> Goal:
    split = _PLACED_IN.match(match.group())
    readings = [(match["thing"], match["place"])]
    if split is not None and split["place"] != match["place"]:
        # "The apple in the sink in the kitchen": a room says where the place before it is, if it has such a one.
        last = references.is_room(match["place"])
        readings.insert(0 if last else 1, (split["thing"], split["place"]))
    for thing, place in readings:
        with contextlib.suppress(UnreadableError):
            target = references.thing(thing)
            goal = Goal(_K.PLACE, target, references.place(place, target))
            # Nothing is put into the room that it is in already where the words may mean another place.
            is_there = goal.destination is not None and references.is_in_room(goal.target, goal.destination)
            if not is_there or len(readings) == 1:
                return goal
    raise UnreadableError(match.group())


def _put_where_it_belongs(references: References, match: re.Match[str]) -> Goal:
    thing, behind = references.thing(match["thing"]), match.group()[match.end("thing") :].strip()
    asks = behind if "where " in behind else ""
    return Goal(_K.PLACE, thing, references.where_it_belongs(thing, asks))


def _put_where_it_was(references: References, match: re.Match[str]) -> Goal:
    thing, place = references.where_it_was(references.thing(match["thing"]))
    return Goal(_K.PLACE, thing, place)


def _put_next_to(references: References, match: re.Match[str]) -> Goal:
    thing, other = references.thing(match["thing"]), references.place(match["place"])
    beside = Mention(other.text, other.candidates, other.states, beside=True, thing_id=other.thing_id)
    return Goal(_K.PLACE, thing, beside)


def _treated(references: References, match: re.Match[str]) -> Goal:
    kind, wanted = _TREATED[match["verb"]]
    able = Property.OPENABLE if kind in (_K.OPEN, _K.CLOSE) else None
    thing = references.thing(match["thing"], wanted, able)
    if kind is _K.CLOSE and references.are_several_open(match["thing"]):
        # Whoever says "close the drawer" where several stand open wants none of them open.
        return Goal(kind, replace(thing, states=(ObjectState.OPENED,), thing_id=""), every=True)
    return Goal(kind, thing)


def _switched(references: References, match: re.Match[str]) -> Goal:
    is_on = match["state"] == "on"
    kind = _K.SWITCH_ON if is_on else _K.SWITCH_OFF
    return Goal(kind, references.thing(match["thing"], None if is_on else ObjectState.OFF, Property.TOGGLEABLE))


def _thrown_away(references: References, match: re.Match[str]) -> Goal:
    bins = references.kinds.bins
    if not bins:
        raise UnreadableError(match.group())
    return Goal(_K.PLACE, references.thing(match["thing"]), Mention("away", bins))


# The first form that matches a command reads it.
_FORMS: tuple[tuple[re.Pattern[str], _Made], ...] = tuple(
    (re.compile(rf"^{form}$"), made)
    for form, made in (
        (r"throw (?P<thing>.+) away", _thrown_away),
        (r"(?:throw away|bin) (?P<thing>.+)", _thrown_away),
        (rf"{_PUT} (?P<thing>.+?) (?:back )?where (?:it|they) {_BELONGS}", _put_where_it_belongs),
        (rf"(?=return |.* back |.* before you )(?={_PUT} |.+ {_SHOULD} )"
         rf"(?:{_PUT} )?(?P<thing>.+?)(?: {_SHOULD})?(?: back)? {_WAS}{_YOU_DID}", _put_where_it_was),
        (rf"{_PUT} (?P<thing>.+?) (?:away|back|(?:back )?{_ITS_PLACE})", _put_where_it_belongs),
        (rf"{_PUT} away (?P<thing>.+)", _put_where_it_belongs),
        (rf"(?:make|{_GIVE}) {_WHO} (?P<thing>{_OPEN})", _wished),
        (rf"{_GIVE} (?P<thing>{_OPEN}) to {_WHO}", _wished),
        *((form, _given) for form in _GIVING),
        (rf"{_PUT} (?P<thing>.+) (?:next to|beside) (?:the |a )?(?P<place>.+)", _put_next_to),
        (rf"{_PUT} (?P<thing>.+) {_HOW} (?P<place>(?:the |my |a |an )?.+)", _put),
        (r"(?:turn|switch) (?P<state>on|off) (?P<thing>.+)", _switched),
        (r"(?:turn|switch) (?P<thing>.+) (?P<state>on|off)", _switched),
        (r"(?P<verb>fill) (?P<thing>.+?)(?: with water)?", _treated),
        (rf"(?P<verb>{'|'.join(_TREATED)}) (?:up )?(?P<thing>.+?)(?: up)?", _treated),
    )
)  # fmt: skip
