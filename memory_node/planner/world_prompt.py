"""What a prompt tells of the world: what is believed of things, one a line."""

from __future__ import annotations

from collections.abc import Iterable

from memory_node.world.state import Thing, WorldState

# So many things of a class that nothing tells apart are told as one.
_FOLDED_FROM = 3
_LONGEST_LOOKS = 100  # characters


def world_lines(state: WorldState) -> list[str]:
    """Return a line for each thing: its name, what it is in or on, its states, and what it looks like."""
    lines = []
    for thing in state:
        said = sorted(map(str, thing.states))
        if thing.id == state.held:
            said.insert(0, "in the hand")
        elif thing.container:
            said.insert(0, f"{'in' if _is_inside(thing, state) else 'on'} {thing.container}")
        said += [looks_of(thing)] if thing.description else []
        words = ", ".join(said)
        lines.append(f"{thing.id}: {words}" if words else thing.id)
    return lines


def looks_of(thing: Thing) -> str:
    """Return what a thing looks like, quoted: somebody else's words, which cannot end the quote."""
    plain = " ".join(thing.description.replace('"', "'").split()).rstrip(".")
    return f'"{plain[:_LONGEST_LOOKS]}"'


def _is_inside(thing: Thing, state: WorldState) -> bool:
    outer = state.things.get(thing.container)
    if thing.inside is not None or outer is None:
        return bool(thing.inside)
    return state.kinds[outer.object_class].holds_inside


def names_folded(names: Iterable[str]) -> list[str]:
    """Return names by class and number, with runs of numbers in one: "Drawer 1 to 21" for three or more of a class."""
    runs: list[list[str]] = []
    for name in sorted(names, key=by_number):
        stem, _, number = name.rpartition(" ")
        last = runs[-1][-1].rpartition(" ") if runs else ("", "", "")
        follows = stem and last[0] == stem and last[2].isdigit() and number == str(int(last[2]) + 1)
        if follows:
            runs[-1].append(name)
        else:
            runs.append([name])
    folded: list[str] = []
    for run in runs:
        folded += [f"{run[0]} to {run[-1].rpartition(' ')[2]}"] if len(run) >= _FOLDED_FROM else run
    return folded


def by_number(name: str) -> tuple[str, int]:
    """Return what sorts names: by class, then by number, so that "Drawer 10" comes behind "Drawer 9"."""
    stem, _, number = name.rpartition(" ")
    return (stem, int(number)) if stem and number.isdigit() else (name, 0)
