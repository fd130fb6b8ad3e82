"""A Citus server that somebody else runs; ROBOT_MEMORY_TEST_CITUS is the address of its coordinator's postgres."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import neighbour
import pytest
import sqlalchemy as sa
from postgres_server import PostgresServer, folder_of, run_at

from memory_node.domain.ids import new_id
from memory_node.store.distribute import distribute
from memory_node.store.engine import open_engine
from memory_node.store.location import parse_url
from memory_node.store.store import Store

VARIABLE = "ROBOT_MEMORY_TEST_CITUS"
# Each makes 20 tables; a shard of one is a table of its own.
_SHARDS = 4


@dataclass
class CitusServer(PostgresServer):
    """The coordinator; its database postgres has the extension, and knows the workers (host, port)."""

    address: str = ""
    # A database that knows the workers and has no tables.
    bare: str = ""
    workers: list[tuple[str, int]] = field(default_factory=list)
    has_citus: ClassVar[bool] = True

    def url(self, database: str) -> str:
        """Return the address of one of its databases."""
        return parse_url(self.address).set(drivername="postgresql", database=database).render_as_string()

    def create_database(self, empty: bool = False, spread: bool = True) -> str:
        """Create a database on all nodes."""
        if spread and not empty:
            return self._copy(self.template, self.created[self.template])
        url = self._copy(self.bare, {})
        if spread:
            self._distribute(url)
        return url

    def prepare_template(self, remember: Callable[[Store], None], folder: Path) -> None:
        """Make what databases are copied of: one that knows the workers, and one with tables and a site."""
        self.bare = self.url("db_" + new_id().replace("-", ""))
        for postgres, node in zip(self._at_each_node(self.url("postgres")), self._at_each_node(self.bare)):
            run_at(postgres, f'CREATE DATABASE "{parse_url(node).database}"')
            run_at(node, "CREATE EXTENSION citus")
        run_at(self.bare, f"SELECT citus_set_coordinator_host('{parse_url(self.bare).host}', {self.port})")
        for host, port in self.workers:
            run_at(self.bare, f"SELECT citus_add_node('{host}', {port})")
        self._close(self.bare)
        self.template = self._copy(self.bare, {})
        self._distribute(self.template)
        self.created[self.template] = neighbour.move_in(self.template, remember, folder)
        self._close(self.template)

    def _copy(self, template: str, facts: neighbour.Facts) -> str:
        url = self.url("db_" + new_id().replace("-", ""))
        for postgres in self._at_each_node(self.url("postgres")):
            copied = parse_url(template).database
            run_at(postgres, f'CREATE DATABASE "{parse_url(url).database}" TEMPLATE "{copied}"')
        self.created[url] = facts
        return url

    def _distribute(self, url: str) -> None:
        run_at(url, f'ALTER DATABASE "{parse_url(url).database}" SET citus.shard_count = {_SHARDS}')
        engine = open_engine(parse_url(url))
        distribute(engine)
        engine.dispose()

    def _close(self, url: str) -> None:
        """Let nobody into a database, or it could not be copied."""
        name = parse_url(url).database
        for postgres in self._at_each_node(self.url("postgres")):
            run_at(postgres, f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
            run_at(postgres, f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'")

    def check_and_drop(self) -> None:
        """Look whether the databases made since the last time still hold what they did, and drop them."""
        made = self.created.keys() - {self.template}
        found = {url: self.created[url] for url in made if self.created[url]}
        try:
            assert found == {url: neighbour.facts_of(url) for url in found}, "another site was changed"
        finally:
            self.drop(made)

    @property
    def templates(self) -> list[str]:
        """The databases that others are copied of."""
        return [self.template, self.bare]

    def drop(self, urls: Iterable[str]) -> None:
        """Drop databases on all nodes."""
        for url in urls:
            self.created.pop(url, None)
            self._close(url)
            for postgres in self._at_each_node(self.url("postgres")):
                run_at(postgres, f'DROP DATABASE IF EXISTS "{parse_url(url).database}" WITH (FORCE)')

    def files_of(self, url: str) -> list[Path]:
        """Return the folders that hold a database's files on all nodes, with all written to them."""
        folders = [folder_of(node) for node in self._at_each_node(url)]
        return folders if all(folder.is_dir() for folder in folders) else pytest.skip("its nodes are elsewhere")

    @property
    def _options(self) -> str:
        return ""

    def _control(self, *arguments: str) -> None:
        self._require_here()
        super()._control(*arguments)

    def _processes(self) -> list[int]:
        self._require_here()
        return super()._processes()

    def _require_here(self) -> None:
        if not self.data_dir.is_dir():
            pytest.skip("stops its server, which runs on another machine")

    def _at_each_node(self, url: str) -> list[str]:
        found = parse_url(url)
        nodes = [(found.host, found.port), *self.workers]
        return [found.set(drivername="postgresql", host=h, port=p).render_as_string() for h, p in nodes]


def citus_server() -> CitusServer | None:
    """Return the server that the environment names, None for none."""
    address = os.environ.get(VARIABLE)
    if not address:
        return None
    engine = open_engine(parse_url(address))
    with engine.connect() as connection:
        query = sa.text("SELECT nodename, nodeport FROM pg_dist_node WHERE groupid <> 0 ORDER BY groupid")
        workers = [(row.nodename, row.nodeport) for row in connection.execute(query)]
        data_dir = Path(connection.execute(sa.text("SHOW data_directory")).scalar_one())
        pid = connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
        program = Path(f"/proc/{pid}/exe")
        bin_dir = program.resolve().parent if data_dir.is_dir() and program.exists() else Path()
    engine.dispose()
    return CitusServer(parse_url(address).port or 5432, data_dir, bin_dir, address=address, workers=workers)
