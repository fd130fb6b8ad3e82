"""The closed vocabulary of goals: kinds, and ALFRED's names of seven of them."""

from __future__ import annotations

import enum

NO_CLASS = ""


class GoalKind(str, enum.Enum):
    """What an instruction wants done with its target."""

    PLACE = "place"
    PLACE_TWO = "place_two"
    STACK = "stack"  # the target in a movable container, that container at the destination
    CLEAN = "clean"
    HEAT = "heat"
    COOL = "cool"
    EXAMINE = "examine"  # hold the target and switch a lamp on
    SLICE = "slice"
    FETCH = "fetch"  # have it in the hand
    FIND = "find"  # stand before it
    SWITCH_ON = "switch_on"
    SWITCH_OFF = "switch_off"
    OPEN = "open"
    CLOSE = "close"
    FILL = "fill"
    EMPTY = "empty"
    BREAK = "break"
    THROW = "throw"  # toss it, not into a bin
    GO = "go"  # to a room, or to the person
    DROP = "drop"  # let go of what the hand holds
    STOP = "stop"
    WAIT = "wait"
    TELL = "tell"  # answer a question; nothing is to be moved

    def __str__(self) -> str:
        return self.value


# The kinds that the trained readers speak.
LEARNT: tuple[GoalKind, ...] = tuple(GoalKind)[: tuple(GoalKind).index(GoalKind.GO)]
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
# by skill of treatment, the kind of goal that it fulfils
GOAL_OF_SKILL: dict[str, GoalKind] = {
    "CleanObject": GoalKind.CLEAN,
    "HeatObject": GoalKind.HEAT,
    "CoolObject": GoalKind.COOL,
    "SliceObject": GoalKind.SLICE,
    "FillObject": GoalKind.FILL,
    "EmptyObject": GoalKind.EMPTY,
}
