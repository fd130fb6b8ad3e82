"""The store's parameters, read once and checked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from memory_node.domain.config_file import read_section
from memory_node.domain.errors import InvalidValueError


@dataclass(frozen=True)
class StoreConfig:
    """How the store writes; config/store.yaml holds the defaults with units and ranges.

    journal_path and data_dir: "" puts them beside a SQLite file, or under $XDG_STATE_HOME/robot_memory for a server.
    """

    commit_interval_s: float = 0.1
    retry_interval_s: float = 0.5
    busy_timeout_s: float = 2.0
    append_timeout_s: float = 2.0
    max_pending: int = 200_000
    max_batch: int = 20_000
    journal_mib: float = 16.0
    journal_path: str = ""
    data_dir: str = ""
    poll_interval_s: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, str) and not value > 0:
                raise InvalidValueError(f"store.{field.name}: expected more than 0, got {value}")
        if self.commit_interval_s > 0.1:
            raise InvalidValueError(f"store.commit_interval_s: expected at most 0.1 s, got {self.commit_interval_s}")

    @classmethod
    def load(cls, path: Path | None = None) -> StoreConfig:
        """Return the parameters of a YAML file (default: the shipped config/store.yaml)."""
        config: StoreConfig = read_section({"store": cls}, "store", "config/store.yaml", path)
        return config
