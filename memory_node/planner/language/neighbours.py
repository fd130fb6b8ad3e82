"""Tells where a thing goes from where its neighbour is: "next to the bowl on the table"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.english import INTO, NEAR, English
from memory_node.planner.language.spoken_command import Command, placed


def beside_neighbour(command: Command, words: Sequence[str], english: English) -> Command:
    """Return "put the spoon next to the bowl on the table" with the table as where the bowl is."""
    place = command.destination
    told = command.targets[-1].places[-1:] if command.targets and command.kind is GoalKind.PLACE else ()
    if place is None or command.near or place.called is None or words[place.begin - 1] in english.directed:
        return command
    beside = next((one for sense, one in told if sense == NEAR and one.called is not None), None)
    if beside is None or beside.end != place.begin - 1:
        return command
    target = replace(command.targets[-1], places=command.targets[-1].places[:-1])
    neighbour = placed(beside, INTO, place)
    return replace(command, targets=(*command.targets[:-1], target), destination=neighbour, near=True)
