"""What tests do with a store or its database from outside: look into it, wait for it, tell it of a thing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from memory_node.domain.scene import SceneEvent, SceneEventKind, SceneObject
from memory_node.store.config import StoreConfig
from memory_node.store.engine import for_writing, open_engine
from memory_node.store.location import parse_url
from memory_node.store.store import Store

SMALL = StoreConfig(journal_mib=1.0, retry_interval_s=0.1)


@contextmanager
def connected(url: str | Path) -> Iterator[sa.Connection]:
    """Yield a connection past any store; what it changes is kept."""
    engine = open_engine(parse_url(url))
    with for_writing(engine.connect()) as connection, connection.begin():
        yield connection
    engine.dispose()


def until(condition: Callable[[], object], timeout_s: float = 60.0) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def seen(scene_object: SceneObject, kind: SceneEventKind = SceneEventKind.APPEARED, stamp_ns: int = 1) -> SceneEvent:
    """Return the event that tells of a thing."""
    return SceneEvent(kind, stamp_ns, scene_object)


def ids_of(store: Store) -> set[str]:
    """Return the ids of the things that a store holds."""
    return {found.id for found in store.load_scene().objects}
