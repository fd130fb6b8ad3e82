"""Builds the planner that the configuration names."""

from __future__ import annotations

import logging

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.domain.ports import TextEmbedder
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.agent.agent_planner import AgentPlanner
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.planner import Planner
from memory_node.planner.planner_config import PLANNERS, PlannerConfig
from memory_node.planner.reading.trained_reader import GoalModel
from memory_node.planner.reading.understanding import Understander
from memory_node.planner.visual_verifier import PictureSource

_LOG = logging.getLogger(__name__)


def open_planner(
    name: str,
    embedder: TextEmbedder | None,
    config: PlannerConfig | None = None,
    kinds: ObjectCatalogue | None = None,
    fallback: bool = True,
    asks: bool = True,
    camera: PictureSource | None = None,
) -> Planner:
    """Return a planner by name.

    camera: the robot's, for a model that sees. embedder: grounds descriptions, None grounds names only. kinds: what can
    be done with classes, by default the household's. asks: whether somebody is there to answer questions.

    fallback: the language model's planner falls back to the offline one, and says so when it does; without it a model
    that fails is a failed instruction.

    Raises:
        InvalidValueError: no such planner, a language model is to plan and none is named, or a model in this process is
            to see.
    """
    if name not in PLANNERS:
        raise InvalidValueError(f"planner: expected one of {', '.join(PLANNERS)}, got {name!r}")
    config = config or PlannerConfig()
    kinds = kinds or load_catalogue()
    understander = open_understander(kinds, embedder, asks)
    offline = OfflinePlanner(understander, kinds, config.offline.max_failures)
    if name == "offline":
        return offline
    if config.llm.in_process and not config.llm.model_path:
        raise InvalidValueError(
            "planner llm: the embedded model is no planner (docs/planner.md); name an endpoint, llm.base_url, or a"
            " model file, llm.model_path"
        )
    if config.llm.in_process and config.llm.sees:
        raise InvalidValueError("expert.llm.sees: no model in this process takes pictures; name llm.base_url")
    model = ModelShelf().open_or_excuse(config.llm)
    return AgentPlanner(model, config.llm, kinds, offline, fallback, asks, camera)


def open_understander(kinds: ObjectCatalogue, embedder: TextEmbedder | None, asks: bool = True) -> Understander:
    """Return the reader of instructions; without the trained readers' weights the grammar of commands alone.

    A missing file is said once in the log: what is described rather than named is asked about then.
    """
    reader: GoalModel | None = None
    try:
        reader = GoalModel()
    except ResourceMissingError as error:
        _LOG.warning("%s; plain commands are understood, other words are asked about", error)
    return Understander(kinds, reader, embedder, asks)
