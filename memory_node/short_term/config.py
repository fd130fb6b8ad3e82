"""The short-term memory's parameters, read once from config/short_term.yaml and checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memory_node.domain.config_file import read_config
from memory_node.domain.errors import InvalidValueError

POLICY_NAMES = ("fifo", "lru", "lfu", "w-tinylfu", "adaptive")


@dataclass(frozen=True)
class ShortTermConfig:
    """See config/short_term.yaml for what each means."""

    capacity: int = 32
    policy: str = "adaptive"
    window_share: float = 0.9
    doorkeeper: bool = False
    task_aware: bool = True
    use_interval_s: float = 2.0
    crop_folder: str = ""
    crop_budget_mb: float = 64.0
    snapshot_path: str = ""
    snapshot_max_age_s: float = 600.0
    state_half_life_s: float = 600.0
    vlm_base_url: str = ""
    vlm_model: str = ""
    vlm_deadline_s: float = 10.0
    vlm_queue_size: int = 8

    def __post_init__(self) -> None:
        if self.policy not in POLICY_NAMES:
            raise InvalidValueError(f"policy: expected one of {', '.join(POLICY_NAMES)}, got {self.policy!r}")
        if self.capacity < 1:
            raise InvalidValueError(f"capacity: expected at least 1, got {self.capacity}")
        if not 0.0 <= self.window_share <= 1.0:
            raise InvalidValueError(f"window_share: expected 0 to 1, got {self.window_share}")
        for name in ("use_interval_s", "crop_budget_mb", "snapshot_max_age_s"):
            if getattr(self, name) < 0.0:
                raise InvalidValueError(f"{name}: expected 0 or more, got {getattr(self, name)}")
        for name in ("state_half_life_s", "vlm_deadline_s", "vlm_queue_size"):
            if getattr(self, name) <= 0:
                raise InvalidValueError(f"{name}: expected more than 0, got {getattr(self, name)}")
        if self.vlm_base_url and not self.vlm_model:
            raise InvalidValueError("vlm_model: expected a model's name beside vlm_base_url, got an empty one")

    @classmethod
    def load(cls, path: Path | None = None) -> ShortTermConfig:
        """Return the config of a YAML file (default: the shipped one)."""
        return read_config(cls, "config/short_term.yaml", path)
