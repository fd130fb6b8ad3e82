"""The PostgreSQL server of tests and benchmarks: it starts although somebody else takes its port first."""

import socket
from collections.abc import Iterator

import pytest

from benchmarks import postgres_server as module
from benchmarks.postgres_server import PostgresServer, postgres_server


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_port_that_another_program_takes_first_is_given_up_for_a_free_one(
    postgres: PostgresServer, taken_port: int, monkeypatch: pytest.MonkeyPatch
):
    ports = iter([taken_port, module._free_port()])
    monkeypatch.setattr(module, "_free_port", lambda: next(ports))
    with postgres_server(synced=False) as server:
        assert server.port != taken_port
        assert server.create_database().startswith("postgresql://")


def test_server_that_does_not_start_says_why(
    postgres: PostgresServer, taken_port: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "_free_port", lambda: taken_port)
    with pytest.raises(RuntimeError, match="could not bind"), postgres_server(synced=False):
        pass
