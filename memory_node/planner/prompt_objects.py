"""Chooses the things that a language model is told of: a home holds more than a prompt does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from memory_node.catalogue.class_name import folded
from memory_node.world.state import Thing, WorldState

# Things of a class that are listed when the instruction does not name the class.
_OTHERS_OF_A_CLASS = 2
# Things of a class that are named before others have their turn.
_IN_TURN = 4


def prompt_objects(
    state: WorldState,
    about: Sequence[str],
    fixtures: Collection[str],
    listed: Collection[str],
    most: int,
) -> list[str]:
    """Return the names of what the instruction is about, what holds it, and what skills need.

    about: classes, the most important first. fixtures: folded classes that skills need. listed: names that stand in a
    prompt already; they, what memory does not hold, and what the hand holds are always chosen. most: so many at most,
    besides these and what they all lie on.
    """
    wanted = {folded(name): rank for rank, name in enumerate(about)}
    always = {one.id for one in state if one.id in listed or not one.memory_id or one.id == state.held}

    def rank(thing: Thing) -> tuple[int, float, str]:
        name = folded(thing.object_class)
        if thing.id in always:
            return -1, 0.0, thing.id
        first = wanted.get(name, len(wanted) + (0 if name in fixtures else 1))
        return first, -thing.existence, thing.id

    def most_of(name: str) -> int:
        return most if name in wanted else _OTHERS_OF_A_CLASS

    # Twenty drawers do not push out the sink: of each class a few in turn.
    turns: list[tuple[int, Thing]] = []
    counts: Counter[str] = Counter()
    for thing in sorted(state, key=rank):
        name = folded(thing.object_class)
        turn = counts[name] // _IN_TURN
        counts[name] += thing.id not in always
        if counts[name] <= most_of(name) or thing.id in always:
            turns.append((0 if thing.id in always else turn, thing))
    in_turn = [thing for _, thing in sorted(turns, key=lambda one: one[0])[: max(most, len(always))]]
    chosen = [thing.id for thing in in_turn]
    supports = [thing.container for thing in in_turn if thing.container in state.things]
    return list(dict.fromkeys([*chosen, *supports]))
