"""A small memory behind a running inspector, and a client of it."""

import asyncio
import functools
import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.geometry import Pose
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import StateChange
from memory_node.inspector.access import RateLimit, Role, TokenBook
from memory_node.inspector.agent_memory import AgentMemory
from memory_node.inspector.application import build_application
from memory_node.inspector.guard import GuardConfig
from memory_node.inspector.inspector import Inspector
from memory_node.inspector.server import InspectorServer, Listening
from memory_node.inspector.stored_views import StoredViews
from memory_node.memory import RobotMemory
from memory_node.opening import MemoryConfig, open_memory
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.search.embedders import build_embedder

SECOND_NS = 10**9
START_NS = 1_700_000_000 * SECOND_NS


@functools.cache
def embedder() -> TextEmbedder:
    """Return the sentence embedder, loaded once."""
    return build_embedder(MemoryConfig().search)


def furnished(path: Path | None = None) -> tuple[RobotMemory, dict[str, str]]:
    """Return a memory with a table, an apple on it and two mugs, and their ids."""
    memory = open_memory(MemoryConfig(database=str(path) if path else ""), embedder=embedder())
    memory.set_map(OccupancyMap(np.zeros((120, 120), np.int8), 0.05, Pose()), START_NS)

    def tell(name: str, kind: str, at: tuple[float, float, float], after_s: int, **more: Any) -> str:
        change = StateChange(name, kind, START_NS + after_s * SECOND_NS, position=at, held=False, **more)
        return memory.remember([change])[0]

    table = tell("table", "DiningTable", (2.0, 1.0, 0.4), 1)
    ids = {"table": table}
    ids["apple"] = tell("apple", "Apple", (2.0, 1.0, 0.8), 2, support_id=table)
    ids["mug"] = tell("mug", "Mug", (4.0, 3.0, 0.8), 3)
    ids["cup"] = tell("cup", "Mug", (1.0, 4.0, 0.8), 4)
    return memory, ids


@dataclass
class Client:
    """Asks an inspector."""

    port: int
    token: str = ""
    host: str = "127.0.0.1"

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Return the status and the body, read where it is JSON."""
        status, _, told = self.raw(method, path, None if body is None else json.dumps(body), **headers)
        return status, told

    def raw(self, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, dict[str, str], Any]:
        """Return the status, the headers and the body, read where it is JSON."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=20)
        sent = {"Content-Type": "application/json"} if body is not None else {}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            told = answer.read()
            found = {name.lower(): value for name, value in answer.getheaders()}
            is_json = found.get("content-type", "").startswith("application/json")
            return answer.status, found, json.loads(told) if is_json else told
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        status, told = self.ask("GET", path)
        assert status == 200, told
        return told

    def post(self, path: str, **body: Any) -> Any:
        status, told = self.ask("POST", path, body)
        assert status == 200, told
        return told


@contextmanager
def serving(
    memory: AgentMemory, tokens: TokenBook | None = None, may: Role = "forget", per_s: float = 1e6, **options: Any
) -> Iterator[Client]:
    """Serve a memory on a free port; views: by default those of a memory in this process."""
    views = options.pop("views", None) or StoredViews(memory)
    images = options.pop("images", True)
    listening = Listening("127.0.0.1", 0, options.pop("certificate", None), options.pop("key", None))
    inspector = Inspector(memory, views, load_catalogue(), "a test", images)
    guard = GuardConfig(
        tokens or TokenBook(),
        may,
        frozenset({"127.0.0.1", "localhost"}),
        RateLimit(per_s, 2 * per_s, time.monotonic),
        **options,
    )
    listens, ports = threading.Event(), []

    def note(port: int) -> None:
        ports.append(port)
        listens.set()

    server = InspectorServer(build_application(inspector, guard), listening, note, inspector.feed.close)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    try:
        assert listens.wait(20.0), "the inspector does not listen"
        yield Client(ports[0])
    finally:
        server.should_exit = True
        thread.join(10.0)
        assert not thread.is_alive()
