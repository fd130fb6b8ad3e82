"""The LoRA adapter with which the embedded model chooses calls; it lies beside the weights of the trained readers."""

from __future__ import annotations

import logging

from memory_node.domain.resources import MISSING_READERS, readers_folder
from memory_node.planner.planner_config import LlmConfig

ADAPTER = "household.gguf"

_LOG = logging.getLogger(__name__)


def with_household_adapter(config: LlmConfig) -> LlmConfig:
    """Return the configuration with the adapter, and with the brief prompts that it has learnt.

    Only the embedded model gets it, where it ranks calls and no other adapter is named. A missing file is said once in
    the log; the model chooses without it then.
    """
    ranks = config.in_process and config.mode in ("auto", "rank")
    if not config.household_adapter or not ranks or config.model_path or config.adapter_path:
        return config
    path = readers_folder() / ADAPTER
    if not path.is_file():
        _LOG.warning("the language model plans without its adapter for calls: %s", MISSING_READERS)
        return config
    _LOG.info("the language model chooses calls with %s", path.name)
    return config.changed(adapter_path=str(path), brief=True)
