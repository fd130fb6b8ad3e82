"""The engine's commands as the skills that they are a part of."""

from __future__ import annotations

from benchmarks.alfworld.game_commands import GameAct, read_command
from memory_node.domain.skill import SkillCall

_SKILLS = {
    GameAct.GO: "GoToObject",
    GameAct.TAKE: "PickupObject",
    GameAct.PUT: "PutObject",
    GameAct.OPEN: "OpenObject",
    GameAct.CLOSE: "CloseObject",
    GameAct.USE: "SwitchOn",
    GameAct.CLEAN: "CleanObject",
    GameAct.HEAT: "HeatObject",
    GameAct.COOL: "CoolObject",
    GameAct.SLICE: "SliceObject",
}
# Their skills have no argument for the place that something is taken from, or for what cuts.
_OF_THE_THING_ALONE = frozenset((GameAct.TAKE, GameAct.SLICE))


def called_skill(command: str) -> SkillCall | None:
    """Return the skill that a command serves, over the names of the text; None for one that only tells something."""
    read = read_command(command)
    if read is None or read.act not in _SKILLS:
        return None
    names = (read.thing,) if read.act in _OF_THE_THING_ALONE else (read.thing, read.place)
    return SkillCall(_SKILLS[read.act], tuple(name for name in names if name))
