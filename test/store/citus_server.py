"""A Citus server that somebody else runs; ROBOT_MEMORY_TEST_CITUS is the address of its coordinator's postgres."""

import os
from dataclasses import dataclass

import pytest
import sqlalchemy as sa

from memory_node.domain.ids import new_id
from memory_node.store.address import parse_url
from memory_node.store.distribute import distribute
from memory_node.store.engine import open_engine

VARIABLE = "ROBOT_MEMORY_TEST_CITUS"


@dataclass(frozen=True)
class CitusServer:
    """The coordinator's address; its database postgres has the extension, and knows the workers."""

    address: str

    def url(self, database: str) -> str:
        """Return the address of one of its databases."""
        return parse_url(self.address).set(drivername="postgresql", database=database).render_as_string()

    @property
    def port(self) -> int:
        """The coordinator's port."""
        return parse_url(self.address).port or 5432

    def create_database(self, spread: bool = True) -> str:
        """Create an empty database on all nodes; spread: with the store's tables, distributed."""
        name = "db_" + new_id().replace("-", "")
        nodes = self._nodes()
        for host, port in nodes:
            self._run(self.address, f'CREATE DATABASE "{name}"', host=host, port=port)
            self._run(self.url(name), "CREATE EXTENSION citus", host=host, port=port)
        (host, port), *workers = nodes
        self._run(self.url(name), f"SELECT citus_set_coordinator_host('{host}', {port})")
        for host, port in workers:
            self._run(self.url(name), f"SELECT citus_add_node('{host}', {port})")
        if spread:
            engine = open_engine(parse_url(self.url(name)))
            distribute(engine)
            engine.dispose()
        return self.url(name)

    def stop(self) -> None:
        """Skip the test that asks for it."""
        pytest.skip("stops its server, which here is somebody else's")

    freeze = stop

    @property
    def data_dir(self) -> str:
        """Skip the test that asks for it."""
        pytest.skip("reads its server's files, which here are somebody else's")

    def _nodes(self) -> list[tuple[str, int]]:
        """Return host and port of the coordinator, then of each worker."""
        engine = open_engine(parse_url(self.address))
        with engine.connect() as connection:
            query = sa.text("SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid")
            found = [(row.nodename, row.nodeport) for row in connection.execute(query)]
        engine.dispose()
        return found

    @staticmethod
    def _run(address: str, statement: str, **place: object) -> None:
        url = parse_url(address).set(**place)
        engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(sa.text(statement))
        engine.dispose()


def citus_server() -> CitusServer | None:
    """Return the server that the environment names, None for none."""
    address = os.environ.get(VARIABLE)
    return CitusServer(address) if address else None
