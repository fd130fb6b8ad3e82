"""`store check --repair`: finds what is damaged in a store, and repairs only that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from sqlalchemy.engine import URL

from memory_node.domain.errors import StoreError
from memory_node.store.check import Finding, check
from memory_node.store.config import StoreConfig
from memory_node.store.engine import DATABASE_ERRORS, open_engine, sqlite_path
from memory_node.store.errors import ForeignFileError, MissingStoreError, StoreInUseError, StoreUnavailableError
from memory_node.store.inspection import open_to_read
from memory_node.store.journal import Journal
from memory_node.store.location import locate
from memory_node.store.rebuild import rebuild
from memory_node.store.repair import mend_images, mend_rows
from memory_node.store.versioning import prepare


def repair(url: URL, site: str, robot_id: str, config: StoreConfig, discard: bool = False) -> dict[str, Any]:
    """Mend a store that no robot uses; return what was done.

    A SQLite file whose structure is damaged is built anew from its rows, and kept under another name.

    Raises:
        StoreInUseError: a robot uses it.
        StoreUnavailableError: there is nothing of ours in it.
    """
    path = sqlite_path(url)
    with _nobody_else(url, site, robot_id, config):
        done: dict[str, Any] = {}
        if path is not None and _is_broken(url, site, robot_id, config):
            done["rebuilt"] = {**asdict(rebuilt := rebuild(path, site)), "damaged_file": str(rebuilt.damaged_file)}
        engine = open_engine(url, busy_timeout_s=10.0)
        try:
            name = prepare(engine, site)
            mending = mend_rows(engine, name, discard)
            mend_images(locate(url, name, robot_id, config), mending)
        finally:
            engine.dispose()
    return {**done, **asdict(mending)}


def _is_broken(url: URL, site: str, robot_id: str, config: StoreConfig) -> bool:
    """Return whether more than rows of a SQLite file are damaged."""
    try:
        with open_to_read(url, site, robot_id, config) as opened:
            return any(finding.structure for finding in check(opened))
    except (ForeignFileError, StoreUnavailableError, *DATABASE_ERRORS) as error:
        if isinstance(error, ForeignFileError) and "empty" in str(error):
            raise
        return True


@contextmanager
def _nobody_else(url: URL, site: str, robot_id: str, config: StoreConfig) -> Iterator[None]:
    """Hold the journal, as the robot that writes this memory does."""
    journal = Journal(locate(url, site, robot_id, config).journal, 1)
    if not journal.path.is_file():
        yield
        return
    try:
        journal.open()
    except StoreInUseError as error:
        raise StoreInUseError(f"{error}; stop it first") from None
    try:
        yield
    finally:
        journal.close()


def findings_of(url: URL, site: str, robot_id: str, config: StoreConfig) -> list[Finding]:
    """Return what is wrong with a store, also when it cannot be opened for that; see `check`."""
    try:
        with open_to_read(url, site, robot_id, config) as opened:
            return check(opened)
    except (ForeignFileError, MissingStoreError):
        raise
    except StoreError as error:
        advice = "stop the robot and run `memory-node store check --repair`, or restore the last backup"
        return [Finding("error", str(error), advice, structure=True)]
