"""What the tests of the scene graph share."""

from __future__ import annotations

import pytest
from box_world import BoxWorld


@pytest.fixture
def world() -> BoxWorld:
    """Return a table with two equal mugs side by side and a bowl, and a closed fridge."""
    made = BoxWorld()
    made.put("table", 2.0, 0.0, 0.375, (0.8, 1.2, 0.75), 0.3)
    made.put("mug1", 1.9, 0.25, 0.80, (0.08, 0.08, 0.10))
    made.put("mug2", 1.9, 0.35, 0.80, (0.08, 0.08, 0.10))
    made.put("bowl", 2.0, -0.3, 0.79, (0.16, 0.16, 0.08), 0.6)
    made.put("fridge", 3.0, 1.6, 0.9, (0.7, 0.7, 1.8))
    return made
