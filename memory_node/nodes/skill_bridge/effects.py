"""The changes of a finished skill, by its declaration.

Every declared effect is told, not the difference of the states before and after: memory may have believed otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memory_node.domain.skill import StateChange
from memory_node.domain.skill_declaration import Predicate, Skill
from memory_node.nodes.skill_bridge.target import Target


def declared_changes(
    skill: Skill,
    bound: Mapping[str, Target],
    stamp_ns: int,
    inside: bool = False,
    position: tuple[float, float, float] | None = None,
) -> tuple[StateChange, ...]:
    """Return one change for each object argument that the skill's declared effects are about.

    bound: the object arguments by name. inside: whether a receptacle takes things in, not on. position: in map, of
    what was put down.
    """
    changes: dict[str, StateChange] = {}
    for effect in skill.effects:
        subject = effect.arguments[0] if effect.arguments else ""
        if subject not in bound:
            continue
        target = bound[subject]
        change = changes.get(subject, StateChange(target.object_id, target.object_class, stamp_ns))
        if effect.predicate is Predicate.STATE and effect.state is not None:
            if effect.value:
                change = replace(change, added=(*change.added, effect.state))
            else:
                change = replace(change, removed=(*change.removed, effect.state))
        elif effect.predicate is Predicate.HOLDING:
            change = replace(change, held=effect.value, position=None if effect.value else position)
        elif effect.predicate is Predicate.CONTAINED and effect.value and effect.arguments[1] in bound:
            change = replace(change, support_id=bound[effect.arguments[1]].object_id, inside=inside)
        else:
            continue
        changes[subject] = change
    return tuple(changes.values())
