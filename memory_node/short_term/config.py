"""The parameters of the short-term memory."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from memory_node.domain.parameters import Expert, Parameters, Profile, parameter
from memory_node.llm.config import SHARED, ModelConfig

PolicyName = Literal["lru", "w-tinylfu"]
POLICY_NAMES: tuple[str, ...] = get_args(PolicyName)


class StateModelConfig(ModelConfig):
    """The model that sees; without its base_url, states come from skill effects alone."""

    timeout_s: float = parameter(10.0, "time for one picture, from its arrival to the model's last token", 0.1, 3600.0)
    max_reply_tokens: Expert[int] = parameter(500, "tokens of one reply at most", 1, 32_000)
    max_repairs: Expert[int] = parameter(1, "corrections asked of a reply that cannot be used", 0, 20)
    most_waiting: Expert[int] = parameter(8, "pictures that may wait; the oldest is dropped for a newer one", 1, 10_000)


class ShortTermConfig(Parameters):
    """The short-term object memory (KARMA): small, volatile, always right."""

    capacity: int = parameter(64, "objects that the short-term memory holds at most", 1, 10_000_000)
    policy: PolicyName = parameter("w-tinylfu", "replacement policy: which object leaves a full short-term memory")
    window_share: Expert[float] = parameter(
        0.9, "policy w-tinylfu: share of its window; 0.9 is KARMA's best for households, 0.01 suits servers", 0.0, 1.0
    )
    doorkeeper: Expert[bool] = parameter(False, "policy w-tinylfu: keep keys that were seen once out of the sketch")
    task_aware: Expert[bool] = parameter(True, "keep the objects that pending subgoals name")
    use_interval_s: Expert[float] = parameter(
        2.0, "sightings of an object within this time count as one use of it", 0.0, 86_400.0
    )
    crop_folder: Expert[str] = parameter(
        "", "folder of the objects' pictures; empty: beside the database, else a temporary folder"
    )
    crop_budget_mb: float = parameter(64.0, "size of all pictures together (MB); the oldest go first", 0.0, 1_000_000.0)
    state_half_life_s: Expert[float] = parameter(600.0, "age at which a claim about a state counts half", 0.001, 1e9)
    vlm: Annotated[StateModelConfig, Profile("llm.states", SHARED - {"base_url", "model"})] = StateModelConfig()
