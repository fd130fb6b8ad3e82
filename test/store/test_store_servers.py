"""A robot and its server: which database it is, which machine writes, and what it does while the server is away."""

import argparse
import sqlite3
import threading
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from looked_into import SMALL, connected, ids_of, seen, until
from neighbour import facts_of

from memory_node.cli import main
from memory_node.domain.clock import system_clock
from memory_node.domain.errors import InvalidValueError, StoreError
from memory_node.domain.scene import Area, SceneEventKind
from memory_node.domain.step import EpisodeSummary
from memory_node.inspector import opened_memory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.store import engine, schema, site_database
from memory_node.store.bad_rows import BadRows
from memory_node.store.engine import open_engine
from memory_node.store.errors import ForeignJournalError, RecordRejectedError, StoreInUseError, StoreUnavailableError
from memory_node.store.forget_plan import ForgetRequest
from memory_node.store.keeper import LocalCopy
from memory_node.store.location import locate, parse_url, state_folder
from memory_node.store.reader import read_beliefs, reading
from memory_node.store.records import Document
from memory_node.store.store import open_store

NAMES = [
    ("a-b", "c"),
    ("a", "b-c"),
    ("../../../evil", "r"),
    ("a/b", "c"),
    (".", ".."),
    ("x" * 900, "r"),
    ("ward 3", "ü"),
]


# -- which database ------------------------------------------------------------------------------------------------


def test_facts_told_before_a_server_was_ever_met_reach_the_one_at_that_address_only(make_object, postgres):
    first, second = postgres.create_database(), postgres.create_database()
    mug = make_object()
    postgres.stop()
    try:
        with open_store(first, "r1", "home", SMALL) as store:
            store.append([seen(mug)]).wait()
    finally:
        postgres.start()
    for url, expected in ((second, set()), (first, {mug.id})):
        with open_store(url, "r1", "home", SMALL) as store:
            assert ids_of(store) == expected


def test_a_journal_of_another_database_is_refused_and_stays(make_object, postgres, tmp_path):
    first, second = postgres.create_database(), postgres.create_database()
    config = SMALL.changed(journal_path=str(tmp_path / "mine.pending"))
    open_store(first, "r1", "home", config).close()
    postgres.stop()
    try:
        store = open_store(first, "r1", "home", config)
        store.append([seen(make_object())]).wait()
        store.close()
    finally:
        postgres.start()
    with pytest.raises(ForeignJournalError, match="another database"):
        open_store(second, "r1", "home", config)
    with open_store(first, "r1", "home", config) as store:
        assert len(ids_of(store)) == 1


def test_another_database_that_appears_at_the_address_gets_nothing(make_object, postgres):
    url = postgres.create_database(empty=True)
    name = parse_url(url).database
    store = open_store(url, "r1", "home", SMALL)
    postgres.stop()
    postgres.start()
    admin = sa.create_engine(parse_url(postgres.url("postgres")), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(sa.text(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'))
        end = sa.text("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = :name")
        connection.execute(end, {"name": name})
        connection.execute(sa.text(f'ALTER DATABASE "{name}" RENAME TO "{name}_old"'))
        connection.execute(sa.text(f'CREATE DATABASE "{name}"'))
    store.append([seen(make_object())]).wait()
    until(lambda: "another database" in store.diagnostics().state)
    store.close()
    with open_store(url, "r2", "home", SMALL) as other:
        assert ids_of(other) == set()
    admin.dispose()


@pytest.mark.parametrize("index", range(len(NAMES)))
def test_each_site_and_robot_has_a_folder_of_its_own_within_the_state_folder(index, tmp_path):
    url = parse_url("postgresql://robot@server/fleet")
    folders = [locate(url, site, robot, SMALL) for site, robot in NAMES]
    assert len({found.journal for found in folders}) == len(NAMES)
    journal = folders[index].journal
    assert journal.resolve().is_relative_to(state_folder().resolve())
    assert ".." not in journal.parts
    assert all(len(part) <= 255 for part in journal.parts)
    journal.parent.mkdir(parents=True)


@pytest.mark.parametrize("name", ["", " ", "a\0b", "x" * 10_000, "line\nbreak", "\ud800"])
def test_names_that_no_site_or_robot_can_have_are_refused(name, store_url):
    if name:
        with pytest.raises(InvalidValueError, match="site"):
            open_store(store_url, "r1", name, SMALL)
        with pytest.raises(InvalidValueError, match="robot"):
            open_store(store_url, name, "home", SMALL)
    assert not Path(store_url).exists()


@pytest.mark.parametrize("away", [False, True], ids=["reached", "in an outage"])
def test_a_name_that_reading_would_not_take_is_rejected_when_it_is_written(away, open_at, make_object, tmp_path):
    path = tmp_path / "memory.db"
    store = open_at(str(path))
    lock = sqlite3.connect(path, isolation_level=None)
    if away:
        lock.execute("BEGIN IMMEDIATE")
        store.append([EpisodeSummary("e0", "bring it", "pick", 1)]).wait()
        assert store.diagnostics().state != "ok"
    for record in (
        EpisodeSummary("e" * 2_000, "bring it", "pick", 1),
        Area("a1", "n" * 2_000, (1.0, 2.0)),
        Document("guideline", "g", {"text": "x"}, 2**63 - 1),
        seen(make_object(class_probabilities={"c" * 2_000: 1.0})),
    ):
        with pytest.raises(RecordRejectedError):
            store.append([record]).wait()
    kept = make_object(attributes={"note": "x" * 5_000})
    store.append([seen(kept)]).wait()
    if away:
        lock.execute("COMMIT")
    lock.close()
    until(lambda: store.diagnostics().state == "ok")
    assert ids_of(store) == {kept.id}
    assert (store.bad_rows, store.diagnostics().rejected) == (0, 4)


# -- which machine -------------------------------------------------------------------------------------------------


@pytest.fixture
def plugged_in(monkeypatch):
    """Return a function that puts other network adapters into this machine."""
    return lambda *adapters: monkeypatch.setattr(site_database, "_adapters", lambda: list(adapters))


def test_a_second_machine_with_one_robot_id_is_refused_until_it_takes_over(postgres, monkeypatch, tmp_path, plugged_in):
    url = postgres.create_database()
    plugged_in("the first machine's")
    for site in ("home", "elsewhere", "home"):
        open_store(url, "r1", site, SMALL).close()
    plugged_in("the copy's")
    with pytest.raises(StoreInUseError, match="take-over --robot r1"):
        open_store(url, "r1", "home", SMALL)
    open_store(url, "r2", "home", SMALL).close()
    assert main(["store", "take-over", "--robot", "r1", "--site", "home", "--database", url]) == 0
    open_store(url, "r1", "home", SMALL).close()
    with pytest.raises(StoreInUseError):
        open_store(url, "r1", "elsewhere", SMALL)
    plugged_in("the first machine's")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "the first machine's"))
    with pytest.raises(StoreInUseError):
        open_store(url, "r1", "home", SMALL)


def test_a_machine_stays_itself_when_its_network_adapters_change_one_by_one(plugged_in):
    plugged_in("wired")
    first = site_database.installation_id()
    for adapters in (["wired", "radio"], [], ["radio"], ["radio", "dongle"]):
        plugged_in(*adapters)
        assert site_database.installation_id() == first
    plugged_in("another machine's")
    assert site_database.installation_id() != first


# -- while the server is away --------------------------------------------------------------------------------------


def test_a_memory_starts_without_its_server_and_loads_when_it_comes(postgres, make_object, tmp_path):
    url = postgres.create_database()
    known, told, foreign = (make_object() for _ in range(3))
    with open_store(url, "r1", "home", SMALL) as store:
        store.put_map([Area("a1", "sink", (1.0, 2.0))])
        store.append([seen(known), EpisodeSummary("e1", "bring it", "pick", 1, 2, True)]).wait()
        store.load_scene()
    with open_store(url, "r2", "home", SMALL) as other:
        other.append([seen(foreign)]).wait()
    postgres.stop()
    try:
        with open_store(url, "r1", "home", SMALL) as store:
            store.append([seen(told)]).wait()
        config = MemoryConfig(database=url, site="home", robot_id="r1", store=SMALL)
        memory = open_memory(config)
        assert {found.id for found in memory.scene().objects} == {known.id, told.id}
        assert [area.name for area in memory.scene().areas] == ["sink"]
        assert memory.diagnostics()["store"] != "ok"
    finally:
        postgres.start()
    try:
        until(lambda: memory.diagnostics()["store"] == "ok")

        def is_complete():
            memory.take_over_changes()
            return {found.id for found in memory.scene().objects} == {known.id, told.id, foreign.id}

        until(is_complete)
    finally:
        memory.close()


def test_the_local_copy_follows_and_forgets(postgres, make_object, remember_home):
    url = postgres.create_database()
    with open_store(url, "r1", "home", SMALL) as store:
        remember_home(store)
        folder = store.derived
    held = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"Bergstr" in held
    with open_store(url, "r2", "home", SMALL) as other:
        other.forget(ForgetRequest(label="Anna"))
        assert b"Anna" not in b"".join(path.read_bytes() for path in other.derived.rglob("*") if path.is_file())
    with open_store(url, "r1", "home", SMALL):
        pass
    held = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"Anna" not in held
    assert b"0191-mug" in held


def test_a_server_that_hangs_counts_as_away_and_nothing_waits_for_it(postgres, make_object, product_patience):
    url = postgres.create_database()
    store = open_store(url, "r1", "home", SMALL)
    mug, cup = make_object(), make_object()
    with product_patience():
        store.append([seen(mug)]).wait()
    until(lambda: (store.derived / "site.db").exists())
    postgres.freeze()
    try:
        store.append([seen(cup)]).wait()
        assert "has said nothing" in store.diagnostics().state
        assert store.diagnostics().journal_batches > 0
        assert ids_of(store) == {mug.id, cup.id}, "what is local answers"
        for _ in range(40):
            store.append([seen(make_object())]).wait()
        assert store.diagnostics().state != "ok", "all of them are durable while it still hangs"
    finally:
        postgres.thaw()
    until(lambda: store.diagnostics().state == "ok")
    assert len(ids_of(store)) == 42
    store.close()


def test_a_store_that_listens_in_vain_closes_soon(postgres):
    store = open_store(postgres.create_database(), "r1", "home", SMALL)
    time.sleep(1.0)  # it waits for what others tell, and nobody does
    begun_s = time.monotonic()
    store.close()
    assert time.monotonic() - begun_s < 2.5, "a wait for news ends after its 0.2 s"


def test_facts_are_durable_while_another_thread_waits_for_the_network(postgres, make_object, monkeypatch):
    url, told = postgres.create_database(), [make_object() for _ in range(12)]
    is_cut, connecting, gives_up = threading.Event(), threading.Event(), threading.Event()
    tried_by, connect = set(), engine.connect

    def connect_or_wait(*arguments, **options):
        if is_cut.is_set():
            tried_by.add(threading.current_thread().name)
            connecting.set()
            gives_up.wait(60.0)
        return connect(*arguments, **options)

    monkeypatch.setattr(engine, "connect", connect_or_wait)
    store = open_store(url, "r1", "home", SMALL)
    store.append([seen(told[0])]).wait()
    is_cut.set()
    postgres.stop()
    try:
        store.append([seen(told[1])]).wait()
        assert connecting.wait(60.0)
        for thing in told[2:]:
            store.append([seen(thing)]).wait()
            store.poll_changes()
        assert not gives_up.is_set()
        assert tried_by <= {"store-recovery", "store-feed", "store-keeper"}
    finally:
        postgres.start()
        is_cut.clear()
        gives_up.set()
    until(lambda: store.diagnostics().state == "ok")
    assert ids_of(store) == {thing.id for thing in told}
    store.close()


def test_the_local_copy_is_read_while_a_server_is_waited_for_in_its_update(make_object, open_at, tmp_path, monkeypatch):
    served, mug = open_at(str(tmp_path / "served.db")), make_object()
    served.append([seen(mug)]).wait()
    copy = LocalCopy(tmp_path / "site.db", "home", "r1", system_clock)
    copy.update(served._engine)
    asked, answers = threading.Event(), threading.Event()

    def wait_for_server(copy, source, target):
        asked.set()
        answers.wait(60.0)

    monkeypatch.setattr(LocalCopy, "_copy", wait_for_server)
    update = threading.Thread(target=copy.update, args=(served._engine,))
    update.start()
    assert asked.wait(60.0)
    with reading(copy.engine((), 0)) as connection:
        assert [one.object.id for one in read_beliefs(connection, "home", BadRows())] == [mug.id]
    assert not answers.is_set()
    answers.set()
    update.join(60.0)
    copy.close()


def test_a_server_that_cut_idle_connections_is_read_by_a_new_one(postgres, make_object):
    url, mug = postgres.create_database(), make_object()
    with open_store(url, "r1", "home", SMALL) as store:
        until((store.derived / "site.db").exists)
        with open_store(url, "r2", "home", SMALL) as other:
            other.append([seen(mug)]).wait()
        postgres.stop()
        postgres.start()
        assert ids_of(store) == {mug.id}, "not what the older local copy holds"


def test_reads_without_a_local_copy_say_that_the_server_is_away(postgres, make_object):
    url = postgres.create_database()
    store = open_store(url, "r1", "home", SMALL)
    (store.derived / "site.db").unlink(missing_ok=True)
    store._keeper.close()
    (store.derived / "site.db").unlink(missing_ok=True)
    postgres.stop()
    try:
        with pytest.raises(StoreUnavailableError):
            store.load_scene()
    finally:
        postgres.start()
    store.close()


# -- two sites in one database -------------------------------------------------------------------------------------


@pytest.fixture
def two_sites(postgres, filled):
    """A database with the sites home, of five more revisions, and ward."""
    url = postgres.create_database()
    filled(url, "home", "ward")
    with open_store(url, "r1", "home", SMALL) as store:
        for number in range(5):
            store.append([EpisodeSummary(f"x{number}", "bring it", "pick", 1)]).wait()
    return url


@pytest.fixture
def run(command):
    """Run a command for the robot r1 of a site."""
    return lambda url, name, *words, site="ward": command(url, name, "--site", site, "--robot", "r1", *words)


def damage(url, site):
    with connected(url) as connection:
        change = sa.text("UPDATE episodes SET instruction = 'x' WHERE site = :s AND id = 'e1'")
        assert connection.execute(change, {"s": site}).rowcount == 1


def test_check_looks_at_its_own_site_only(two_sites, run):
    assert run(two_sites, "check") == (0, {"ok": True, "findings": []})
    damage(two_sites, "home")
    assert run(two_sites, "check") == (0, {"ok": True, "findings": []})
    assert run(two_sites, "check", site="home")[0] == 1


def test_repair_removes_rows_of_its_own_site_only(two_sites, run):
    damage(two_sites, "home")
    damage(two_sites, "ward")
    before, ward = facts_of(two_sites, "home"), facts_of(two_sites, "ward")
    status, verdict = run(two_sites, "check", "--repair")
    assert (status, verdict["repaired"]) == (0, {"removed": 1})
    assert facts_of(two_sites, "home") == before
    assert len(facts_of(two_sites, "ward")["episodes"]) == len(ward["episodes"]) - 1


@pytest.mark.parametrize(
    "words",
    [
        ("info",),
        ("compact",),
        ("forget", "--label", "Anna"),
        ("forget", "--class", "mug"),
        ("forget", "--of-robot", "r1"),
        ("forget", "--span", "1", "5000"),
        ("forget", "--area", "a1"),
        ("take-over",),
    ],
    ids=" ".join,
)
def test_each_command_leaves_the_other_site_alone(words, two_sites, run):
    before = facts_of(two_sites, "home")
    status, report = run(two_sites, *words)
    assert status == 0, report
    assert facts_of(two_sites, "home") == before


def test_backup_export_and_their_ways_back_are_of_one_site(two_sites, run, tmp_path):
    before, ward = facts_of(two_sites, "home"), facts_of(two_sites, "ward")
    assert run(two_sites, "backup", tmp_path / "ward.backup")[0] == 0
    assert run(two_sites, "export", tmp_path / "ward.jsonl")[0] == 0
    for words in (("restore", tmp_path / "ward.backup", "--replace"), ("import", tmp_path / "ward.jsonl")):
        assert run(two_sites, *words)[0] == 0
    assert run(two_sites, "import", tmp_path / "ward.jsonl", site="third")[0] == 0
    assert facts_of(two_sites, "home") == before
    after = facts_of(two_sites, "ward")
    for name in ("objects", "steps", "episodes"):
        assert len(after[name]) == len(ward[name])


def test_what_a_role_may_not_rewrite_is_no_verified_forgetting(two_sites, login_role):
    theirs = login_role(two_sites, "guest")
    with connected(two_sites) as connection:
        connection.execute(sa.text("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest"))
    with open_store(theirs, "r2", "ward", SMALL) as store:
        report = store.forget(ForgetRequest(label="Anna"))
    assert not report.verified
    assert any("only" in line and "owner" in line for line in report.found), report.found


def test_tables_are_rewritten_once_nobody_reads_them(two_sites, postgres):
    if postgres.has_citus:
        pytest.skip("waits for locks on its workers")
    with connected(two_sites) as limit:
        limit.exec_driver_sql(f"ALTER DATABASE \"{parse_url(two_sites).database}\" SET lock_timeout = '50ms'")
    engine = open_engine(parse_url(two_sites))
    query = sa.text("SELECT now() - query_start > '100ms' FROM pg_stat_activity WHERE query LIKE 'VACUUM%floors%'")
    reports = []

    def waits():
        with engine.connect() as look:
            return any(look.execute(query).scalars())

    with open_store(two_sites, "r1", "ward", SMALL) as store:
        with engine.connect() as reader:
            reader.execute(sa.text("SELECT count(*) FROM floors"))
            forgetting = threading.Thread(target=lambda: reports.append(store.forget(ForgetRequest(label="Anna"))))
            forgetting.start()
            until(waits)
        forgetting.join(60.0)
    engine.dispose()
    assert reports[0].verified, reports[0].found


_NEVER_MOVE = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'modifying the partition value of rows is not allowed'; END $$
"""


@pytest.fixture
def unmovable(postgres, filled):
    """A database that refuses to set a row's site, as a distributed one does, with two sites."""
    url = postgres.create_database()
    filled(url, "home", "ward")
    with connected(url) as connection:
        connection.exec_driver_sql(_NEVER_MOVE)
        # Citus refuses by itself, and takes no triggers.
        for name in () if postgres.has_citus else sa.inspect(connection).get_table_names():
            if name != "alembic_version":
                column = "name" if name == "sites" else "site"
                connection.exec_driver_sql(
                    f'CREATE TRIGGER never_move BEFORE UPDATE OF {column} ON "{name}" '
                    "FOR EACH ROW EXECUTE FUNCTION refuse()"
                )
    return url


@pytest.mark.parametrize(
    "request_",
    [
        ForgetRequest(object_ids=("0191-mug",)),
        ForgetRequest(class_name="mug"),
        ForgetRequest(area_id="a1"),
        ForgetRequest(label="Anna"),
        ForgetRequest(robot_id="r1"),
        ForgetRequest(from_ns=1, until_ns=1_600),
    ],
    ids=lambda request: request.scope,
)
def test_no_statement_sets_the_site_of_a_row(request_, unmovable, make_object, run, tmp_path):
    with open_store(unmovable, "r1", "home", SMALL) as store:
        mug = next(found for found in store.load_scene().objects if found.id == "0191-mug")
        store.append([seen(mug.changed(times_seen=9), SceneEventKind.UPDATED)]).wait()
        assert store.forget(request_).verified
    assert run(unmovable, "backup", tmp_path / "a.backup")[0] == 0
    assert run(unmovable, "restore", tmp_path / "a.backup", "--replace")[0] == 0
    damage(unmovable, "ward")
    assert run(unmovable, "check", "--repair")[0] == 0
    assert run(unmovable, "compact")[0] == 0


def test_inspector_and_agents_read_a_site_of_a_server(two_sites):
    parser = argparse.ArgumentParser()
    opened_memory.add_arguments(parser)
    args = parser.parse_args(["--database", two_sites, "--site", "ward"])
    assert opened_memory.only_reads(args)
    before = facts_of(two_sites, "ward")
    with opened_memory.opened(args, as_copy=True) as found:
        assert len(found.memory.scene().objects) == 3
    assert facts_of(two_sites, "ward") == before


# -- roles -----------------------------------------------------------------------------------------------------------


def test_each_role_sees_its_own_sites_and_reads_the_fleets(postgres, filled, login_role, tmp_path):
    url = postgres.create_database()
    filled(url, "home", "ward", "fleet")
    theirs = login_role(url, "ward_robot")
    for _ in range(2):
        assert main(["store", "distribute", "--rls", "--grant", "ward_robot", "ward", "--database", url]) == 0
    with open_store(theirs, "r2", "ward", SMALL) as store:
        assert len(store.load_scene().objects) == 3
        store.append([EpisodeSummary("mine", "bring it", "pick", 1)]).wait()
        assert store.diagnostics().state == "ok"
    written = str(tmp_path / "fleet.jsonl")
    assert main(["store", "export", written, "--site", "fleet", "--database", theirs]) == 0
    assert "bring the mug" in Path(written).read_text()
    guest = open_engine(parse_url(theirs))
    for table in (schema.objects, schema.documents, schema.tombstones, schema.sites):
        column = table.c.name if table is schema.sites else table.c.site
        with guest.connect() as connection:
            sites = set(connection.execute(sa.select(column).distinct()).scalars())
        assert sites <= {"ward", "fleet"}, table.name
    for statement in (
        "UPDATE objects SET existence = 0 WHERE site = 'home'",
        "DELETE FROM objects WHERE site = 'fleet'",
    ):
        with guest.begin() as connection:
            assert connection.execute(sa.text(statement)).rowcount == 0
    guest.dispose()
    with pytest.raises(StoreError, match="--grant"):
        open_store(theirs, "r2", "home", SMALL)
    with open_store(url, "r1", "home", SMALL) as store:
        assert len(store.load_scene().objects) == 3
