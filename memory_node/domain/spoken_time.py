"""Spans of time as people say them."""

from __future__ import annotations

from datetime import datetime, tzinfo

from memory_node.domain.time_zone import NS, local_day

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
