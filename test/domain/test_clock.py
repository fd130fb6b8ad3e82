"""Zones by their names."""

import pytest

from memory_node.domain.clock import ago, span, time_zone, zone_name


@pytest.mark.parametrize("name", ["Europe/Berlin", "Pacific/Auckland", ""])
def test_zone_is_found_again_by_its_name(name: str) -> None:
    assert time_zone(zone_name(time_zone(name))) == time_zone(name)


@pytest.mark.parametrize(
    ("seconds", "says"),
    [
        (0.0, "0 s"),
        (599.4, "599 s"),
        (600.0, "10 min"),
        (3 * 3600.0, "3 h"),
        (40 * 86_400.0, "40 days"),
        (1_795_371_479.0, "57 years"),
    ],
)
def test_span_is_told_in_the_unit_that_fits(seconds: float, says: str) -> None:
    assert span(seconds) == says


def test_stamp_ahead_of_the_clock_is_no_negative_age() -> None:
    assert ago(-3 * 3600.0) == "by a clock 3 h ahead"
    assert ago(-0.4) == "0 s ago"
    assert ago(12.0) == "12 s ago"
