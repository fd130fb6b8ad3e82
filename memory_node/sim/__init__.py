"""The simulated home: world, robot and camera. `from memory_node.sim import HomeRobot, load_home`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_node.sim.home_file import load_home
    from memory_node.sim.robot import HomeRobot

_HOME_OF = {"HomeRobot": "memory_node.sim.robot", "load_home": "memory_node.sim.home_file"}
__all__ = ["HomeRobot", "load_home"]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)
