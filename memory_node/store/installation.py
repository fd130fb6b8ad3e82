"""Tells one machine from another, also where one disk was copied to both and they share a host name."""

from __future__ import annotations

import hashlib
import json
import socket
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.domain.ids import new_id
from memory_node.domain.private_files import create_private
from memory_node.store import schema
from memory_node.store.errors import StoreInUseError
from memory_node.store.location import state_folder

_FILE = "installation.json"
_NETWORKS = Path("/sys/class/net")


def installation_id() -> str:
    """Return the id of this machine's installation, made at the first call; "" where it cannot be kept.

    A copy of the disk in another machine gets an id of its own: its network adapters are others.
    """
    note, machine = state_folder() / _FILE, _machine()
    try:
        found = json.loads(note.read_text()) if note.is_file() else {}
        if found.get("id") and found.get("machine") == machine:
            return str(found["id"])
        made = {"id": new_id(), "machine": machine}
        create_private(note)
        note.write_text(json.dumps(made))
    except (OSError, ValueError, AttributeError):
        return ""
    return made["id"]


def _machine() -> str:
    """Return a digest of the physical network adapters' addresses; "" where there are none, as in a container."""
    addresses = []
    for adapter in sorted(_NETWORKS.glob("*/address")):
        if (adapter.parent / "device").exists():
            try:
                addresses.append(adapter.read_text().strip())
            except OSError:
                continue
    return hashlib.sha256(" ".join(addresses).encode()).hexdigest()[:32] if addresses else ""


def host_name() -> str:
    """Return the machine's name, for people."""
    return socket.gethostname()


def require_own_robot(connection: Connection, site: str, robot_id: str, installation: str) -> None:
    """Look whether a robot's last program ran on this machine.

    Raises:
        StoreInUseError: it ran on another one.
    """
    sessions = schema.sessions
    query = sa.select(sessions).where(sessions.c.site == site, sessions.c.robot_id == robot_id)
    last = connection.execute(query.order_by(sessions.c.started_ns.desc(), sessions.c.id.desc()).limit(1)).first()
    if last is None or "" in (last.installation, installation) or last.installation == installation:
        return
    raise StoreInUseError(
        f"robot {robot_id!r} of site {site!r} is another machine (its name is {last.host!r}): two that write as one "
        "overwrite each other's memory. Give this machine a robot_id of its own, or, if it replaces the other one, run "
        f"`memory-node store take-over --robot {robot_id}`"
    )
