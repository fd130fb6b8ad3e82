"""Opens the memory that a command names: a running node's, or a store file's."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import sqlalchemy as sa

from memory_node.catalogue.label_space import HOUSEHOLD, load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import Clock, MemoryClock, system_clock
from memory_node.domain.errors import NotFoundError, RobotMemoryError
from memory_node.domain.scene import Place, SceneEvent, SceneEventKind
from memory_node.domain.step import EpisodeSummary
from memory_node.inspector.agent_memory import AgentMemory, CacheView, Listener, MemoryChange, MemoryViews
from memory_node.inspector.robot_tasks import RobotTasks
from memory_node.knowledge.answering import Mode
from memory_node.knowledge.facts import Proposition
from memory_node.memory import RobotMemory
from memory_node.opening import MemoryConfig, open_memory
from memory_node.store.engine import open_engine, page_copy, reason_of
from memory_node.store.keeper import LocalCopy
from memory_node.store.location import is_server, parse_url, redacted
from memory_node.store.site_database import site_of

_GONE = (SceneEventKind.REMOVED, SceneEventKind.MERGED, SceneEventKind.FORGOTTEN)


class StoredViews:
    """`MemoryViews` of a `RobotMemory`."""

    def __init__(self, memory: RobotMemory) -> None:
        self._memory = memory
        self.episodes, self.episode, self.lessons = memory.past.episodes, memory.past.episode, memory.lessons

    def crop_jpeg(self, object_id: str) -> bytes | None:
        """Return the best view of an object."""
        try:
            return self._memory.one_object(object_id).crop_jpeg or None
        except NotFoundError:
            return None

    def cache(self) -> CacheView | None:
        """Return the short-term memory."""
        statistics = self._memory.statistics()
        return CacheView(self._memory.cache.leaving(), {**asdict(statistics), "hit_ratio": statistics.hit_ratio or 0.0})

    def places(self, object_id: str) -> tuple[Place, ...]:
        """Return where an object was before, or all objects."""
        if object_id:
            return self._memory.one_object(object_id).history
        return tuple(place for one in self._memory.scene(removed=True).objects for place in one.history)

    def statements(self, concept: str, k: int) -> tuple[Proposition, ...]:
        """Return the k statements that say most of a concept; "": that people told last."""
        if not concept:
            return self._memory.knowledge.told_facts("", k)
        about = self._memory.knowledge.about({concept}, k)
        return tuple(about) or self._memory.ask(concept, Mode.SEMANTIC, k).propositions

    def figures(self) -> dict[str, float]:
        """Return the figures of /diagnostics by name."""
        told = self._memory.diagnostics()
        return {name: float(value) for name, value in told.items() if isinstance(value, (int, float))}

    def working_memory(self, episodes: Sequence[EpisodeSummary] | None) -> str | None:
        """Return the last steps of the episode that began last."""
        running = self._memory.experience.running
        view = self._memory.experience.working_memory(running[-1].id) if running else None
        return None if view is None else view.text()

    def robot_path(self) -> tuple[tuple[int, float, float], ...]:
        """Return nothing: a memory does not keep the robot's path."""
        return ()

    def follow(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each change of the scene graph."""

        def on_change(events: tuple[SceneEvent, ...], from_version: int, to_version: int) -> None:
            changed = tuple(event.object for event in events if event.kind not in _GONE)
            gone = tuple(event.object.id for event in events if event.kind in _GONE)
            ids = tuple(found.id for found in changed)
            listener(MemoryChange(to_version, ids, gone, from_version, changed))

        return self._memory.on_change(on_change)


_RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"


@dataclass(frozen=True)
class OpenedMemory:
    """A memory, what it shows of itself, what to call it, "now" on its time line, and its label space."""

    memory: AgentMemory
    views: MemoryViews
    source: str
    clock: Clock
    kinds: ObjectCatalogue


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that name a memory."""
    parser.add_argument(
        "--database",
        default="",
        help="a memory's file, which no node may have open, or a postgresql:// address, which is only read, as it is "
        "now (default: the running memory node)",
    )
    parser.add_argument("--site", default="", help="site of the database (default: the file's own, on a server home)")
    parser.add_argument("--node", default="memory", help="name of the memory node, with its namespace (default memory)")
    parser.add_argument(
        "--domain-id", type=int, default=int(os.environ.get("ROS_DOMAIN_ID", "0")), help="DDS domain (default: ROS's)"
    )
    parser.add_argument(
        "--range",
        choices=("LOCALHOST", "SUBNET"),
        help="where to look for the node: this machine or its network (default: ROS_AUTOMATIC_DISCOVERY_RANGE)",
    )
    parser.add_argument(
        "--act",
        action="store_true",
        help="who may edit may also have a running node's robot carry out instructions",
    )
    parser.add_argument("--label-space", default=HOUSEHOLD, help="name or file of the label space (default: household)")


@contextlib.contextmanager
def opened(args: argparse.Namespace, as_copy: bool = False) -> Iterator[OpenedMemory]:
    """Give the memory that the options name; as_copy: of a file as it is now, which a node may have open.

    Raises:
        RobotMemoryError: there is no such memory.
    """
    if args.database:
        with contextlib.ExitStack() as stack:
            used = stack.enter_context(_file_of(args, as_copy))
            clock = MemoryClock()
            stored = open_memory(MemoryConfig(database=str(used), label_space=args.label_space), clock=clock)
            stack.callback(stored.close)
            clock.follow(stored.scene().stamp_ns)
            # No robot is localised here, in a map that could be another one: what is stored is told as it is.
            stored.confirm_relocalization()
            source, kinds = redacted(args.database), load_catalogue(args.label_space)
            yield OpenedMemory(stored, StoredViews(stored), source, clock, kinds)
        return
    if args.range:
        os.environ[_RANGE] = args.range
    from memory_node.nodes.run import activate_ros

    activate_ros()
    from memory_node.nodes.connected_memory import inspected
    from memory_node.nodes.service_clients import PeerTimeoutError

    where = f"domain {args.domain_id}, discovery range {os.environ.get(_RANGE, 'SUBNET')}"
    print(f"looking for the node {args.node} in {where}", file=sys.stderr, flush=True)
    with contextlib.ExitStack() as stack:
        try:
            memory, views = stack.enter_context(inspected(args.node, args.domain_id))
        except PeerTimeoutError as error:
            raise RobotMemoryError(
                f"{error} in {where}; --domain-id and --range look elsewhere (the demo prints its own), --database "
                "opens a file"
            ) from error
        clock = MemoryClock(views.clock)
        clock.follow(memory.scene().stamp_ns)

        def note(change: MemoryChange) -> None:
            clock.follow(max((one.last_seen_ns for one in change.objects), default=0))

        stack.callback(views.follow(note))
        yield OpenedMemory(memory, views, f"node {args.node}", clock, load_catalogue(args.label_space))


@contextlib.contextmanager
def robot_of(args: argparse.Namespace) -> Iterator[RobotTasks | None]:
    """Give the robot of the running node, for instructions, where it may be commanded; what runs at the end is
    cancelled.

    Raises:
        RobotMemoryError: no planner is there.
    """
    if not args.act:
        yield None
        return
    if args.database:
        raise RobotMemoryError("--act: a database has no robot")
    from memory_node.nodes.connected_memory import commanded

    with commanded(args.domain_id) as robot:
        tasks = RobotTasks(robot)
        try:
            yield tasks
        finally:
            tasks.close()


def only_reads(args: argparse.Namespace) -> bool:
    """Return whether the memory that the options name can only be read."""
    return is_server(args.database)


@contextlib.contextmanager
def _file_of(args: argparse.Namespace, as_copy: bool) -> Iterator[Path]:
    """Give a SQLite file of what a database holds: its own, or a temporary copy."""
    if is_server(args.database):
        with tempfile.TemporaryDirectory(prefix="robot_memory_") as folder:
            yield _copy_of_server(args.database, args.site, Path(folder) / "memory.db")
        return
    path = Path(args.database)
    if not path.is_file():
        raise RobotMemoryError(f"{redacted(str(path))}: no such database")
    if not as_copy:
        yield path
        return
    with page_copy(path) as copied:
        yield copied


def _copy_of_server(address: str, site: str, target: Path) -> Path:
    engine = open_engine(parse_url(address))
    try:
        LocalCopy(target, site_of(engine, site), "", system_clock).update(engine)
    except sa.exc.DBAPIError as error:
        raise RobotMemoryError(f"the database cannot be read: {reason_of(error)}") from error
    finally:
        engine.dispose()
    return target
