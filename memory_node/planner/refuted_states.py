"""What a picture that refuses a goal takes back of what skills reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_node.catalogue.class_name import folded
from memory_node.domain.goal_labels import GOALS
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal

# Not to be in one of these is to be in its opposite.
_ONE_OR_OTHER = frozenset({ObjectState.ON, ObjectState.OFF, ObjectState.OPENED, ObjectState.CLOSED})
_SURE = 0.8  # how far a picture's word on a state is believed


def refuted_states(
    goal: Goal, changes: Sequence[StateChange], memory_ids: Mapping[str, str], stamp_ns: int
) -> tuple[StateChange, ...]:
    """Return the changes that end the wanted states of a goal's things, where a skill of this attempt reported them.

    Else memory would go on to hold the fridge closed, and the next attempt had nothing to do. Only states are taken
    back: where a thing is instead, no verdict tells.

    memory_ids: memory's ids by the robot's. stamp_ns: when the picture was taken.
    """
    wanted = GOALS[goal.kind].wants
    classes = {folded(name) for name in goal.target.candidates}
    ended: dict[str, tuple[str, ObjectState]] = {}
    for change in changes:
        if folded(change.object_class) in classes:
            for state in wanted.intersection(change.added):
                ended[change.object_id] = (change.object_class, state)
    return tuple(
        StateChange(
            memory_ids.get(thing, thing),
            object_class,
            stamp_ns,
            added=tuple(state.opposites) if state in _ONE_OR_OTHER else (),
            removed=(state,),
            source="vlm",
            probability=_SURE,
        )
        for thing, (object_class, state) in ended.items()
    )
