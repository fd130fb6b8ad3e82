"""The memory of a mobile manipulator; everything but `memory_node.nodes` is free of ROS.

What a program needs lies here: `from memory_node import FindQuery, MemoryConfig, open_memory`. Each name is imported
when it is first used, so that importing the package costs next to nothing: it finds the libraries that were installed
for it (`libraries`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from memory_node.libraries import use_libraries

if TYPE_CHECKING:
    from memory_node.domain.answer import AnswerStatus, FindQuery
    from memory_node.domain.skill import SkillCall, StateChange
    from memory_node.memory import RobotMemory
    from memory_node.memory_config import MemoryConfig
    from memory_node.opening import open_memory
    from memory_node.sim.home_file import load_home
    from memory_node.sim.robot import HomeRobot

__version__ = "0.1.0"

_HOME_OF = {
    "AnswerStatus": "memory_node.domain.answer",
    "FindQuery": "memory_node.domain.answer",
    "HomeRobot": "memory_node.sim.robot",
    "MemoryConfig": "memory_node.memory_config",
    "RobotMemory": "memory_node.memory",
    "SkillCall": "memory_node.domain.skill",
    "StateChange": "memory_node.domain.skill",
    "load_home": "memory_node.sim.home_file",
    "open_memory": "memory_node.opening",
}
__all__ = [
    "AnswerStatus",
    "FindQuery",
    "HomeRobot",
    "MemoryConfig",
    "RobotMemory",
    "SkillCall",
    "StateChange",
    "load_home",
    "open_memory",
]

use_libraries()


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF])
