"""The parameters of the store."""

from __future__ import annotations

from pydantic import Field

from memory_node.domain.parameters import Expert, Parameters


class StoreConfig(Parameters):
    """How the durable store writes; docs/store.md explains it."""

    commit_interval_s: Expert[float] = Field(
        default=0.1, ge=0.001, le=0.1, description="longest time that a sensor fact waits for its commit"
    )
    retry_interval_s: Expert[float] = Field(
        default=0.5, ge=0.001, le=60.0, description="time between two tries of a lost, locked or full database"
    )
    busy_timeout_s: Expert[float] = Field(
        default=2.0,
        ge=0.001,
        le=600.0,
        description="how long a write waits for another writer's lock before it goes to the journal",
    )
    append_timeout_s: Expert[float] = Field(
        default=2.0, ge=0.001, le=600.0, description="how long an append waits for room before it is refused"
    )
    max_pending: Expert[int] = Field(default=200_000, ge=1, le=100_000_000, description="facts that may wait in memory")
    max_batch: Expert[int] = Field(default=20_000, ge=1, le=10_000_000, description="facts of one commit at most")
    journal_mib: Expert[float] = Field(
        default=16.0,
        ge=0.001,
        le=100_000.0,
        description="disk space reserved for facts that the database cannot take now (MiB)",
    )
    journal_path: Expert[str] = Field(
        default="",
        description="file of the journal; empty: beside the SQLite file, for a server in $XDG_STATE_HOME/robot_memory",
    )
    data_dir: str = Field(default="", description="folder of images; empty: where the journal is")
    backup_interval_h: float = Field(
        default=24.0,
        ge=0.0,
        le=100_000.0,
        description="time between two backups of a SQLite file, in the folder backups beside its images; 0: none (h)",
    )
    backups_kept: Expert[int] = Field(default=3, ge=1, le=10_000, description="backups that are kept, the newest ones")
    poll_interval_s: Expert[float] = Field(
        default=1.0,
        ge=0.001,
        le=3600.0,
        description="time between two polls for others' changes, besides PostgreSQL's NOTIFY",
    )
