"""Where a store keeps what is not in its tables: images, the journal."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL

from memory_node.store.config import StoreConfig
from memory_node.store.engine import sqlite_path
from memory_node.store.images import ImageFolder


def default_database() -> Path:
    """Return the database file of a robot that names none: in the user's data folder (XDG Base Directory)."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "robot_memory" / "memory.db"


@dataclass(frozen=True)
class Folders:
    """Beside a SQLite file, or for a server under $XDG_STATE_HOME/robot_memory, one for each site and robot."""

    data: Path
    journal: Path

    @property
    def journal_waits(self) -> bool:
        """Whether the journal holds facts that are not in the database yet."""
        if not self.journal.is_file():
            return False
        with open(self.journal, "rb") as file:
            return file.read(4).strip(b"\0") != b""

    @property
    def images(self) -> ImageFolder:
        """The folder that image paths are confined to."""
        return ImageFolder(self.data / "images")

    @property
    def derived(self) -> Path:
        """The folder of files that can be made from the records at any time; forgetting removes it."""
        return self.data / "derived"

    @property
    def backups(self) -> Path:
        """The folder of the backups that the store makes by itself."""
        return self.data / "backups"

    @property
    def crops(self) -> ImageFolder:
        """The pictures that the short-term memory keeps beside the store, named in the same way."""
        return ImageFolder(self.data / "crops")


def locate(url: URL, site: str, robot_id: str, config: StoreConfig) -> Folders:
    """Return where the store at `url` keeps its files on this machine."""
    path = sqlite_path(url)
    if path is not None:
        data, journal = path.with_name(path.name + ".data"), path.with_name(path.name + ".pending")
    else:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        folder = Path(state) / "robot_memory" / f"{site}-{robot_id}"
        data, journal = folder / "store.data", folder / "store.pending"
    return Folders(Path(config.data_dir or data), Path(config.journal_path or journal))
