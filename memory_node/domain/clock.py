"""The injected source of "now" in integer nanoseconds; zones, days and times as people say them."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date, datetime, tzinfo
from zoneinfo import ZoneInfo

from memory_node.domain.errors import InvalidValueError

NS = 1_000_000_000


def time_zone(name: str) -> tzinfo | None:
    """Return the zone of an IANA name such as Europe/Berlin; None, the machine's own, for an empty name.

    Raises:
        InvalidValueError: the machine knows no such zone.
    """
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, OSError, ValueError):  # not found, a folder, or a path that leads elsewhere
        raise InvalidValueError(
            "expected the name of a zone, such as Europe/Berlin (a machine that knows none needs the package tzdata)"
        ) from None


def zone_name(zone: tzinfo | None) -> str:
    """Return the name by which `time_zone` finds a zone again."""
    return "" if zone is None else str(zone)


def local_day(stamp_ns: int, zone: tzinfo | None) -> date:
    """Return the day that a stamp lies on. zone: None for the machine's."""
    return datetime.fromtimestamp(stamp_ns // NS, tz=zone).date()


# Hours at which the parts of a day begin.
PARTS_OF_DAY = {"morning": 5, "afternoon": 12, "evening": 17, "night": 22}


def part_of_day(now_ns: int, zone: tzinfo | None) -> str:
    """Return the part of the local day that a stamp lies in; zone: None for the machine's."""
    hour = datetime.fromtimestamp(now_ns / 1e9, zone).hour
    return max((begin, name) for name, begin in PARTS_OF_DAY.items() if begin <= hour)[1] if hour >= 5 else "night"


Clock = Callable[[], int]


def system_clock() -> int:
    """Return the wall clock in nanoseconds since 1970."""
    return time.time_ns()


# Stamps before 2000 are of a clock that began at zero, as in a simulation or a script.
_OF_OUR_DAYS_NS = 946_684_800 * 10**9


class MemoryClock:
    """ "Now" on the time line of a memory: the clock, or its newest stamp where that is of a clock that began at zero
    and this one is not. clock: the wall's, or a simulation's."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._newest_ns = 0

    def follow(self, newest_ns: int) -> None:
        """Take over a stamp of the memory."""
        self._newest_ns = max(self._newest_ns, newest_ns)

    def __call__(self) -> int:
        """Return now in nanoseconds."""
        now_ns = self._clock()
        return self._newest_ns if 0 < self._newest_ns < _OF_OUR_DAYS_NS <= now_ns else now_ns


_MINUTE_S, _HOUR_S, _DAY_S, _YEAR_S = 60.0, 3600.0, 86_400.0, 31_557_600.0
# Spans shorter than `most` are given in this unit.
_UNITS = ((600.0, 1.0, "s"), (2 * _HOUR_S, _MINUTE_S, "min"), (2 * _DAY_S, _HOUR_S, "h"), (2 * _YEAR_S, _DAY_S, "days"))


def span(seconds: float) -> str:
    """Return a span of 0 s or more: "12 s", "25 min", "3 h", "40 days", "57 years"."""
    for most, unit_s, name in _UNITS:
        if seconds < most:
            return f"{seconds / unit_s:.0f} {name}"
    return f"{seconds / _YEAR_S:.0f} years"


def ago(seconds: float) -> str:
    """Return how long ago something was: "12 s ago"; "by a clock 3 h ahead" where that is not past yet."""
    return f"{span(max(seconds, 0.0))} ago" if seconds > -1.0 else f"by a clock {span(-seconds)} ahead"


def spoken_day_ago(then_ns: int, now_ns: int, zone: tzinfo | None) -> str:
    """Return the day of a stamp as it is spoken of: "today", "yesterday", "3 days ago"."""
    days = (local_day(now_ns, zone) - local_day(then_ns, zone)).days
    return {0: "today", 1: "yesterday"}.get(max(days, 0), f"{days} days ago")


def spoken_now(now_ns: int, zone: tzinfo | None) -> str:
    """Return a moment as a clock and a calendar tell it: "Monday 15 June 2026, 08:05"."""
    now = datetime.fromtimestamp(now_ns // NS, tz=zone)
    return f"{now:%A} {now.day} {now:%B %Y, %H:%M}"


def spoken_moment(then_ns: int, now_ns: int, zone: tzinfo | None) -> str:
    """Return a moment of the past by the home's calendar and clock: "Monday 15 June, 08:05"; with the year where it is
    another one."""
    then = datetime.fromtimestamp(then_ns // NS, tz=zone)
    year = "" if then.year == datetime.fromtimestamp(now_ns // NS, tz=zone).year else f" {then.year}"
    return f"{then:%A} {then.day} {then:%B}{year}, {then:%H:%M}"
