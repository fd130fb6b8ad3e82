"""Where a store is and where it keeps what is not in its tables: addresses, pictures, the journal, notes of exports."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.errors import StoreError
from memory_node.domain.resources import create_private, picture_prefix
from memory_node.store.config import StoreConfig

_SECRET = re.compile(
    r"(://[^/?#\s@]*?:)[^/?#\s]*@|([?&;\s][^=&;\s]*pass(?:word|wd|phrase)[^=&;\s]*=)[^&;\s]*", re.IGNORECASE
)
_IN_PROCESS = frozenset({"", ":memory:", "sqlite://", "sqlite:///:memory:"})


def is_in_process(text: str) -> bool:
    """Return whether an address names no database but a memory that lives in the process alone."""
    return text.strip() in _IN_PROCESS


def is_server(text: str) -> bool:
    """Return whether an address is a server's, not a file's."""
    return "://" in text and not text.startswith("sqlite")


def redacted(text: str) -> str:
    """Return a text in which passwords of addresses are replaced by ***."""
    return _SECRET.sub(lambda match: f"{match[1]}***@" if match[1] else f"{match[2]}***", text)


def parse_url(url_or_path: str | Path) -> URL:
    """Return the SQLAlchemy URL of a path, a `sqlite:///` or a `postgresql://` address.

    Raises:
        StoreError: another kind of database, a password in the address, or an option that means nothing.
    """
    text = str(url_or_path)
    try:
        url = (
            make_url(text) if "://" in text else URL.create("sqlite", database=str(Path(text).expanduser().absolute()))
        )
    except (sa.exc.ArgumentError, ValueError) as error:
        raise StoreError(f"expected a SQLite file or a postgresql:// address, got {redacted(text)}") from error
    if url.password is not None or any("password" in key.lower() for key in url.query):
        raise StoreError(
            "the store's address holds a password, which process lists and logs would show; "
            "take it out and set PGPASSWORD or write it to ~/.pgpass"
        )
    backend = url.get_backend_name()
    if backend == "postgresql":
        prepare_threshold(url)
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or is_in_process(url.database or ""):
        raise StoreError(f"expected a SQLite file or a postgresql:// address, got {redacted(text)}")
    return url


def prepare_threshold(url: URL) -> dict[str, int | None]:
    """Return psycopg's option as an address says it; "none" prepares no statement, as some poolers need it.

    Raises:
        StoreError: it is neither none nor a number.
    """
    text = str(url.query.get("prepare_threshold", ""))
    if not text:
        return {}
    if text.lower() != "none" and not text.isdecimal():
        raise StoreError(f"prepare_threshold: expected a whole number or none, got {text[:40]!r}")
    return {"prepare_threshold": None if text.lower() == "none" else int(text)}


def sqlite_path(url: URL) -> Path | None:
    """Return the file of a SQLite address, None for a server."""
    return Path(str(url.database)) if url.get_backend_name() == "sqlite" else None


def erase_pictures(folder: Path, record_id: str) -> int:
    """Overwrite and remove a thing's pictures in a folder (see `picture_name`); return how many files went."""
    files = [path for path in folder.glob(f"{picture_prefix(record_id)}*.jpg") if path.is_file()]
    for path in files:
        with open(path, "r+b") as file:
            file.write(bytes(path.stat().st_size))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
    return len(files)


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
    def derived(self) -> Path:
        """The folder of files that can be made from the records at any time; forgetting removes it."""
        return self.data / "derived"

    @property
    def backups(self) -> Path:
        """The folder of the backups that the store makes by itself."""
        return self.data / "backups"

    @property
    def crops(self) -> Path:
        """The folder of the pictures that the short-term memory keeps beside the store."""
        return self.data / "crops"


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


EXPORTS_FILE = "exports.jsonl"


def note_export(folders: Folders, target: Path, clock: Clock = system_clock) -> None:
    """Note that a file or folder now holds what the store held; raises OSError where that cannot be written."""
    path = folders.data / EXPORTS_FILE
    create_private(path)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps({"path": str(target), "made_ns": clock()}) + "\n")


def noted_exports(folders: Folders) -> list[Path]:
    """Return the files and folders that were noted, each once; lines that cannot be read are passed over."""
    path = folders.data / EXPORTS_FILE
    if not path.is_file():
        return []
    found: dict[Path, None] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found[Path(json.loads(line)["path"])] = None
        except (ValueError, KeyError, TypeError):
            continue
    return list(found)
