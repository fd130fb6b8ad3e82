"""Opens the curator that a configuration names."""

from __future__ import annotations

from memory_node.catalogue.object_catalogue import ObjectCatalogue
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
    """Return the curator of an empty bank, None where nobody decides what is kept."""
    if config.kind == "none":
        return None
    vetting = Vetting(kinds)
    optimizer: Optimizer = RulesOptimizer()
    if config.kind == "model":
        optimizer = PromptOptimizer(models.open_or_excuse(config.llm), vetting, config.llm)
    return Curator(LessonBank(embedder, config.limits), optimizer, vetting, log)
