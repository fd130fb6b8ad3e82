"""A store on each database, and a real PostgreSQL server that this run starts on a free port."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from citus_server import citus_server
from looked_into import SMALL, connected
from neighbour import LATER
from postgres_server import PostgresServer, postgres_server

from memory_node.cli import main
from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.ids import new_id
from memory_node.domain.scene import (
    Area,
    Floor,
    Place,
    Relation,
    RelationKind,
    Room,
    SceneEvent,
    SceneEventKind,
    SceneObject,
)
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.store import engine, writer
from memory_node.store import store as store_module
from memory_node.store.config import StoreConfig
from memory_node.store.records import Document, StoreChange, step_key
from memory_node.store.store import Store, open_store
from memory_node.store.write_backlog import Ticket


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a robot's state folder of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(scope="session")
def database_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """Start a server for this run, or take the Citus server of the environment; skip where there is neither."""
    with ExitStack() as stack:
        try:
            server = citus_server() or stack.enter_context(postgres_server())
        except ResourceMissingError as error:
            pytest.skip(str(error))
        server.prepare_template(lambda store: _remember_home(store, build_object), tmp_path_factory.mktemp("neighbour"))
        try:
            yield server
        finally:
            server.drop(server.templates)


@pytest.fixture
def postgres(database_server: PostgresServer) -> Iterator[PostgresServer]:
    """A server whose databases hold a second site, which is as it was at the end of the test."""
    yield database_server
    database_server.check_and_drop()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    return request.getfixturevalue("postgres").create_database()


@pytest.fixture
def login_role() -> Callable[[str, str], str]:
    """Return a function that makes a login role, if its server has none, and returns the address for it."""

    def make(url: str, name: str) -> str:
        with connected(url) as connection:
            if not connection.execute(sa.text("SELECT 1 FROM pg_roles WHERE rolname = :n"), {"n": name}).first():
                connection.execute(sa.text(f"CREATE ROLE {name} LOGIN"))
        return url.replace("robot@", f"{name}@")

    return make


@pytest.fixture
def as_first_release() -> Callable[[str], None]:
    """Return a function that turns a database into one of the first release, with its facts."""

    def turn(url: str) -> None:
        with connected(url) as connection:
            found = sa.inspect(connection)
            for name in found.get_table_names():
                for column in LATER & {one["name"] for one in found.get_columns(name)}:
                    connection.exec_driver_sql(f"ALTER TABLE {name} DROP COLUMN {column}")
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("PRAGMA user_version = 1")

    return turn


OpenStore = Callable[..., Store]


@pytest.fixture
def open_at(tmp_path: Path) -> Iterator[OpenStore]:
    """Open stores that are closed at the end; each robot has its own journal."""
    opened: list[Store] = []

    def open_(url: str, robot_id: str = "r1", site: str = "home", **parameters: float | str) -> Store:
        folder = {"journal_path": str(tmp_path / f"{robot_id}.pending"), "data_dir": str(tmp_path / f"{robot_id}.data")}
        config = StoreConfig(
            **{"journal_mib": 1.0, "retry_interval_s": 0.1, "busy_timeout_s": 0.2, **folder, **parameters}
        )
        store = open_store(url, robot_id, site, config)
        opened.append(store)
        return store

    yield open_
    for store in opened:
        if not store.closed:
            store.close()


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every wait last a minute, for the machine may be busy; tests about the short ones use `product_patience`."""
    for waits in (Ticket.wait, Store.flush, Store.close):
        monkeypatch.setattr(waits, "__defaults__", (60.0,))
    for module in (writer, store_module):
        monkeypatch.setattr(module, "PATIENCE_S", 60.0)


@pytest.fixture
def product_patience(_patience: None, monkeypatch: pytest.MonkeyPatch) -> Callable[[], AbstractContextManager[None]]:
    """Return a block in which connections are opened for which a silent server is away as soon as for a robot's."""

    @contextmanager
    def as_on_a_robot() -> Iterator[None]:
        with monkeypatch.context() as patch:
            for module in (writer, store_module):
                patch.setattr(module, "PATIENCE_S", engine.PATIENCE_S)
            yield

    return as_on_a_robot


@pytest.fixture
def next_change() -> Callable[[Store], StoreChange]:
    """Return a function that returns what others change next in a store's site."""

    def wait(store: Store) -> StoreChange:
        deadline = time.monotonic() + 60.0
        while (change := store.poll_changes()) is None:
            assert time.monotonic() < deadline, "nobody changed anything"
            time.sleep(0.01)
        return change

    return wait


def build_object(position: tuple[float, float, float] = (1.0, 2.0, 0.8), **changes: object) -> SceneObject:
    """Build an object with sensible values; keywords replace them. `position` moves its box."""
    values: dict = {
        "id": new_id(),
        "class_probabilities": {"mug": 0.7, "cup": 0.3},
        "box": OrientedBox(np.array(position), np.array([0.1, 0.1, 0.12]), np.pi / 4),
        "covariance": np.diag([4e-4, 4e-4, 9e-4]),
        "existence": 0.9,
        "first_seen_ns": 1_000,
        "last_seen_ns": 2_000,
        **changes,
    }
    return SceneObject(**values)


@pytest.fixture
def make_object() -> Callable[..., SceneObject]:
    """Return `build_object`."""
    return build_object


TABLE, MUG, PILLS = "0191-table", "0191-mug", "0191-pills"


def _step(episode_id: str, index: int, *arguments: str, **changes: object) -> StepRecord:
    action = SkillCall("PickUp", arguments)
    return StepRecord(episode_id, index, action, True, FailureReason.NONE, 1_000 * (index + 1), **changes)


@pytest.fixture
def remember_home(make_object: Callable[..., SceneObject]) -> Callable[[Store], None]:
    """Fill a store with a small memory that uses every table."""
    return lambda store: _remember_home(store, make_object)


@pytest.fixture
def filled(remember_home: Callable[[Store], None]) -> Callable[..., None]:
    """Return a function that fills the sites of a database with such memories; nobody holds it afterwards."""

    def fill(url: str | Path, *sites: str) -> None:
        for site in sites or ("home",):
            with open_store(url, "r1", site, SMALL) as store:
                remember_home(store)

    return fill


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, Any]]:
    """Run `memory-node store ...` on a database; return exit status and what it printed, read where it is JSON."""

    def run(url: str | Path, name: str, *words: object) -> tuple[int, Any]:
        capsys.readouterr()
        status = main(["store", name, "--database", str(url), "--json", *map(str, words)])
        output = capsys.readouterr()
        return status, json.loads(output.out) if output.out else output.err

    return run


def _remember_home(store: Store, make_object: Callable[..., SceneObject]) -> None:
    """Write the sample: a table, a mug on it, Anna's pills; two episodes; what was learned from them."""
    store.put_map(
        [Area("a1", "by the sink", (1.0, 2.0), "f1", "r1"), Area("a2", "by the bed", (4.0, 2.0), "f1", "r2")],
        [Room("r1", "kitchen", "f1", (1.0, 1.0)), Room("r2", "bedroom", "f1", (4.0, 1.0))],
        [Floor("f1", "ground")],
        [Relation("a1", RelationKind.NAVIGABLE, "a2", 3.0), Relation(MUG, RelationKind.NEAR, PILLS, 0.2)],
    )
    table = make_object(id=TABLE, class_probabilities={"table": 1.0}, area_id="a1", movable=False)
    mug = make_object(
        id=MUG,
        area_id="a1",
        support_id=TABLE,
        states=(StateBelief(ObjectState.DIRTY, 0.9, 1_500),),
        history=(Place(500, 900, OrientedBox([4, 2, 0.5], [0.1, 0.1, 0.1]), "a2"),),
        embedding=np.linspace(0, 1, 16, dtype=np.float32),
        crop_jpeg=b"\xff\xd8" + bytes(range(64)),
    )
    pills = make_object(
        id=PILLS,
        class_probabilities={"pillbox": 1.0},
        area_id="a2",
        attributes={"owner": "Anna Bergström", "label": "Anna's pills"},
        crop_jpeg=b"\xff\xd8" + bytes(range(100, 190)),
    )
    store.append(SceneEvent(SceneEventKind.APPEARED, 1_000, thing) for thing in (table, mug, pills))
    store.append(
        [
            EpisodeSummary("e1", "bring the mug", "fetch", 1_000, 2_000, True),
            EpisodeSummary("e2", "bring Anna her pills", "fetch", 5_000, 9_000, False),
            _step("e1", 0, MUG, visible=(MUG, TABLE), relations=("mug on table",), area="a1"),
            _step("e1", 1, TABLE, held_object=MUG, area="a1"),
            _step("e2", 0, PILLS, visible=(PILLS, MUG), message="Anna was asleep", area="a2"),
            StateChange(PILLS, "pillbox", 6_000, added=(ObjectState.OPENED,)),
            StateChange(MUG, "mug", 1_700, added=(ObjectState.DIRTY,)),
            Document("guideline", "g-mug", {"text": "look at the table"}, 1, (("step", step_key("e1", 1)),)),
            Document("guideline", "g-pills", {"text": "knock first"}, 1, (("step", step_key("e2", 0)),)),
            Document("guideline", "g-both", {"text": "go slowly"}, 1, (("step", "e1:1"), ("step", step_key("e2", 0)))),
            Document("proposition", "p-night", {"text": "quiet at night"}, 1, (("guideline", "g-pills"),)),
        ]
    ).wait()
