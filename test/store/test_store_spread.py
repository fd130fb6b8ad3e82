"""Tables that are spread: by `store distribute` on a Citus server, where the environment names one, or by site."""

from pathlib import Path

import pytest
import sqlalchemy as sa
from citus_server import VARIABLE
from looked_into import SMALL, connected

from memory_node.store import schema
from memory_node.store.engine import open_engine
from memory_node.store.forget_plan import ForgetRequest
from memory_node.store.location import parse_url
from memory_node.store.site_database import make_tables
from memory_node.store.store import open_store


@pytest.fixture
def citus(postgres):
    if not postgres.has_citus:
        pytest.skip(f"{VARIABLE} names no Citus server")
    return postgres


def rows(url, query):
    with connected(url) as connection:
        return connection.execute(sa.text(query)).all()


def test_every_table_is_distributed_once(citus, command):
    url = citus.create_database(spread=False)
    status, report = command(url, "distribute")
    assert status == 0, report
    found = dict(map(tuple, rows(url, "SELECT table_name::text, citus_table_type FROM citus_tables")))
    assert found == dict.fromkeys(schema.metadata.tables, "distributed") | {"alembic_version": "reference"}
    assert len(rows(url, "SELECT DISTINCT nodeport FROM citus_shards WHERE citus_table_type = 'distributed'")) >= 2
    again = command(url, "distribute")[1]["done"]
    assert [line for line in again if line.startswith("table")] == []


def test_a_filled_database_is_distributed_with_nothing_left_behind(citus, command, filled):
    url = citus.create_database(spread=False)
    filled(url, "home", "ward")
    assert command(url, "distribute")[0] == 0
    (size,) = rows(url, "SELECT pg_relation_size('objects'::regclass)")
    assert size == (0,)
    with open_store(url, "r1", "ward", SMALL) as store:
        report = store.forget(ForgetRequest(label="Anna"))
        assert report.verified, report.found
    with open_store(url, "r1", "home", SMALL) as store:
        assert len(store.load_scene().objects) == 3


def test_rows_that_the_coordinator_keeps_are_no_verified_forgetting(citus, remember_home):
    url = citus.create_database(spread=False)
    with open_store(url, "r1", "home", SMALL) as store:
        remember_home(store)
        engine = open_engine(parse_url(url))
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("SELECT create_distributed_table('sites', 'name')"))
            for name in schema.metadata.tables:
                if name != "sites":
                    connection.execute(
                        sa.text(f"SELECT create_distributed_table('{name}', 'site', colocate_with => 'sites')")
                    )
        engine.dispose()
        report = store.forget(ForgetRequest(label="Anna"))
        assert not report.verified
        assert any("store distribute" in line for line in report.found)


def test_no_role_waits_on_a_worker_longer_than_its_client_waits_for_the_server(citus, command, login_role):
    url = citus.create_database(spread=False)
    theirs = login_role(url, "ward_robot")
    assert command(url, "distribute", "--rls", "--grant", "ward_robot", "ward $$ '%s")[0] == 0
    asked = "SELECT result FROM run_command_on_all_nodes('SHOW lock_timeout')"
    for address in (url, theirs):
        assert set(rows(address, asked)) == {("1200ms",)}


def test_an_older_distributed_database_is_migrated(citus, command, filled):
    url = citus.create_database(spread=False)
    filled(url)
    engine = open_engine(parse_url(url))
    with engine.begin() as connection:
        for name, column in (("sites", "identity"), ("sessions", "installation"), ("sessions", "host")):
            connection.execute(sa.text(f"ALTER TABLE {name} DROP COLUMN {column}"))
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0002'"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("SELECT create_distributed_table('sites', 'name')"))
        connection.execute(sa.text("SELECT create_distributed_table('sessions', 'site', colocate_with => 'sites')"))
    make_tables(engine)
    engine.dispose()
    assert command(url, "distribute")[0] == 0
    with open_store(url, "r1", "home", SMALL) as store:
        assert len(store.load_scene().objects) == 3
        assert store.bad_rows == 0
    assert command(url, "check") == (0, {"ok": True, "findings": []})


MUG = "0191-mug"


def test_store_works_on_tables_partitioned_as_the_docs_say(open_at, filled, postgres):
    if postgres.has_citus:
        pytest.skip("its tables are distributed already")
    text = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
    block = next(part.split("```")[0] for part in text.split("```sql\n") if part.startswith("DO $$"))
    url = postgres.create_database()
    filled(url)
    with connected(url) as connection:
        connection.exec_driver_sql(block.replace("%", "%%"))
        kinds = connection.execute(sa.text("SELECT relkind FROM pg_class WHERE relname = 'objects'")).scalars().all()
    assert kinds == ["p"]
    store = open_at(url)
    assert len(store.load_scene().objects) == 3
    filled(url, "elsewhere")
    other = open_at(url, "r2", "elsewhere")
    assert store.forget(ForgetRequest(object_ids=(MUG,))).verified
    assert len(store.load_scene().objects) == 2
    assert len(other.load_scene().objects) == 3
