"""Addresses of databases, which every command reads in the same way, and shows without their secrets."""

import pytest
import sqlalchemy as sa

from memory_node.cli import main
from memory_node.domain.errors import StoreError
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.store.config import StoreConfig
from memory_node.store.engine import reason_of
from memory_node.store.location import parse_url, redacted
from memory_node.store.store import open_store

SECRETS = [
    "postgresql://robot:s3cret@127.0.0.1:1/x",
    "postgresql://robot@127.0.0.1:1/x?password=s3cret",
    "postgresql://robot@127.0.0.1:1/x?sslmode=require&sslpassword=s3cret",
    "mysql://robot:s3cret@127.0.0.1:1/x",
    "postgresql://robot:s3cret@[::bad:1/x",
]
COMMANDS = [["store", "info"], ["store", "check"], ["store", "distribute"], ["inspect", "--port", "0"], ["mcp"]]


@pytest.mark.parametrize("address", SECRETS)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_takes_or_shows_a_password(address, words, capsys):
    assert main([*words, "--database", address]) == 1
    output = capsys.readouterr()
    assert "s3cret" not in output.out + output.err
    assert len(output.err.splitlines()) == 1


def test_passwords_are_taken_out_of_texts_and_nothing_else_is():
    for address in SECRETS:
        assert "s3cret" not in redacted(f"cannot use {address}, sorry")
    for text in ("postgresql://robot@host:5432/x?sslmode=require", "a file: notes@home.db", "C:/memory.db"):
        assert redacted(text) == text


@pytest.mark.parametrize("threshold", ["0", "3", "none"])
def test_prepare_threshold_of_the_address_reaches_the_driver(threshold, postgres, tmp_path):
    config = StoreConfig(journal_path=str(tmp_path / "p"), data_dir=str(tmp_path / "d"), journal_mib=1.0)
    url = postgres.create_database()
    url += "&" if "?" in url else "?"
    with open_store(f"{url}prepare_threshold={threshold}", "r1", "home", config) as store:
        assert store.diagnostics().state == "ok"
    with pytest.raises(StoreError, match="prepare_threshold"):
        parse_url(f"{url}prepare_threshold=often")


def test_an_old_pooler_is_named():
    error = sa.exc.OperationalError("", (), Exception('prepared statement "_pg3_0" does not exist'))
    assert "PgBouncer" in reason_of(error)
    assert "prepare_threshold=none" in reason_of(error)


@pytest.mark.parametrize("database", ["", ":memory:", "sqlite://", "sqlite:///:memory:"])
def test_a_memory_without_a_database_lives_in_the_process_alone(database, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    open_memory(MemoryConfig(database=database)).close()
    assert list(tmp_path.iterdir()) == []


def test_an_empty_server_says_what_to_do(postgres, capsys):
    url = postgres.create_database(empty=True, spread=False)
    assert main(["store", "info", "--database", url]) == 1
    assert "start a robot" in capsys.readouterr().err


def test_a_site_that_a_server_does_not_have_is_named(postgres, tmp_path, capsys):
    url = postgres.create_database(empty=True)
    config = StoreConfig(journal_path=str(tmp_path / "p"), data_dir=str(tmp_path / "d"), journal_mib=1.0)
    open_store(url, "r1", "ward", config).close()
    for words in (["info"], ["compact"], ["forget", "--label", "Anna"], ["backup", str(tmp_path / "b")], ["take-over"]):
        assert main(["store", *words, "--database", url, "--site", "attic"]) == 1
        assert "has no site 'attic'; it has ward (" in capsys.readouterr().err
