"""Chooses the things that a language model is told of: a home holds more than a prompt does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from memory_node.catalogue.class_name import folded
from memory_node.domain.scene import SceneObject

# Things of a class that are listed when the instruction does not name the class.
_OTHERS_OF_A_CLASS = 2
# Things of a class that are named before others have their turn.
_IN_TURN = 4
# Things of a class that a brief prompt lists when the instruction names it.
_MOST_OF_A_CLASS = 8


def prompt_objects(
    known: Mapping[str, SceneObject],
    about: Sequence[str],
    fixtures: Collection[str],
    named: Collection[str],
    most: int,
    brief: bool,
    handled: Collection[str] = frozenset(),
) -> list[SceneObject]:
    """Return what the instruction is about, what holds it, and what skills need.

    known: by memory's ids. about: classes, the most important first. fixtures: folded classes that skills need. named:
    the ids of what has a name already. most: so many at most, besides what the wanted ones lie on. brief: nothing else.
    handled: ids of things that come before others of their class.
    """
    wanted = {folded(name): rank for rank, name in enumerate(about)}

    def rank(found: SceneObject) -> tuple[int, bool, float, str]:
        name = folded(found.class_name)
        if found.id in named:
            return -1, False, 0.0, found.id
        first = wanted.get(name, len(wanted) + (0 if name in fixtures else 1))
        return first, found.id not in handled, -found.existence, found.id

    def most_of(name: str) -> int:
        if name in wanted:
            return _MOST_OF_A_CLASS if brief else most
        return 0 if brief and name not in fixtures else _OTHERS_OF_A_CLASS

    # Twenty drawers do not push out the sink: of each class a few in turn.
    turns: list[tuple[int, SceneObject]] = []
    counts: Counter[str] = Counter()
    for found in sorted(known.values(), key=rank):
        name = folded(found.class_name)
        turn = counts[name] // _IN_TURN
        counts[name] += found.id not in named
        if counts[name] <= most_of(name) or found.id in named:
            turns.append((0 if found.id in named else turn, found))
    in_turn = sorted(turns, key=lambda one: one[0])[:most]
    chosen = {found.id: found for _, found in in_turn}
    held_up = (found for found in chosen.values() if brief or folded(found.class_name) in wanted)
    supports = (known.get(found.support_id) for found in held_up)
    return list((chosen | {support.id: support for support in supports if support is not None}).values())
