"""The closed vocabulary of goals: kinds, and ALFRED's names of seven of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memory_node.domain.states import ObjectState
from memory_node.domain.text_enum import TextEnum

NO_CLASS = ""


class GoalKind(TextEnum):
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
    WIPE = "wipe"  # a surface, with what wipes in the hand


@dataclass(frozen=True)
class GoalDeclaration:
    """A kind of goal. Everybody reads what it means from here.

    wants: the target is to be in one of these states. skills: a call of one of them with the target brings it about;
    treats: the first of them treats things as the label space says (where, with which tool). permits: further skills
    that such a goal permits; all that only move things, and doors, are permitted anyway. in_place: the target stays
    where it is while its state is changed. carried: the target ends at a place, where one is said. in_hand: it ends in
    the hand. checked: the scene graph tells whether it is met. ends: a state that a target must be in to need it. seen:
    what a picture shows where it is met, "" for nothing. learnt: a label of the trained readers, which cannot learn
    another. comes_to: the kind that readings are compared as: to wipe a table is to clean it.
    """

    wants: frozenset[ObjectState] = frozenset()
    skills: tuple[str, ...] = ()
    treats: bool = False
    permits: tuple[str, ...] = ()
    in_place: bool = False
    carried: bool = False
    in_hand: bool = False
    checked: bool = True
    ends: ObjectState | None = None
    seen: str = ""
    learnt: bool = True
    comes_to: GoalKind | None = None


_S, _G = ObjectState, GoalDeclaration
_SWITCHES = ("SwitchOn", "SwitchOff", "ToggleOn", "ToggleOff")
# Treatments may be done by hand: a pot on a burner that is turned on and off.
_TOGGLES = ("ToggleOn", "ToggleOff")
_SPOKEN = _G(checked=False, learnt=False)
GOALS: Mapping[GoalKind, GoalDeclaration] = MappingProxyType(
    {
        GoalKind.PLACE: _G(carried=True, seen="it is in or on that place"),
        GoalKind.PLACE_TWO: _G(carried=True, seen="all of them are in or on that place"),
        GoalKind.STACK: _G(
            carried=True, seen="it is in or on that container, and the container is in or on that place"
        ),
        GoalKind.CLEAN: _G(
            frozenset({_S.CLEANED}),
            ("CleanObject",),
            treats=True,
            permits=_TOGGLES,
            carried=True,
            seen="it has no dirt or leftovers on it",
        ),
        GoalKind.HEAT: _G(
            frozenset({_S.HEATED, _S.COOKED}), ("HeatObject",), treats=True, permits=_TOGGLES, carried=True
        ),
        GoalKind.COOL: _G(frozenset({_S.COLD}), ("CoolObject",), treats=True, carried=True),
        GoalKind.EXAMINE: _G(
            skills=("PickupObject",),
            permits=("SwitchOn", "SwitchOff"),
            in_hand=True,
            seen="the robot's hand holds it, and the light is on",
        ),
        GoalKind.SLICE: _G(skills=("SliceObject",), treats=True, seen="it is cut into pieces"),
        GoalKind.FETCH: _G(skills=("PickupObject",), in_hand=True, seen="the robot's hand holds it"),
        GoalKind.FIND: _G(checked=False, seen="it is in view"),
        GoalKind.SWITCH_ON: _G(
            frozenset({_S.ON}),
            ("SwitchOn", "ToggleOn"),
            permits=_SWITCHES,
            in_place=True,
            seen="it is on, lit or running",
        ),
        GoalKind.SWITCH_OFF: _G(
            frozenset({_S.OFF}),
            ("SwitchOff", "ToggleOff"),
            permits=_SWITCHES,
            in_place=True,
            ends=_S.ON,
            seen="it is off",
        ),
        GoalKind.OPEN: _G(frozenset({_S.OPENED}), ("OpenObject",), in_place=True, seen="it is open"),
        GoalKind.CLOSE: _G(
            frozenset({_S.CLOSED}), ("CloseObject",), in_place=True, ends=_S.OPENED, seen="it is closed"
        ),
        GoalKind.FILL: _G(
            frozenset({_S.FILLED}), ("FillObject",), treats=True, permits=_TOGGLES, seen="there is something in it"
        ),
        GoalKind.EMPTY: _G(frozenset({_S.USED_UP}), ("EmptyObject",), treats=True, seen="there is nothing in it"),
        GoalKind.BREAK: _G(frozenset({_S.BROKEN}), ("BreakObject",), in_place=True, seen="it is broken"),
        GoalKind.THROW: _G(skills=("ThrowObject",)),
        GoalKind.GO: _SPOKEN,
        GoalKind.DROP: _G(learnt=False),
        GoalKind.STOP: _SPOKEN,
        GoalKind.WAIT: _SPOKEN,
        GoalKind.TELL: _SPOKEN,
        GoalKind.WIPE: _G(
            frozenset({_S.WIPED}),
            ("WipeObject",),
            treats=True,
            in_place=True,
            seen="it is wiped",
            learnt=False,
            comes_to=GoalKind.CLEAN,
        ),
    }
)
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
# by skill of treatment, the kind of goal that it fulfils
GOAL_OF_SKILL: dict[str, GoalKind] = {goal.skills[0]: kind for kind, goal in GOALS.items() if goal.treats}
