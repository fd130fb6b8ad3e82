"""A PostgreSQL server of one's own, for as long as a test needs it: empty, on a free port."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import neighbour
import sqlalchemy as sa

from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.ids import new_id
from memory_node.store.location import parse_url
from memory_node.store.store import Store

_TRIES = 5


@dataclass
class PostgresServer:
    """A server: its port, its data folder, its binaries."""

    port: int
    data_dir: Path
    bin_dir: Path
    # A database of which every one that is not asked to be empty becomes a copy.
    template: str = ""
    # What those hold, as of when they were made, by address; see `neighbour`.
    created: dict[str, neighbour.Facts] = field(default_factory=dict)
    has_citus: ClassVar[bool] = False

    def url(self, database: str) -> str:
        """Return the address of one of its databases."""
        return f"postgresql://robot@127.0.0.1:{self.port}/{database}?sslmode=disable"

    def create_database(self, empty: bool = False, spread: bool = True) -> str:
        """Create a database with a site that must stay as it is, or an empty one, and return its address.

        spread: with the store's tables also where it is empty, if they would have to be distributed.
        """
        name = "db_" + new_id().replace("-", "")
        if empty or not self.template:
            self.run("postgres", f'CREATE DATABASE "{name}"')
        else:
            self.run("postgres", f'CREATE DATABASE "{name}" TEMPLATE "{parse_url(self.template).database}"')
            self.created[self.url(name)] = self.created[self.template]
        return self.url(name)

    def prepare_template(self, remember: Callable[[Store], None], folder: Path) -> None:
        """Make what later databases are copied of."""
        url = self.create_database(empty=True)
        self.created[url] = neighbour.move_in(url, remember, folder)
        self.template = url

    def check_and_drop(self) -> None:
        """Look whether the databases made since the last time still hold what they did; they may go."""
        for url in self.created.keys() - {self.template}:
            assert neighbour.facts_of(url) == self.created.pop(url), "another site of the database was changed"

    @property
    def templates(self) -> list[str]:
        """The databases that others are copied of, which go at the end."""
        return []

    def drop(self, urls: Iterable[str]) -> None:
        """Do nothing: the databases go with their server."""

    def run(self, database: str, statement: str) -> None:
        """Run a statement outside a transaction."""
        run_at(self.url(database), statement)

    def files_of(self, url: str) -> list[Path]:
        """Return the folders that hold a database's files, with all written to them."""
        return [folder_of(url)]

    @property
    def _options(self) -> str:
        return f"-p {self.port} -c fsync=off -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.data_dir}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._control("-o", self._options, "-l", str(self.data_dir / "server.log"), "start")

    def stop(self) -> None:
        """Stop it at once, without a word to its clients; it recovers from its log when it starts again."""
        self._control("-m", "immediate", "stop")

    def freeze(self) -> None:
        """Let its processes hang: connections stay open, and nobody answers."""
        for process in self._processes():
            os.kill(process, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let its processes go on."""
        for process in self._processes():
            os.kill(process, signal.SIGCONT)

    def _processes(self) -> list[int]:
        """Return the ids of its processes, the one that starts the others first."""
        first = int((self.data_dir / "postmaster.pid").read_text().splitlines()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, children)]

    def log(self) -> str:
        """Return the last lines of what it wrote."""
        file = self.data_dir / "server.log"
        return "\n".join(file.read_text(errors="replace").splitlines()[-10:]) if file.exists() else ""

    def _control(self, *arguments: str) -> None:
        command = [str(self.bin_dir / "pg_ctl"), "-D", str(self.data_dir), "-w", "-t", "60", *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=90, **_as_server_user())


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Start a server that is gone at the end.

    Raises:
        ResourceMissingError: PostgreSQL is not installed, or would have to run as root.
    """
    bin_dir = _find_binaries()
    if bin_dir is None:
        raise ResourceMissingError("PostgreSQL is not installed (apt-get install postgresql)")
    if os.geteuid() == 0 and "postgres" not in {user.pw_name for user in pwd.getpwall()}:
        raise ResourceMissingError("PostgreSQL does not run as root, and there is no user postgres")
    # A database has 300 files; in memory they come and go at once.
    roomy = os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 2**30
    folder = Path(tempfile.mkdtemp(prefix="robot_memory_pg_", dir="/dev/shm" if roomy else None))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        data_dir = folder / "data"
        initdb = [str(bin_dir / "initdb"), "-D", str(data_dir), "-U", "robot", "-A", "trust", "-E", "UTF8"]
        command = [*initdb, "-N", "--no-locale"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60, **_as_server_user())
        server = _started(data_dir, bin_dir)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


def _started(data_dir: Path, bin_dir: Path) -> PostgresServer:
    """Start a server on a free port, and on another one where somebody else takes the port first.

    Raises:
        RuntimeError: it does not start; with what it wrote.
    """
    said = ""
    for _ in range(_TRIES):
        server = PostgresServer(_free_port(), data_dir, bin_dir)
        try:
            server.start()
        except subprocess.CalledProcessError:
            said = server.log()
            continue
        return server
    raise RuntimeError(f"PostgreSQL does not start on {_TRIES} ports; it wrote:\n{said}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _find_binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def _as_server_user() -> dict[str, Any]:
    """PostgreSQL refuses to run as root; its package brings a user for it."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    environment = {**os.environ, "HOME": "/"}
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": "/", "env": environment}


def run_at(address: str, statement: str) -> None:
    """Run a statement outside a transaction in the database of an address."""
    engine = sa.create_engine(parse_url(address), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(statement))
    engine.dispose()


def folder_of(url: str) -> Path:
    """Return the folder of a database's files on its node, with all written to them."""
    engine = sa.create_engine(parse_url(url))
    with engine.connect() as connection:
        connection.execute(sa.text("CHECKPOINT"))
        data = connection.execute(sa.text("SHOW data_directory")).scalar_one()
        query = sa.text("SELECT oid FROM pg_database WHERE datname = current_database()")
        oid = connection.execute(query).scalar_one()
    engine.dispose()
    return Path(data) / "base" / str(oid)
