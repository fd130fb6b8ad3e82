"""The parameters of the short-term memory."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from memory_node.domain.parameters import Expert, Parameters, Profile
from memory_node.llm.config import SHARED, ModelConfig

PolicyName = Literal["lru", "w-tinylfu", "adaptive"]
POLICY_NAMES: tuple[str, ...] = get_args(PolicyName)


class StateModelConfig(ModelConfig):
    """The model that sees; without its base_url, states come from skill effects alone."""

    timeout_s: float = Field(
        default=10.0, ge=0.1, le=3600.0, description="time for one picture, from its arrival to the model's last token"
    )
    max_reply_tokens: Expert[int] = Field(default=500, ge=1, le=32_000, description="tokens of one reply at most")
    max_repairs: Expert[int] = Field(
        default=1, ge=0, le=20, description="corrections asked of a reply that cannot be used"
    )
    most_waiting: Expert[int] = Field(
        default=8, ge=1, le=10_000, description="pictures that may wait; the oldest is dropped for a newer one"
    )


class ShortTermConfig(Parameters):
    """The short-term object memory (KARMA): small, volatile, always right."""

    capacity: int = Field(
        default=64,
        ge=1,
        le=10_000_000,
        description="objects that the short-term memory holds at most",
    )
    policy: PolicyName = Field(
        default="w-tinylfu",
        description="replacement policy: which object leaves a full short-term memory",
    )
    window_share: Expert[float] = Field(
        default=0.9,
        ge=0.0,
        le=1.0,
        description="policy w-tinylfu: share of its window; 0.9 is KARMA's best for households, 0.01 suits servers",
    )
    doorkeeper: Expert[bool] = Field(
        default=False,
        description="policy w-tinylfu: keep keys that were seen once out of the sketch",
    )
    task_aware: Expert[bool] = Field(default=True, description="keep the objects that pending subgoals name")
    use_interval_s: Expert[float] = Field(
        default=2.0,
        ge=0.0,
        le=86_400.0,
        description="sightings of an object within this time count as one use of it",
    )
    crop_folder: Expert[str] = Field(
        default="",
        description="folder of the objects' pictures; empty: beside the database, else a temporary folder",
    )
    crop_budget_mb: float = Field(
        default=64.0, ge=0.0, le=1_000_000.0, description="size of all pictures together (MB); the oldest go first"
    )
    snapshot_path: Expert[str] = Field(
        default="", description="file that keeps the short-term memory over a restart; empty: it starts empty"
    )
    snapshot_max_age_s: Expert[float] = Field(
        default=600.0,
        ge=0.0,
        le=1e9,
        description="age beyond which a snapshot is not taken back",
    )
    state_half_life_s: Expert[float] = Field(
        default=600.0, ge=0.001, le=1e9, description="age at which a claim about a state counts half"
    )
    vlm: Annotated[StateModelConfig, Profile("llm.states", SHARED - {"base_url", "model"})] = StateModelConfig()
