"""How the embedded model plans: with brief prompts, because a processor reads some hundred tokens a second, and with
the LoRA adapter by which it chooses calls, which lies beside the weights of the trained readers."""

from __future__ import annotations

import logging

from memory_node.domain.resources import MISSING_READERS, readers_folder
from memory_node.planner.planner_config import LlmConfig

ADAPTER = "household.gguf"

_LOG = logging.getLogger(__name__)


def as_embedded_model_plans(config: LlmConfig) -> LlmConfig:
    """Return the configuration with the adapter where the embedded model chooses call by call, and with brief prompts,
    which the adapter has learnt; with brief prompts alone where it writes whole plans.

    Every other model, and one with an adapter of its own, stays as it is. A missing file is said once in the log; the
    model chooses without it then.
    """
    if not config.in_process or config.model_path or config.adapter_path:
        return config
    if config.mode == "plan":
        return config.changed(brief=True)
    if not config.household_adapter:
        return config
    path = readers_folder() / ADAPTER
    if not path.is_file():
        _LOG.warning("the language model plans without its adapter for calls: %s", MISSING_READERS)
        return config
    _LOG.info("the language model chooses calls with %s", path.name)
    return config.changed(adapter_path=str(path), brief=True)
