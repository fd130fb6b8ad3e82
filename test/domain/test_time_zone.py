"""Zones by their names."""

import pytest

from memory_node.domain.clock import time_zone, zone_name


@pytest.mark.parametrize("name", ["Europe/Berlin", "Pacific/Auckland", ""])
def test_zone_is_found_again_by_its_name(name: str) -> None:
    assert time_zone(zone_name(time_zone(name))) == time_zone(name)
