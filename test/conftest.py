"""Fixtures that the whole suite shares."""

import os
from pathlib import Path

import pytest

# Nothing that a test starts may leave this machine.
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Return the folder of real data that lies beside the checkout; tests on it skip where it is absent."""
    folder = Path(os.environ.get("ROBOT_MEMORY_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder} (set ROBOT_MEMORY_SHARED)")
    return folder
