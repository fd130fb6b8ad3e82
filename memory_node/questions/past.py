"""Finds deeds, and things, by the words that people use for them: "the mug that you washed this morning"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.names import singular
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill_library import GOALS, GoalKind
from memory_node.domain.states import ATTRIBUTES, ObjectState
from memory_node.domain.step import Deed
from memory_node.knowledge.text import DAYS, on_one_line

# By a verb the skills that are meant: what kinds of goals are called, and other words.
_SKILLS = {kind.value: goal.skills for kind, goal in GOALS.items() if goal.treats} | {
    verb: skills
    for verbs, *skills in (
        ("wash rinse", "CleanObject"),
        ("warm cook", "HeatObject"),
        ("chill", "CoolObject"),
        ("cut chop", "SliceObject"),
        ("break", "BreakObject"),
        ("switch_on", "SwitchOn", "ToggleOn"),
        ("switch_off", "SwitchOff", "ToggleOff"),
        ("open", "OpenObject"),
        ("close", "CloseObject"),
        ("put place lay move carry bring fetch give hand get", "PutObject"),
        ("take pick_up", "PickupObject"),
        ("throw throw_away", "ThrowObject", "PutObject"),
        ("use handle touch",),
    )
    for verb in verbs.split()
}
_PASTS = {
    **{"bring": "brought", "give": "gave", "go": "went", "take": "took", "put": "put", "cut": "cut", "throw": "threw"},
    **{"lay": "laid", "get": "got", "empty": "emptied", "carry": "carried", "break": "broke", "chop": "chopped"},
}
_FORMS = {past: verb for verb, past in _PASTS.items()}
_FORMS |= {"taken": "take", "given": "give", "broken": "break"} | dict.fromkeys(
    ("threw_away", "thrown_away"), "throw_away"
)
_GIVING = frozenset({"bring", "fetch", "give", "get", "hand"})
_DISCARDING = frozenset({"throw", "throw_away"})
_PARTICLE = (
    (re.compile(r"\b(?:turn|switch)(?:ed)? (on|off)\b"), r"switch_\1"),
    (re.compile(r"\b(?:turn|switch)(?:ed)? ((?:the|my|a) [\w' -]+?) (on|off)\b"), r"switch_\2 \1"),
    (re.compile(r"\bI (?:have )?(?:got|had|received) (?:from|off) you\b"), "you gave me"),
    (re.compile(r"\bpick(?:ed)? up\b"), "pick_up"),
    (re.compile(r"\b(?:throw|threw|thrown) away\b"), "throw_away"),
)
_UNITS = {"day": 1, "week": 7, "month": 30}
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_MOST_BACK = 1000
_NS = 10**9


def with_whole_verbs(text: str) -> str:
    """Return a text with each verb of two words as one: "that you turned on" as "that you switch_on"."""
    for two, one in _PARTICLE:
        text = two.sub(one, text)
    return text


def verb_of(word: str) -> str:
    """Return the verb of a form, "" where no deed is meant: "washed" and "wash" are wash."""
    word = word.lower()
    for verb in (_FORMS.get(word, ""), word, word.removesuffix("d"), word.removesuffix("ed"), word[:-3]):
        if verb in _SKILLS:
            return verb
    return ""


def past_form(verb: str) -> str:
    """Return a verb's past: "wash" as "washed", "switch_on" as "switched on"."""
    first, _, particle = verb.partition("_")
    form = _PASTS.get(first) or (f"{first}d" if first.endswith("e") else f"{first}ed")
    return f"{form} {particle}".strip()


def span_of(words: str, now_ns: int, zone: tzinfo | None) -> tuple[int, int]:
    """Return the stamps between which "yesterday", "last week", "on Sunday" lie; everything until now for other words.

    A week counts as seven days, a month as thirty.
    """
    now = datetime.fromtimestamp(now_ns / _NS, zone)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    days = _days_of(words.lower(), now)
    hours = days or {
        "today": (0, 24),
        "yesterday": (-24, 0),
        "this morning": (0, 12),
        "this afternoon": (12, 18),
        "this evening": (17, 24),
        "last night": (-7, 5),
    }.get(words.lower())
    if hours is None:
        return 0, now_ns + 1
    first, last = (_at(midnight, hour) for hour in hours)
    return first, last


def _days_of(words: str, now: datetime) -> tuple[int, int] | None:
    """Return the hours from the last midnight between which a span of whole days lies; None for other words."""
    which, _, what = words.partition(" ")
    if what in DAYS and which in ("on", "last"):
        back = (now.weekday() - DAYS.index(what)) % 7 or 7
        return -24 * back, -24 * (back - 1)
    if which == "last" and what in _UNITS:
        return -24 * _UNITS[what], 0
    ago = re.fullmatch(r"(\w+) (day|week|month)s? ago", words)
    if ago is None or not (ago[1].isdigit() or ago[1] in _COUNTS):
        return None
    back = min(int(ago[1]) if ago[1].isdigit() else _COUNTS[ago[1]], _MOST_BACK) * _UNITS[ago[2]]
    return -24 * back, 24 * (_UNITS[ago[2]] - back)


def _at(midnight: datetime, hour: int) -> int:
    day, rest = divmod(hour, 24)
    # By the clock on the wall, also where a day has 23 hours.
    local = (midnight.replace(tzinfo=None) + timedelta(days=day, hours=rest)).replace(tzinfo=midnight.tzinfo)
    return round(local.timestamp()) * _NS


class Past:
    """deeds: all that worked, the newest last. scene: tells whom something was given to. kinds: which classes are
    people, and where things are thrown away, washed and heated. now_ns: from which "today" counts."""

    def __init__(
        self, deeds: Sequence[Deed], scene: SceneSnapshot, kinds: ObjectCatalogue, now_ns: int, zone: tzinfo | None
    ) -> None:
        self._deeds, self._with_treatments = deeds, tuple(_with_treatments(deeds, kinds))
        self._recipient, self._bins = kinds.recipient, kinds.bins
        self._users = {
            one.id for one in scene.objects if one.class_name == kinds.recipient and not one.attributes.get("name")
        }
        self._now_ns, self._zone = now_ns, zone

    def found(
        self, verb: str, classes: Sequence[str] = (), time: str = "", to_me: bool = False, by_hand: bool = True
    ) -> list[Deed]:
        """Return the deeds that a verb means, the newest last. classes: of the thing; what a thing was put into or done
        at was used, too. to_me: that brought it to the user. by_hand: also washing and heating by single calls."""
        skills = _SKILLS.get(verb_of(verb), ())
        begin, end = span_of(time, self._now_ns, self._zone)
        gives, discards = to_me or verb_of(verb) in _GIVING, verb_of(verb) in _DISCARDING
        return [
            deed
            for deed in (self._with_treatments if by_hand else self._deeds)
            if (not skills or deed.skill in skills)
            and (not classes or deed.object_class in classes or (not skills and deed.to_class in classes))
            and begin <= deed.stamp_ns < end
            and (not gives or (deed.to_class == self._recipient and (not to_me or self._is_user(deed))))
            and (not discards or deed.skill == "ThrowObject" or deed.to_class in self._bins)
        ]

    def last_of(self, classes: Sequence[str]) -> Deed | None:
        """Return the last deed with a thing of some classes."""
        return next((deed for deed in reversed(self._deeds) if deed.object_class in classes and deed.object_id), None)

    def place_before(self, object_id: str) -> Deed | None:
        """Return the deed by which a thing was last taken from where it stood."""
        taken = (one for one in reversed(self._deeds) if one.object_id == object_id and one.skill == "PickupObject")
        return next(taken, None)

    def origin(self, deed: Deed) -> tuple[str, str]:
        """Return the id and class of what a deed's thing was taken from for it; "" where that is not known."""
        if deed.from_class:
            return deed.from_id, deed.from_class
        taken = [one for one in self._deeds if one.object_id == deed.object_id and one.skill == "PickupObject"]
        last = next((one for one in reversed(taken) if one.stamp_ns <= deed.stamp_ns), None)
        return (last.from_id, last.from_class) if last is not None else ("", "")

    def _is_user(self, deed: Deed) -> bool:
        return not self._users or deed.to_id in self._users or not deed.to_id


def _with_treatments(deeds: Sequence[Deed], kinds: ObjectCatalogue) -> Iterator[Deed]:
    """Yield deeds, and with them each washing and heating that was done by single calls: what was put into the sink was
    washed when the same instruction turned the tap on."""
    lying: dict[tuple[str, str], Deed] = {}
    for deed in deeds:
        yield deed
        if deed.skill == "PutObject":
            lying[deed.object_id, deed.object_class] = deed
        elif deed.skill == "PickupObject":
            lying.pop((deed.object_id, deed.object_class), None)
        elif deed.skill == "ToggleOn":
            put = [one for one in lying.values() if one.episode_id == deed.episode_id]
            for usual in filter(None, map(kinds.usual_treatment, (GoalKind.CLEAN, GoalKind.HEAT))):
                for one in put:
                    if one.to_class in usual.at and _works_at(deed.object_class, one.to_class, kinds):
                        yield replace(one, skill=usual.skill, stamp_ns=deed.stamp_ns)


def _works_at(switched: str, place: str, kinds: ObjectCatalogue) -> bool:
    """Return whether turning a class of thing on treats what lies at a place: an appliance itself, a sink's tap."""
    if switched == place:
        return True
    tap, basin = kinds.find(switched), kinds.find(place)
    return bool(tap and basin and tap.can(Property.WATERS) and basin.can(Property.DRAINS))


def clock_of(stamp_ns: int, now_ns: int, zone: tzinfo | None) -> str:
    """Return when something was, in words: "today at 09:05", "yesterday at 18:30", "on Sunday, 2026-05-03 at
    12:00"."""
    then, now = (datetime.fromtimestamp(one / _NS, zone) for one in (stamp_ns, now_ns))
    days = (now.date() - then.date()).days
    day = {0: "today", 1: "yesterday"}.get(days, f"on {then:%A, %Y-%m-%d}")
    return f"{day} at {then:%H:%M}"


def spoken_deed(deed: Deed, name_of: str) -> str:
    """Return what was done with a thing, without when: "washed the apple"."""
    said = {"CleanObject": "wash", "PickupObject": "take", "ToggleOn": "turn_on", "ToggleOff": "turn_off"}
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", deed.skill.removesuffix("Object")).lower()
    return f"{past_form(said.get(deed.skill, plain))} the {name_of}"


TIME = (
    r"(?:today|yesterday|this (?:morning|afternoon|evening)|last (?:night|week|month)|(?:on|last) [A-Z][a-z]+day|"
    r"(?:\d+|an?|two|three|four|five|six) (?:day|week|month)s? ago|earlier|just now|before)"
)
_DETERMINER = r"(?P<owner>the|a|an|some|another|my|his|her|their|our|your|that|this|[A-Z][\w-]*'s|my [a-z]+'s)"
_PLACE = r"(?P<how>from|on|in|at|inside) (?:the |my |our |a )?(?P<place>[\w' -]+?)"
_WAY = r"(?P<way>from|out of|off|in|into|on|onto|over to|to|at|inside) (?:the |my |our |a )?(?P<at>[\w' -]+?)"
_DEED = (
    rf"(?: that| which)? you (?:have |had )?(?:just |last )?(?P<verb>[a-z_]+)(?: (?:to )?(?P<to>me|[A-Z][\w-]*))?"
    rf"(?: (?!{TIME}){_WAY})?(?: (?P<time>{TIME}))?"
)
_PHRASE = re.compile(
    rf"^(?:{_DETERMINER} )?(?P<noun>[\w][\w' -]*?)(?: {_PLACE})?(?P<again> again)?(?:{_DEED})?$",
)
# "The first thing that you brought me today": a deed names it, and no word does.
THING_OF_DEED = re.compile(rf"^the (?:(?P<which>first|last) )?thing{_DEED}$")
_PRONOUN = re.compile(r"^(?:it|them|that|this)$", re.I)


@dataclass(frozen=True)
class Phrase:
    """What the words say.

    text: the words. classes: likeliest first; () for a pronoun. others: classes that are called so, too. owner: "his",
    "Anna's", "my sister's", "" for an article. states: that it is said to have. place, how: what it is said to stand
    "on", "in", or to come "from". again: the one of last time. verb, to, time: what the robot is said to have done with
    it, and at, way: where it took it "from" or brought it "to". several: the noun is a plural, and no name of one
    thing.
    """

    text: str
    classes: tuple[str, ...] = ()
    owner: str = ""
    states: tuple[ObjectState, ...] = ()
    place: str = ""
    how: str = ""
    again: bool = False
    verb: str = ""
    to: str = ""
    time: str = ""
    at: str = ""
    way: str = ""
    another: bool = False
    others: tuple[str, ...] = ()
    several: bool = False

    @property
    def pronoun(self) -> bool:
        """Whether it stands for what was named before."""
        return not self.classes


def phrase_of(text: str, kinds: ObjectCatalogue, present: Collection[str] = ()) -> Phrase | None:
    """Return what words say of a thing; None where no class of the label space is called so.

    present: the classes of the home: of several that are called so alike, the only one among these is meant.
    """
    words = on_one_line(text).strip(" .!?,")
    if _PRONOUN.match(words):
        return Phrase(words)
    spelt = with_whole_verbs(words)
    match = _PHRASE.match(spelt[:1].lower() + spelt[1:] if not re.match(r"[A-Z][\w-]*'s ", spelt) else spelt)
    if match is None:
        return None
    noun, states = _without_states(match["noun"].lower())
    called = kinds.spoken_names.answering(noun)
    here = [one for one in called if one in present]
    name = kinds.spoken_names.only_class(noun) or (here[0] if len(here) == 1 else "")
    if not name:
        return None
    owner = match["owner"] or ""
    return Phrase(
        words,
        (name,),
        "" if owner in ("the", "a", "an", "some", "another", "that", "this", "our", "your") else owner,
        states,
        match["place"] or "",
        match["how"] or "",
        bool(match["again"]),
        match["verb"] or "",
        match["to"] or "",
        match["time"] or "",
        match["at"] or "",
        match["way"] or "",
        another=owner == "another",
        others=tuple(one for one in called if one != name),
        several=singular(noun) != noun and noun not in kinds[name].names,
    )


def _without_states(noun: str) -> tuple[str, tuple[ObjectState, ...]]:
    states = []
    first, _, rest = noun.partition(" ")
    while rest and first in ATTRIBUTES:
        states.append(ATTRIBUTES[first])
        noun = rest
        first, _, rest = noun.partition(" ")
    return noun, tuple(states)
