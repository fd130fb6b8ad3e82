"""The parameters of the store."""

from __future__ import annotations

from memory_node.domain.parameters import Expert, Parameters, parameter


class StoreConfig(Parameters):
    """How the durable store writes; docs/store.md explains it."""

    commit_interval_s: Expert[float] = parameter(
        0.1, "longest time that a sensor fact waits for its commit", 0.001, 0.1
    )
    retry_interval_s: Expert[float] = parameter(
        0.5, "time between two tries of a lost, locked or full database", 0.001, 60.0
    )
    busy_timeout_s: Expert[float] = parameter(
        2.0, "how long a write waits for another writer's lock before it goes to the journal", 0.001, 600.0
    )
    append_timeout_s: Expert[float] = parameter(
        2.0, "how long an append waits for room before it is refused", 0.001, 600.0
    )
    max_pending: Expert[int] = parameter(200_000, "facts that may wait in memory", 1, 100_000_000)
    max_batch: Expert[int] = parameter(20_000, "facts of one commit at most", 1, 10_000_000)
    journal_mib: Expert[float] = parameter(
        16.0, "disk space reserved for facts that the database cannot take now (MiB)", 0.001, 100_000.0
    )
    journal_path: Expert[str] = parameter(
        "", "file of the journal; empty: beside the SQLite file, for a server in $XDG_STATE_HOME/robot_memory"
    )
    data_dir: str = parameter("", "folder of pictures and backups; empty: where the journal is")
    backup_interval_h: float = parameter(
        24.0,
        "time between two backups of a SQLite file, in the folder backups of its data; 0: none (h)",
        0.0,
        100_000.0,
    )
    backups_kept: Expert[int] = parameter(3, "backups that are kept, the newest ones", 1, 10_000)
    poll_interval_s: Expert[float] = parameter(
        1.0, "time between two polls for others' changes, besides PostgreSQL's NOTIFY", 0.001, 3600.0
    )
