"""The time zone in which people mean days and clock times; stamps are UTC."""

from __future__ import annotations

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
