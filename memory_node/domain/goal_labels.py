"""The labels of the trained readers of goals, and ALFRED's names of seven kinds."""

from __future__ import annotations

from memory_node.domain.skill_library import GOALS, GoalKind

NO_CLASS = ""

# The kinds that the trained readers speak.
LEARNT: tuple[GoalKind, ...] = tuple(kind for kind, goal in GOALS.items() if goal.learnt)
KINDS: tuple[str, ...] = tuple(kind.value for kind in LEARNT)
# Labels of the reader of single goals for sentences without a goal, and for other or several goals.
NOTHING, SEVERAL = "nothing", "several"

ALFRED_KIND: dict[str, GoalKind] = {
    "pick_and_place_simple": GoalKind.PLACE,
    "pick_two_obj_and_place": GoalKind.PLACE_TWO,
    "look_at_obj_in_light": GoalKind.EXAMINE,
    "pick_clean_then_place_in_recep": GoalKind.CLEAN,
    "pick_heat_then_place_in_recep": GoalKind.HEAT,
    "pick_cool_then_place_in_recep": GoalKind.COOL,
    "pick_and_place_with_movable_recep": GoalKind.STACK,
}
ALFRED_NAME: dict[GoalKind, str] = {kind: name for name, kind in ALFRED_KIND.items()}
