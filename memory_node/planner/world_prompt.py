"""What a prompt tells of the world: what is believed of things, one a line."""

from __future__ import annotations

from memory_node.world.state import Thing, WorldState


def world_lines(state: WorldState) -> list[str]:
    """Return a line for each thing: its name, what it is in or on, and its states."""
    lines = []
    for thing in state:
        said = sorted(map(str, thing.states))
        if thing.id == state.held:
            said.insert(0, "in the hand")
        elif thing.container:
            said.insert(0, f"{'in' if _is_inside(thing, state) else 'on'} {thing.container}")
        words = ", ".join(said)
        lines.append(f"{thing.id}: {words}" if words else thing.id)
    return lines


def _is_inside(thing: Thing, state: WorldState) -> bool:
    outer = state.things.get(thing.container)
    if thing.inside is not None or outer is None:
        return bool(thing.inside)
    return state.kinds[outer.object_class].holds_inside
