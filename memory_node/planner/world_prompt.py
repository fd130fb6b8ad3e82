"""Tells a language model what is believed of things, one a line."""

from __future__ import annotations

from memory_node.planner.belief import Belief


def world_lines(belief: Belief) -> list[str]:
    """Return a line for each thing: its name, what it is in or on, and its states."""
    state = belief.state
    lines = []
    for name in belief.things:
        said = sorted(map(str, belief.things[name].states))
        outer = state.container_of(name)
        if name == state.held:
            said.insert(0, "in the hand")
        elif outer:
            said.insert(0, f"in {outer}" if _encloses(outer, belief) else f"on {outer}")
        words = ", ".join(said)
        lines.append(f"{name}: {words}" if words else name)
    return lines


def _encloses(name: str, belief: Belief) -> bool:
    thing = belief.things.get(name)
    return thing is not None and belief.kinds[thing.object_class].holds_inside
