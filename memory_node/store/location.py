"""Where a store keeps what is not in its tables: images, the journal."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from sqlalchemy.engine import URL

from memory_node.domain.resources import create_private
from memory_node.store.address import sqlite_path
from memory_node.store.config import StoreConfig
from memory_node.store.images import ImageFolder

# What file systems take as a name, less what a checksum needs.
_MAX_NAME = 100
_KNOWN = "databases.json"


def state_folder() -> Path:
    """Return the folder of what a robot keeps on this machine (XDG Base Directory)."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "robot_memory"


def default_database(namespace: str = "") -> Path:
    """Return the database file of a robot that names none: in the user's data folder (XDG Base Directory).

    namespace: of the robot's nodes, such as "/robot1"; each has a file of its own, "" and "/" share one.
    """
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    parts = [_folder_name(part) for part in namespace.split("/") if part]
    return Path(data, "robot_memory", *parts, "memory.db")


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


def locate(url: URL, site: str, robot_id: str, config: StoreConfig, identity: str = "") -> Folders:
    """Return where the store at `url` keeps its files on this machine.

    identity: of the site in a server's database; "" for the one that was met last at this address.
    """
    path = sqlite_path(url)
    if path is not None:
        data, journal = path.with_name(path.name + ".data"), path.with_name(path.name + ".pending")
    else:
        folder = _server_folder(url, site, robot_id, identity)
        data, journal = folder / "store.data", folder / "store.pending"
    return Folders(Path(config.data_dir or data), Path(config.journal_path or journal))


def known_identity(url: URL, site: str, robot_id: str) -> str:
    """Return the identity of the database that was met last at a server's address; "" for none."""
    return "" if sqlite_path(url) is not None else _known(_robot_folder(site, robot_id)).get(_address(url), "")


def note_identity(url: URL, site: str, robot_id: str, identity: str) -> None:
    """Note which database lies at a server's address, and let it have what was kept before that was known.

    Raises:
        OSError: it cannot be noted.
    """
    if sqlite_path(url) is not None:
        return
    home = _robot_folder(site, robot_id)
    known = _known(home)
    if known.get(_address(url)) != identity:
        note = home / _KNOWN
        create_private(note)
        note.write_text(json.dumps({**known, _address(url): identity}))
    unknown, own = home / _unknown_name(url), home / identity
    if unknown.is_dir() and not own.exists():
        unknown.rename(own)


def _server_folder(url: URL, site: str, robot_id: str, identity: str) -> Path:
    identity = identity or known_identity(url, site, robot_id)
    return _robot_folder(site, robot_id) / (identity or _unknown_name(url))


def _robot_folder(site: str, robot_id: str) -> Path:
    return state_folder() / _folder_name(site) / _folder_name(robot_id)


def _folder_name(name: str) -> str:
    """Return a name of a folder for a name of any characters and length, another one for each."""
    safe = quote(name, safe=" @+=,").replace(".", "%2E")
    if safe != "" and len(safe) <= _MAX_NAME:
        return safe
    return f"{safe[: _MAX_NAME // 2]}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:32]}"


def _address(url: URL) -> str:
    """Return what tells one database of a server from another, without who asks and how."""
    query = {key: url.query[key] for key in ("host", "port", "dbname", "service") if key in url.query}
    return json.dumps([url.host, url.port or 5432, url.database, query])


def _unknown_name(url: URL) -> str:
    return f"unknown-{hashlib.sha256(_address(url).encode()).hexdigest()[:16]}"


def _known(home: Path) -> dict[str, str]:
    """Return by address the identities of the databases that this robot has met."""
    try:
        found = json.loads((home / _KNOWN).read_text())
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}
