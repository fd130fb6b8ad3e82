"""Finds the times that a command is put off to: "in an hour", "tomorrow morning", "every evening", "after lunch"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memory_node.domain.nouns import singular
from memory_node.planner.language.english import PUNCTUATION, English
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.spoken_instruction import Heard, unread_runs

_ABOUT = frozenset(["about", "around", "roughly", "exactly", "just", "like"])
_AMOUNTS = frozenset(
    ["a", "an", "half", "few", "couple", "of", "some", "several", "quarter", "another", "or", "so", "and"]
)
_EVERY = frozenset(["every", "each"])
_OTHER = frozenset(["other", "single", "few"])
_DAY_HALVES = frozenset(["am", "pm"])
_QUARTERS = (["half", "past"], ["quarter", "past"], ["quarter", "to"])
# Behind one of these a time says what a thing is for, how long, or by when: to do it now is right.
_DUE = frozenset(["for", "until", "till", "of", "by", "before", "since"])
_JOINTS = frozenset(["and", "but", "then", "so"])


class Span(NamedTuple):
    """Words [begin, end) of an instruction."""

    begin: int
    end: int


class Timing:
    """Finds times among words."""

    def __init__(self, lexicon: Lexicon, english: English) -> None:
        self._lexicon = lexicon
        self._english = english
        self._rules = (self._delay, self._clock, self._day, self._habit, self._occasion)

    def spans(self, words: Sequence[str]) -> list[Span]:
        """Return where times stand that something is put off to."""
        found: list[Span] = []
        at = 0
        while at < len(words):
            ends = (rule(words, at) for rule in self._rules) if words[max(at - 1, 0)] not in _DUE else iter(())
            end = next((end for end in ends if end is not None and self._is_whole(words, end)), None)
            if end is not None:
                found.append(Span(at, end))
            at = end or at + 1
        return found

    def _is_whole(self, words: Sequence[str], end: int) -> bool:
        """Return whether a time ends here, and no noun that it tells of: "tomorrow's bread", "the ten o'clock news"."""
        if self._ends(words, end):
            return True
        return words[end] != "'s" and self._lexicon.name_at(words, end) is None

    def _ends(self, words: Sequence[str], at: int) -> bool:
        """Return whether a clause ends before a word."""
        return at >= len(words) or words[at] in PUNCTUATION | _JOINTS | self._english.fillers

    def put_off(self, words: Sequence[str], spans: Sequence[Span], heard: Heard) -> str:
        """Return the time or the condition that a command is put off to; "" where none is.

        words: with the times in spans, heard: what was read of the words without them.
        """
        taken = 0
        for span in spans:
            at = span.begin - taken  # where the time stood among the words that were read
            taken += span.end - span.begin
            if self._belongs_to_command(words, span, at, heard):
                return " ".join(words[span.begin : span.end])
        return next(filter(None, map(self._condition, unread_runs(heard))), "")

    def _belongs_to_command(self, words: Sequence[str], span: Span, at: int, heard: Heard) -> bool:
        """Return whether a time that stood at a word tells when something is to be done: "water it in an hour"."""
        before = [asks for begin, _, asks in heard.spans if begin < at]
        behind = [asks for _, end, asks in heard.spans if end > at]
        opens = span.begin == 0 or words[span.begin - 1] in PUNCTUATION | _JOINTS
        nearest = (behind[:1] or before[-1:]) if opens else (before[-1:] or behind[:1])
        return any(nearest)

    def _condition(self, unread: Sequence[str]) -> str:
        """Return the condition among words that no rule explains."""
        for at, word in enumerate(unread):
            following = list(unread[at + 1 : at + 3])
            if word in self._english.putting_off and len(following) == 2 and following[0] != "you":
                ends = (end for end in range(at, len(unread)) if unread[end] in PUNCTUATION)
                return " ".join(unread[at : next(ends, len(unread))])
        return ""

    # --- rules: where the time ends that begins at a word

    def _delay(self, words: Sequence[str], at: int) -> int | None:
        """Take "in ten minutes", "half an hour from now", "two hours later"."""
        opened = words[at] in ("in", "within", "after")
        start = at + opened
        while start < len(words) and words[start] in _ABOUT:
            start += 1
        end = self._amount(words, start)
        if end is None:
            return None
        from_now = next((len(words_) for words_ in _FROM_NOW if list(words[end : end + len(words_)]) == words_), 0)
        return end + from_now if opened or from_now else None

    def _amount(self, words: Sequence[str], at: int) -> int | None:
        """Return where "half an hour", "a couple of minutes", "two hours or so" ends; None where none begins."""
        end = at
        while end < len(words) and (words[end] in _AMOUNTS or words[end] in self._english.numbers):
            end += 1
        if end == at or end >= len(words) or singular(words[end]) not in self._english.time_units:
            return None
        end += 1
        return end + 2 if list(words[end : end + 2]) == ["or", "so"] else end

    def _clock(self, words: Sequence[str], at: int) -> int | None:
        """Take "at five", "at half past nine", "around 7:30 pm"; "at six plates" is none."""
        if words[at] not in ("at", "around", "about", "from"):
            return None
        start = at + 1 + (words[at + 1 : at + 2] in (["about"], ["around"], ["exactly"]))
        past = list(words[start : start + 2]) in _QUARTERS
        found = self._hour(words, start + 2 * past)
        if found is None:
            return None
        end, told = found
        hour = past or told
        alone = words[at] == "at" and self._ends(words, end)
        return self._part_of_day(words, end) if hour or alone else None

    def _hour(self, words: Sequence[str], start: int) -> tuple[int, bool] | None:
        """Return where "seven", "7:30 pm" or "nine o'clock" ends, and whether it can be nothing but an hour."""
        if start >= len(words) or not (words[start] in self._english.numbers or words[start].isdigit()):
            return None
        end = start + 1
        while end < len(words) and (words[end] == ":" or words[end].isdigit() or words[end] in _MINUTES):
            end += 1
        minutes = end > start + 1
        behind = end
        while behind < len(words) and words[behind] in _DAY_HALVES | {"o'clock", "sharp"}:
            behind += 1
        return behind, minutes or behind > end

    def _part_of_day(self, words: Sequence[str], at: int) -> int:
        """Return where "in the morning" ends behind an hour; the word itself where nothing of it follows."""
        if words[at : at + 2] == ["in", "the"] and "".join(words[at + 2 : at + 3]) in self._english.day_parts:
            return at + 3
        return at + 1 if "".join(words[at : at + 1]) in self._english.later else at

    def _day(self, words: Sequence[str], at: int) -> int | None:
        """Take "tomorrow", "later on", "this evening", "in the morning", "at noon", "on Monday", "next week"."""
        english, following = self._english, "".join(words[at + 1 : at + 2])
        if words[at] in english.later:
            return self._tail_of_day(words, at + 1)
        if words[at] == "this" and following in english.day_parts - {"morning"}:
            return at + 2
        if words[at] in ("in", "during") and following == "the":
            return at + 3 if "".join(words[at + 2 : at + 3]) in english.day_parts else None
        if words[at] in ("at", "around") and following in english.day_parts:
            return at + 2
        if words[at] == "next" and (following in english.week_days or following in english.time_units):
            return self._tail_of_day(words, at + 2)
        start = at + 1 + (following in ("next", "the"))
        if words[at] == "on" and singular("".join(words[start : start + 1])) in english.week_days:
            return self._tail_of_day(words, start + 1)
        return None

    def _tail_of_day(self, words: Sequence[str], at: int) -> int:
        """Return where the day ends: behind "morning" of "tomorrow morning", "at nine" of "tomorrow at nine"."""
        at += words[at : at + 1] in (["on"], ["today"]) and not self._is_place(words, at)
        at += "".join(words[at : at + 1]) in self._english.day_parts
        return (self._clock(words, at) or at) if at < len(words) else at

    def _is_place(self, words: Sequence[str], at: int) -> bool:
        return at + 1 < len(words) and words[at + 1] not in PUNCTUATION

    def _habit(self, words: Sequence[str], at: int) -> int | None:
        """Take "every morning", "each Monday at six", "every two hours", "twice a day", "daily"."""
        english, start = self._english, at + 1
        if words[at] in english.habits:
            return start
        if words[at] in _EVERY:
            while start < len(words) and (words[start] in _OTHER or words[start] in english.numbers):
                start += 1
            noun = singular("".join(words[start : start + 1]))
            known = noun in english.time_units | english.day_parts | english.week_days
            return self._tail_of_day(words, start + 1) if known else None
        times = start + (words[start : start + 1] == ["times"])
        counted = words[at] in ("once", "twice") or times > start
        unit = "".join(words[times + 1 : times + 2])
        return (
            times + 2
            if counted and words[times : times + 1] in (["a"], ["every"]) and unit in english.time_units
            else None
        )

    def _occasion(self, words: Sequence[str], at: int) -> int | None:
        """Take "after lunch", "during the film": what is no thing that the robot knows."""
        if words[at] not in ("after", "during"):
            return None
        start = at + 1
        while start < len(words) and words[start] in self._english.determiners - {"that", "this"}:
            start += 1
        told = start > at + 1
        word = "".join(words[start : start + 1])
        if (
            not word
            or not word[0].isalpha()
            or word.endswith("ing")
            or word in self._english.subjects | {"that", "this"}
        ):
            return None
        if self._lexicon.name_at(words, start) is not None or self._english.base_form(word, participle=True):
            return None
        end = start + 1
        an_occasion = told or words[at] == "during" or word in self._english.occasions
        return end if an_occasion and self._ends(words, end) else None


_FROM_NOW = (["from", "now"], ["later"], ["'s", "time"])
_MINUTES = frozenset(["fifteen", "twenty", "thirty", "forty", "fifty", "five"])


def without(words: Sequence[str], spans: Sequence[Span]) -> list[str]:
    """Return the words outside of spans."""
    inside = {at for span in spans for at in range(span.begin, span.end)}
    return [word for at, word in enumerate(words) if at not in inside]
