"""Fixtures of the life benchmark."""

import pytest
from played_days import PlayedDays


@pytest.fixture(scope="session")
def days(tmp_path_factory: pytest.TempPathFactory) -> PlayedDays:
    """Return what plays the scenarios of all tests."""
    return PlayedDays(tmp_path_factory.mktemp("life"))
