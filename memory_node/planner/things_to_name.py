"""Chooses the things that a language model is told of: a home holds more than a prompt does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.scene import SceneObject

# Of what the instruction does not name, only so many of a class are worth a line.
_OTHERS_OF_A_CLASS = 2


def things_to_name(
    known: Mapping[str, SceneObject],
    about: Sequence[str],
    kinds: ObjectCatalogue,
    named: Collection[str],
    most: int,
) -> list[SceneObject]:
    """Return what the instruction is about, what holds it, and what skills need.

    known: by memory's ids. about: classes, the most important first. named: the ids of what has a name already.
    most: so many at most, besides what the wanted ones lie on.
    """
    wanted = {folded(name): rank for rank, name in enumerate(about)}
    fixtures = {folded(name) for names in kinds.needs_of_skills().values() for name in names}

    def rank(found: SceneObject) -> tuple[int, float, str]:
        name = folded(found.class_name)
        if found.id in named:
            return -1, 0.0, found.id
        if name in wanted:
            return wanted[name], -found.existence, found.id
        return len(wanted) + (0 if name in fixtures else 1), -found.existence, found.id

    chosen: dict[str, SceneObject] = {}
    counts: Counter[str] = Counter()
    for found in sorted(known.values(), key=rank):
        if len(chosen) >= most:
            break
        name = folded(found.class_name)
        counts[name] += 1
        if name in wanted or counts[name] <= _OTHERS_OF_A_CLASS:
            chosen[found.id] = found
    return list((chosen | _supports_of(chosen.values(), known, wanted)).values())


def _supports_of(
    chosen: Collection[SceneObject], known: Mapping[str, SceneObject], wanted: Collection[str]
) -> dict[str, SceneObject]:
    """Return, by memory's ids, what the wanted ones of the chosen things lie on."""
    supports = (known.get(found.support_id) for found in chosen if folded(found.class_name) in wanted)
    return {support.id: support for support in supports if support is not None}
