"""Builds the planner that the configuration names."""

from __future__ import annotations

import logging

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.domain.ports import TextEmbedder
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.agent.agent_planner import AgentPlanner
from memory_node.planner.embedded_model import as_embedded_model_plans
from memory_node.planner.language.trained_readers import TrainedReaders
from memory_node.planner.language.understanding import Understander
from memory_node.planner.llm_planner import LlmPlanner
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.planner import Planner
from memory_node.planner.planner_config import PLANNERS, PlannerConfig

_LOG = logging.getLogger(__name__)


def open_planner(
    name: str,
    embedder: TextEmbedder | None,
    config: PlannerConfig | None = None,
    kinds: ObjectCatalogue | None = None,
    fallback: bool = True,
    asks: bool = True,
) -> Planner:
    """Return a planner by name.

    embedder: grounds descriptions, None grounds names only. kinds: what can be done with classes, by default the
    household's. asks: whether somebody is there to answer questions.

    fallback: the language model's planner falls back to the offline one, and says so when it does; without it a model
    that fails is a failed instruction.

    Raises:
        InvalidValueError: no such planner, or a mode that the model cannot do.
    """
    if name not in PLANNERS:
        raise InvalidValueError(f"planner: expected one of {', '.join(PLANNERS)}, got {name!r}")
    config = config or PlannerConfig()
    kinds = kinds or load_catalogue()
    understander = open_understander(kinds, embedder, asks)
    offline = OfflinePlanner(understander, kinds, config.offline.max_failures)
    if name == "offline":
        return offline
    if config.llm.mode == "rank" and not config.llm.in_process:
        raise InvalidValueError(
            "llm.mode: rank needs a model in this process; an endpoint tells no likelihoods of replies"
        )
    llm = as_embedded_model_plans(config.llm)
    model = ModelShelf().open_or_excuse(llm)
    if llm.mode == "agent" or (llm.mode == "auto" and not llm.in_process):
        return AgentPlanner(model, llm, kinds, offline, fallback, asks)
    return LlmPlanner(model, llm, kinds, offline, fallback)


def open_understander(kinds: ObjectCatalogue, embedder: TextEmbedder | None, asks: bool = True) -> Understander:
    """Return the reader of instructions; without the trained readers' weights the grammar of commands alone.

    A missing file is said once in the log: what is described rather than named is asked about then.
    """
    readers: TrainedReaders | None = None
    try:
        readers = TrainedReaders(kinds)
    except ResourceMissingError as error:
        _LOG.warning("%s; plain commands are understood, other words are asked about", error)
    return Understander(kinds, readers, embedder, asks)
