"""Which day a text means: dates that say it, and words that count from the day on which they were said.

zone: the time zone that days and clock times are meant in; None for the machine's.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, tzinfo

from memory_node.domain.clock import NS, local_day

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_NUMBERS = {
    word: n
    for n, word in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
}
_NUMBERS |= {"a": 1, "an": 1, "couple": 2, "few": 3}
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in _MONTHS)
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\.?,?\s+(\d{{4}})\b", re.I)
_MONTH_DAY = re.compile(rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b", re.I)
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d{2})\s*(am|pm)?", re.I)
_COUNT = "|".join([r"\d{1,3}", *_NUMBERS])
_RELATIVE = re.compile(
    rf"\b(?:(?P<day>yesterday|today|tonight|tomorrow|last night)"
    rf"|(?P<count>{_COUNT})(?: of)? (?P<unit>day|week|month|year)s? ago"
    rf"|(?P<which>last|this|next) (?P<what>week|weekend|month|year|summer|winter|{'|'.join(_DAYS)}|{_MONTH}))\b",
    re.I,
)
_OFFSETS = {"yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1}


def day_of(text: str) -> date | None:
    """Return the day that a text names in full, None when it names none: "1:56 pm on 8 May, 2023", "2023-05-08"."""
    try:
        if found := _DAY_MONTH.search(text):
            return date(int(found[3]), _month(found[2]), int(found[1]))
        if found := _MONTH_DAY.search(text):
            return date(int(found[3]), _month(found[1]), int(found[2]))
        if found := _ISO.search(text):
            return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:  # the 31st of June
        return None
    return None


def stamp_of(text: str, zone: tzinfo | None = None) -> int | None:
    """Return the nanoseconds since 1970 (UTC) of the day, and of the clock time if any, that a text names."""
    day = day_of(text)
    if day is None:
        return None
    hour = minute = 0
    if found := _CLOCK.search(text):
        hour, minute = int(found[1]), int(found[2])
        half = (found[3] or "").lower()
        hour = hour % 12 + 12 if half == "pm" else hour % 12 if half == "am" else hour
    if hour > 23 or minute > 59:
        hour = minute = 0
    moment = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
    return int(moment.timestamp()) * NS


def spoken_day(stamp_ns: int, zone: tzinfo | None = None) -> str:
    """Return a stamp's day in words: "8 May 2023"."""
    return _said(local_day(stamp_ns, zone))


def with_days(text: str, stamp_ns: int, zone: tzinfo | None = None) -> str:
    """Return a text with the day behind each word that counts from when it was said: "yesterday (7 May 2023)"."""
    said_on = local_day(stamp_ns, zone)
    return _RELATIVE.sub(lambda match: f"{match.group()} ({_meant(match, said_on)})", text)


def _month(name: str) -> int:
    return next(n for n, month in enumerate(_MONTHS, 1) if month.startswith(name.lower()[:3]))


def _said(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1].capitalize()} {day.year}"


def _meant(match: re.Match[str], said_on: date) -> str:
    if match["day"]:
        return _said(said_on + timedelta(days=_OFFSETS[match["day"].lower()]))
    if match["count"]:
        count = match["count"].lower()
        return _ago(_NUMBERS[count] if count in _NUMBERS else int(count), match["unit"].lower(), said_on)
    way = {"last": -1, "this": 0, "next": 1}[match["which"].lower()]
    return _period(way, match["what"].lower(), said_on)


def _ago(count: int, unit: str, said_on: date) -> str:
    if unit in ("day", "week"):
        return _said(said_on - timedelta(days=count * (7 if unit == "week" else 1)))
    return _shifted(said_on, -count) if unit == "month" else str(max(1, said_on.year - count))


def _period(way: int, what: str, said_on: date) -> str:
    if what in _DAYS:
        to_it = (_DAYS.index(what) - said_on.weekday()) % 7
        if way < 0:
            return _said(said_on - timedelta(days=(7 - to_it) % 7 or 7))
        return _said(said_on + timedelta(days=to_it or 7 * way))
    if what in ("week", "weekend"):
        return f"week of {_said(said_on - timedelta(days=said_on.weekday() - 7 * way))}"
    if what == "month":
        return _shifted(said_on, way)
    if what in ("year", "summer", "winter"):
        return str(said_on.year + way)
    month = _month(what)
    year = said_on.year + (0 if way == 0 else -(month >= said_on.month) if way < 0 else int(month <= said_on.month))
    return f"{_MONTHS[month - 1].capitalize()} {year}"


def _shifted(day: date, months: int) -> str:
    number = day.year * 12 + day.month - 1 + months
    return f"{_MONTHS[number % 12].capitalize()} {number // 12}"
