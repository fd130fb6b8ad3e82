"""A small home for the rows that choose call by call."""

import pytest
from tiny_home import TinyHome, kitchen_home


@pytest.fixture
def kitchen() -> TinyHome:
    return kitchen_home()
