"""Goals as ALFRED writes them (Shridhar et al. 2020), from and to the planner's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill_library import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.reading.trained_reader import ALFRED_KIND, ALFRED_NAME


def alfred_goal(goal: Goal) -> dict[str, Any]:
    """Return {"task_type", "pddl_params"} as ALFRED writes the goal (Shridhar et al. 2020).

    Raises:
        InvalidValueError: ALFRED has no goal of this kind.
    """
    if goal.kind not in ALFRED_NAME:
        raise InvalidValueError(f"goal {goal}: ALFRED has no such kind")
    return {
        "task_type": ALFRED_NAME[goal.kind],
        "pddl_params": {
            "object_target": goal.target.object_class,
            "object_sliced": goal.sliced,
            "parent_target": goal.destination.object_class if goal.destination else "",
            "mrecep_target": goal.container.object_class if goal.container else "",
            "toggle_target": goal.light.object_class if goal.light else "",
        },
    }


def goal_from_alfred(task_type: str, params: Mapping[str, Any]) -> Goal:
    """Return the goal that an ALFRED task states; `params` is its pddl_params.

    Raises:
        InvalidValueError: the task type is none of ALFRED's seven.
    """
    if task_type not in ALFRED_KIND:
        raise InvalidValueError(f"task_type {task_type!r}: expected one of {', '.join(ALFRED_KIND)}")

    def mention(slot: str) -> Mention | None:
        name = params.get(slot) or ""
        return Mention(name, (name,)) if name else None

    kind = ALFRED_KIND[task_type]
    target = mention("object_target") or Mention("")
    return Goal(
        kind,
        target,
        mention("parent_target"),
        mention("mrecep_target"),
        mention("toggle_target"),
        bool(params.get("object_sliced")),
        count=2 if kind is GoalKind.PLACE_TWO else 1,
    )
