"""The parameters of the short-term memory."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field, model_validator

from memory_node.domain.parameters import Parameters

PolicyName = Literal["fifo", "lru", "lfu", "w-tinylfu", "adaptive"]
POLICY_NAMES: tuple[str, ...] = get_args(PolicyName)


class ShortTermConfig(Parameters):
    """The short-term object memory (KARMA): small, volatile, always right."""

    capacity: int = Field(
        default=64,
        ge=1,
        le=10_000_000,
        description="objects that the short-term memory holds at most",
    )
    policy: PolicyName = Field(
        default="adaptive",
        description="replacement policy: which object leaves a full short-term memory",
    )
    window_share: float = Field(
        default=0.9,
        ge=0.0,
        le=1.0,
        description="policy w-tinylfu: share of its window; 0.9 is KARMA's best for households, 0.01 suits servers",
    )
    doorkeeper: bool = Field(
        default=False,
        description="policy w-tinylfu: keep keys that were seen once out of the sketch",
    )
    task_aware: bool = Field(default=True, description="keep the objects that pending subgoals name")
    use_interval_s: float = Field(
        default=2.0,
        ge=0.0,
        le=86_400.0,
        description="sightings of an object within this time count as one use of it",
    )
    crop_folder: str = Field(
        default="",
        description="folder of the objects' pictures; empty: beside the database, else a temporary folder",
    )
    crop_budget_mb: float = Field(
        default=64.0, ge=0.0, le=1_000_000.0, description="size of all pictures together (MB); the oldest go first"
    )
    snapshot_path: str = Field(
        default="", description="file that keeps the short-term memory over a restart; empty: it starts empty"
    )
    snapshot_max_age_s: float = Field(
        default=600.0,
        ge=0.0,
        le=1e9,
        description="age beyond which a snapshot is not taken back",
    )
    state_half_life_s: float = Field(
        default=600.0, ge=0.001, le=1e9, description="age at which a claim about a state counts half"
    )
    vlm_base_url: str = Field(
        default="",
        description="OpenAI-compatible endpoint with a model that sees; empty: states come from skill effects alone",
    )
    vlm_model: str = Field(default="", description="name of the model that sees")
    vlm_deadline_s: float = Field(
        default=10.0,
        ge=0.01,
        le=3600.0,
        description="time for one answer of the model that sees; a later one is not used",
    )
    vlm_queue_size: int = Field(
        default=8,
        ge=1,
        le=10_000,
        description="pictures that may wait for the model that sees; with more, the oldest is dropped",
    )

    @model_validator(mode="after")
    def _check_vlm(self) -> ShortTermConfig:
        if self.vlm_base_url and not self.vlm_model:
            raise ValueError("vlm_model: expected a model's name beside vlm_base_url, got an empty one")
        return self
