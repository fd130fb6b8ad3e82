"""Opens the curator that a configuration names."""

from __future__ import annotations

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.bank import LessonBank
from memory_node.lessons.log import ExperienceLog
from memory_node.lessons.optimizer.config import OptimizerConfig
from memory_node.lessons.optimizer.curator import Curator
from memory_node.lessons.optimizer.prompt import PromptOptimizer
from memory_node.lessons.optimizer.proposal import Optimizer
from memory_node.lessons.optimizer.rules import RulesOptimizer
from memory_node.lessons.optimizer.vetting import Vetting
from memory_node.llm.open_model import ModelShelf


def open_curator(
    config: OptimizerConfig,
    embedder: TextEmbedder,
    kinds: ObjectCatalogue,
    models: ModelShelf,
    log: ExperienceLog | None = None,
) -> Curator | None:
    """Return the curator of an empty bank, None where nobody decides what is kept.

    Raises:
        InvalidValueError: `learned` without an adapter.
    """
    if config.kind == "none":
        return None
    vetting = Vetting(kinds)
    return Curator(LessonBank(embedder, config.limits), _optimizer(config, vetting, models), vetting, log)


def _optimizer(config: OptimizerConfig, vetting: Vetting, models: ModelShelf) -> Optimizer:
    if config.kind == "rules":
        return RulesOptimizer()
    if config.kind == "learned" and config.llm.in_process and not config.llm.adapter_path:
        raise InvalidValueError("optimizer.kind learned: expected llm.optimizer.adapter_path, a trained adapter")
    return PromptOptimizer(models.open_or_excuse(config.llm), vetting, config.llm, config.kind)
