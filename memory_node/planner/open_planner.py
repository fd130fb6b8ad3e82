"""Builds the planner that the configuration names."""

from __future__ import annotations

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.planner.goal_model import WEIGHTS_FOLDER, GoalModel
from memory_node.planner.object_kinds import load_object_kinds
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.planner import Planner
from memory_node.planner.understanding import Understander

PLANNERS = ("offline", "llm")


def open_planner(name: str, embedder: TextEmbedder | None) -> Planner:
    """Return a planner by name; embedder: grounds descriptions, None grounds names only.

    Raises:
        InvalidValueError: no such planner.
    """
    if name == "offline":
        return open_offline_planner(embedder)
    raise InvalidValueError(f"planner: expected one of {', '.join(PLANNERS)}, got {name!r}")


def open_offline_planner(embedder: TextEmbedder | None) -> OfflinePlanner:
    """Return the planner that needs no language model."""
    kinds = load_object_kinds()
    model = GoalModel() if WEIGHTS_FOLDER.is_dir() else None
    return OfflinePlanner(Understander(model, embedder, kinds), kinds)
