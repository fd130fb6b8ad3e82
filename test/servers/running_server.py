"""A server of a language model that runs for the tests."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Server:
    """A running server. lacks: what it cannot do, and why."""

    url: str
    model: str
    key: str
    lacks: Mapping[str, str]

    def needs(self, ability: str) -> None:
        """Skip the test where the server lacks an ability."""
        if ability in self.lacks:
            pytest.skip(self.lacks[ability])
