"""The times of told facts: until when, and at which time of the day."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta, tzinfo

from memory_node.domain.clock import PARTS_OF_DAY as _PARTS

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_CLOCK = re.compile(r"^(?:at )?(\d{1,2})(?::(\d{2}))?(?: ?(am|pm))?(?: o'clock)?$")
_DATE = re.compile(r"^(?:the )?(\d{4})-(\d{2})-(\d{2})$")
_NS = 10**9


def until_of(words: str, told_ns: int, zone: tzinfo | None) -> int | None:
    """Return the stamp at which "until WORDS" ends, counted from when it was told; None where no rule reads them."""
    told = datetime.fromtimestamp(told_ns / _NS, zone)
    words = words.lower().strip(" .").removeprefix("next ")
    day, _, rest = words.partition(" ")
    if words in ("tonight", "this evening", "the evening", "evening"):
        return _stamp(told, 0, _PARTS["evening"])
    if words in ("noon", "midday"):
        return _stamp(told, 0 if told.hour < 12 else 1, 12)
    if words in ("tomorrow", "the morning", "morning"):
        return _stamp(told, 1, 0 if words == "tomorrow" else _PARTS["morning"])
    if day in _DAYS or day == "tomorrow":
        days = 1 if day == "tomorrow" else (_DAYS.index(day) - told.weekday()) % 7 or 7
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
    clock = _CLOCK.match(words)
    if clock is None:
        return None
    hour = int(clock[1]) % 12 + (12 if clock[3] == "pm" else 0) if clock[3] else int(clock[1])
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
