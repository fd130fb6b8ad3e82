"""The benchmark's clock: local time in Pacific/Auckland, so that days counted in UTC are wrong ones."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

TIME_ZONE = "Pacific/Auckland"
ZONE = ZoneInfo(TIME_ZONE)
# A Monday; in UTC it is still Sunday.
BEGIN = datetime(2026, 6, 15, 8, 0, tzinfo=ZONE)


def stamp_ns(elapsed_s: float) -> int:
    """Return the stamp in nanoseconds (UTC) so many seconds after the beginning."""
    return round((BEGIN.timestamp() + elapsed_s) * 1e9)


def local_time(now_ns: int) -> datetime:
    """Return the local time of a stamp."""
    return datetime.fromtimestamp(now_ns * 1e-9, ZONE)


def seconds_until(now_ns: int, minute: int) -> float:
    """Return the seconds until the next time at which the clock shows a minute of the day."""
    now = local_time(now_ns)
    then = now.replace(hour=minute // 60, minute=minute % 60, second=0, microsecond=0)
    if then <= now:
        then = (then + timedelta(days=1)).replace(hour=minute // 60, minute=minute % 60)
    return then.timestamp() - now.timestamp()


def seconds_until_next_day(now_ns: int) -> float:
    """Return the seconds until 08:00 of the next day."""
    now = local_time(now_ns)
    then = (now + timedelta(days=1)).replace(hour=8, minute=0, second=0, microsecond=0)
    return then.timestamp() - now.timestamp()


def is_between(now_ns: int, from_minute: int | None, to_minute: int | None) -> bool:
    """Return whether the time of day lies in a span, which may go over midnight; an end that is None is midnight."""
    now = local_time(now_ns)
    minute = now.hour * 60 + now.minute
    begin, end = from_minute or 0, 24 * 60 if to_minute is None else to_minute
    return begin <= minute < end if begin < end else minute >= begin or minute < end
