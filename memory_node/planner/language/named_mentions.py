"""Gives what trained readers read the things that the words name: a named class is not one of several guesses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.lexicon import Called

_SLOTS = ("target", "destination", "container", "light")


def with_named(goals: Sequence[Goal], commands: Sequence[Goal], names: Iterable[Called]) -> list[Goal]:
    """Return a trained reader's goals with the things that the grammar finds under the same names.

    commands: the grammar's goals, if it has any. names: what the names in the words may mean; a class that is first
    called so is no other, and those that are called so as well take its part only where a search finds none.
    """
    names = tuple(names)
    named = {name for called in names for name in called.all}
    mentions = [mention for goal in commands for mention in goal.mentions]
    found = {name: one for one in mentions for name in (*one.candidates, *one.stand_ins) if name in named}
    first = {called.own[0]: called.also for called in names if called.own}
    return [_named(goal, found, first) for goal in goals]


def _named(goal: Goal, found: dict[str, Mention], first: dict[str, tuple[str, ...]]) -> Goal:
    parts = {slot: getattr(goal, slot) for slot in _SLOTS}
    changed = {slot: _settled(one, found, first) for slot, one in parts.items() if one is not None}
    return goal.changed(**changed)


def _settled(mention: Mention, found: dict[str, Mention], first: dict[str, tuple[str, ...]]) -> Mention:
    name = mention.object_class
    same = found.get(name)
    if same is not None and not same.guessed:
        open_to = (name, *same.candidates) if name in same.candidates else same.candidates
        return replace(mention, candidates=tuple(dict.fromkeys(open_to)), stand_ins=same.stand_ins)
    return replace(mention, candidates=(name,), stand_ins=first[name]) if name in first else mention
