"""Builds the planner that the configuration names."""

from __future__ import annotations

from memory_node.domain.ports import TextEmbedder
from memory_node.planner.goal_model import WEIGHTS_FOLDER, GoalModel
from memory_node.planner.object_kinds import load_object_kinds
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.understanding import Understander


def open_offline_planner(embedder: TextEmbedder | None) -> OfflinePlanner:
    """Return the planner that needs no language model; embedder: grounds descriptions, None grounds names only."""
    kinds = load_object_kinds()
    model = GoalModel() if WEIGHTS_FOLDER.is_dir() else None
    return OfflinePlanner(Understander(model, embedder, kinds), kinds)
