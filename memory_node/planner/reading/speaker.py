"""Finds the person who speaks to the robot among those whom memory knows to be there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memory_node.domain.scene import SceneObject
from memory_node.planner.goal import Goal, Mention

_SPEAKER = frozenset({"me", "you"})


def speaker_id(people: Sequence[SceneObject]) -> str:
    """Return memory's id of who speaks among several persons: the only one without a name; "" where that is not told
    or nobody else is there."""
    nameless = [one for one in people if not one.attributes.get("name")]
    return nameless[0].id if len(people) > 1 and len(nameless) == 1 else ""


def with_speaker(goals: Iterable[Goal], people: Sequence[SceneObject]) -> list[Goal]:
    """Return goals in which "bring it to me" and "come here" mean the one who speaks, not whoever is nearest."""
    thing_id = speaker_id(people)
    classes = {one.class_name for one in people}

    def meant(mention: Mention) -> Mention:
        is_speaker = mention.text in _SPEAKER and mention.object_class in classes and not mention.thing_id
        return replace(mention, thing_id=thing_id) if is_speaker else mention

    return [one.with_mentions(meant) for one in goals]
