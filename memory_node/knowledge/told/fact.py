"""A told fact with its structure: who or what, in which relation, to what, how strictly, and for how long."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta, tzinfo
from typing import Any

from pydantic import TypeAdapter

from memory_node.domain.clock import PARTS_OF_DAY as _PARTS
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.text_enum import TextEnum
from memory_node.knowledge.text import DAYS, number_of


class Relation(TextEnum):
    """What a fact says of its subject. Functional ones have one value at a time: a later fact takes its place."""

    NEVER = "never"  # `verb` must not be done with the subject, at the object where there is one
    BROKEN = "broken"  # the subject cannot be used
    BELONGS = "belongs"  # the subject has its place in or on the object
    OWNED = "owned"  # the subject is the object's, a person
    AT = "at"  # the subject, a thing or person, is in or on the object
    CALLED = "called"  # the subject, a role ("brother") or a name of a thing, is the person or thing of the object
    AVOIDS = "avoids"  # the subject, a person, must not have the object
    LIKES = "likes"  # the subject, a person, likes the object
    CONTAINS = "contains"  # the subject, a kind of food, has the object in it
    SLEEPS = "sleeps"  # the subject sleeps in the object
    DOES = "does"  # the subject, a person, usually does the object, in words
    MEANS = "means"  # the subject, a verb or a saying, is done as the object, an order, says
    IS = "is"  # the object, in words, is true of the subject

    @property
    def functional(self) -> bool:
        """Whether a later fact about the same subject replaces an earlier one."""
        return self in ("broken", "belongs", "owned", "at", "called", "sleeps", "means")

    @property
    def of_things(self) -> bool:
        """Whether it bears on what is done with things; of documents only these are read."""
        return self in ("never", "broken", "avoids", "belongs", "owned", "contains")


@dataclass(frozen=True)
class Term:
    """What a fact speaks of.

    words: as it was said, without article. classes: that the words mean, () for a person, a role or mere words.
    attributes: what else is said of it ("blue"), which tells it from others of its class; a person's role ("niece").
    place: the classes of what it stood on or in when it was told ("the mug on the desk"). room: in which it stood.
    object_ids: memory's ids of the things that were meant then; () for the class as a whole.
    """

    words: str
    classes: tuple[str, ...] = ()
    attributes: str = ""
    place: tuple[str, ...] = ()
    room: str = ""
    object_ids: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """What two terms share that mean the same."""
        return (self.attributes if self.classes else self.words.lower(), self.object_ids or self.classes[:1])

    def is_same(self, other: Term) -> bool:
        """Return whether two terms mean the same; one in the same words may be of before memory knew the thing."""
        if self.key == other.key or (self.object_ids and other.object_ids):
            return self.key == other.key
        return bool(self.classes) and self._said == other._said

    @property
    def _said(self) -> tuple[object, ...]:
        return self.words.lower(), self.classes, self.attributes, self.place, self.room


NO_TERM = Term("")


@dataclass(frozen=True)
class ToldFact:
    """One statement, read. text: the words that it was told in.

    verb: of NEVER, what must not be done ("move", "heat", "put"). holds: False takes back what was told before ("the
    oven works again"). from_ns and until_ns: for how long it is true, 0 for no end. part_of_day: "morning",
    "afternoon", "evening" or "night" where it is true then alone. told_ns: when it was told, by `teller`. is_part: its
    words say more than what was read.
    """

    relation: Relation
    subject: Term
    object: Term = NO_TERM
    verb: str = ""
    holds: bool = True
    from_ns: int = 0
    until_ns: int = 0
    part_of_day: str = ""
    told_ns: int = 0
    teller: str = ""
    text: str = ""
    is_part: bool = False

    def true_at(self, now_ns: int, part_of_day: str = "") -> bool:
        """Return whether it holds at a stamp; part_of_day: of that stamp, "" where it does not matter."""
        is_now = now_ns >= self.from_ns and not self.is_over(now_ns)
        return self.holds and is_now and self.part_of_day in ("", part_of_day)

    def is_over(self, now_ns: int) -> bool:
        """Return whether it was true until before a stamp."""
        return 0 < self.until_ns <= now_ns

    def within(self, begin_ns: int, end_ns: int) -> ToldFact:
        """Return it as a fact that counted from one stamp to another, and no longer than it says itself."""
        end = min(self.until_ns, end_ns) if self.until_ns else end_ns
        return replace(self, from_ns=max(self.from_ns, begin_ns), until_ns=end)

    def counted_in(self, first_ns: int, last_ns: int) -> bool:
        """Return whether it had been told and was true at some moment from one stamp until before another."""
        return (self.from_ns or self.told_ns) < last_ns and not self.is_over(first_ns)

    def replaces(self, earlier: ToldFact) -> bool:
        """Return whether an earlier fact ends because this one was told, as soon as this one holds."""
        if {self.relation, earlier.relation} == {Relation.LIKES, Relation.AVOIDS}:  # a taste that has changed
            return self.subject.is_same(earlier.subject) and self.object.key == earlier.object.key
        if self.relation is not earlier.relation or not self.subject.is_same(earlier.subject):
            return False
        roles = {one.attributes for one in (self.subject, earlier.subject) if not one.classes} - {""}
        if len(roles) > 1:  # "my niece Anna" and "my colleague Anna"
            return False
        if self.relation.functional:
            return self.part_of_day == earlier.part_of_day
        return not self.holds and self.verb == earlier.verb and self.object.key == earlier.object.key

    def corrects(self, earlier: ToldFact) -> bool:
        """Return whether it says of another subject, or with another object, what an earlier one says: what it ends
        where somebody says that he mixed things up."""
        same = self.subject.is_same(earlier.subject), self.object.key == earlier.object.key
        return (self.relation, self.verb, self.holds) == (earlier.relation, earlier.verb, earlier.holds) and any(same)

    def to_json(self) -> str:
        """Return it as a line of JSON; what is as by default is left out."""
        return _JSON.dump_json(self, exclude_defaults=True).decode()

    @classmethod
    def from_json(cls, text: str) -> ToldFact:
        """Return the fact of a line of JSON.

        Raises:
            InvalidValueError: it is none.
        """
        try:
            return _JSON.validate_json(text)
        except ValueError as error:
            raise InvalidValueError(f"told fact {text!r:.80}: {error}") from error

    def changed(self, **changes: Any) -> ToldFact:
        """Return a copy with some fields replaced."""
        return replace(self, **changes)


_JSON = TypeAdapter(ToldFact)


def with_ends(facts: Sequence[ToldFact]) -> list[ToldFact]:
    """Return facts in the order in which they were told, each ended when a later one of them took its place: of a
    sentence about two things one may have been corrected."""
    found: list[ToldFact] = []
    by_subject: dict[object, list[ToldFact]] = defaultdict(list)
    several = names_of_several(facts)
    for fact in reversed(facts):
        subject = fact.subject.classes[:1] or fact.subject.words.lower()
        later = [one for one in by_subject[subject] if one.replaces(fact)]
        if one_is_meant(fact, several):
            by_subject[subject].append(fact)
        ends = min((max(one.told_ns, one.from_ns) for one in later), default=0)
        found.append(fact.within(fact.from_ns, ends) if later else fact)
    return found[::-1]


def names_of_several(facts: Iterable[ToldFact]) -> dict[str, list[str]]:
    """Return by name, in lower case, the roles of people who have one name and were told of in several roles."""
    roles: dict[str, dict[str, None]] = {}
    for fact in facts:
        if fact.relation is Relation.CALLED and not fact.object.classes:
            roles.setdefault(fact.object.words.lower(), {})[fact.subject.words] = None
    return {name: list(found) for name, found in roles.items() if len(found) > 1}


def same_role(one: str, other: str) -> bool:
    """Return whether roles or names may be of one person: "aunt" may be Ben's aunt, who is not Ida's."""
    (whose, of_whom, role), (others, of_others, others_role) = (name.lower().rpartition("'s ") for name in (one, other))
    return role == others_role and (whose == others or not (of_whom and of_others))


def with_whose(role: str, owner: str = "my") -> str:
    """Return a role with whose it is: "my aunt", "Ben's aunt"."""
    return role if "'s " in role else f"{owner} {role}"


def one_is_meant(fact: ToldFact, several: Container[str]) -> bool:
    """Return whether it is known of whom it was told. several: names that two people have, in lower case."""
    return bool(fact.subject.classes or fact.subject.attributes) or fact.subject.words.lower() not in several


_CLOCK = re.compile(
    r"^(?:at )?(\d{1,2})(?::(\d{2}))?(?: o'clock)?(?: ?(am|pm)| in the (?P<part>morning|afternoon|evening))?$"
)
_DATE = re.compile(r"^(?:the )?(\d{4})-(\d{2})-(\d{2})$")
_NS = 10**9
# "[For the next] two days".
_WHILE = re.compile(r"^(?:(?P<count>\w+) )?(?P<unit>hour|day|week)s?$")
_HOURS = {"hour": 1, "day": 24, "week": 7 * 24}


def until_of(words: str, told_ns: int, zone: tzinfo | None) -> int | None:
    """Return the stamp at which "until WORDS" ends, counted from when it was told; None where no rule reads them. "Two
    days" are so long."""
    told = datetime.fromtimestamp(told_ns / _NS, zone)
    span = _WHILE.match(words.lower().strip(" ."))
    count = number_of(span["count"] or "a") if span is not None else None
    if span is not None and count is not None:
        return told_ns + count * _HOURS[span["unit"]] * 3600 * _NS
    words = words.lower().strip(" .").removeprefix("next ")
    day, _, rest = words.partition(" ")
    if words in ("tonight", "this evening", "the evening", "evening"):
        return _stamp(told, 0, _PARTS["evening"])
    if words in ("noon", "midday"):
        return _stamp(told, 0 if told.hour < 12 else 1, 12)
    if words in ("tomorrow", "the morning", "morning"):
        return _stamp(told, 1, 0 if words == "tomorrow" else _PARTS["morning"])
    if day in DAYS or day == "tomorrow":
        days = 1 if day == "tomorrow" else (DAYS.index(day) - told.weekday()) % 7 or 7
        if rest and rest not in _PARTS:
            return None
        return _stamp(told, days, _PARTS.get(rest, 0))
    if words in ("week", "the end of the week"):
        return _stamp(told, 7 - told.weekday(), 0)
    if date := _DATE.match(words):
        try:
            year, month, of_month = map(int, date.groups())
            return round(datetime(year, month, of_month, tzinfo=told.tzinfo).timestamp()) * _NS
        except ValueError:
            return None
    hour_word, _, behind = words.partition(" ")
    spoken_hour = number_of(hour_word)
    clock = _CLOCK.match(f"{spoken_hour} {behind}".strip() if spoken_hour is not None else words)
    if clock is None:
        return None
    half = clock[3] or {"morning": "am", "afternoon": "pm", "evening": "pm"}.get(clock["part"] or "", "")
    hour = int(clock[1]) % 12 + (12 if half == "pm" else 0) if half else int(clock[1])
    minute = int(clock[2] or 0)
    if hour > 23 or minute > 59:
        return None
    later = (hour, minute) > (told.hour, told.minute)
    return _stamp(told, 0 if later else 1, hour, minute)


def _stamp(told: datetime, days: int, hour: int, minute: int = 0) -> int:
    day = told.date() + timedelta(days=days)
    # The zone's own rules give the offset of that day, also behind a change to summer time.
    local = datetime.combine(day, time(hour, minute), told.tzinfo)
    return round(local.timestamp()) * _NS
