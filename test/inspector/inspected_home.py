"""A running inspector of a memory, and a client of it."""

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.clock import MemoryClock
from memory_node.inspector.access import RateLimit, Role, TokenBook
from memory_node.inspector.agent_memory import AgentMemory
from memory_node.inspector.application import build_application
from memory_node.inspector.guard import GuardConfig
from memory_node.inspector.inspector import Inspector
from memory_node.inspector.opened_memory import StoredViews
from memory_node.inspector.server import InspectorServer, Listening


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
    clock = MemoryClock()
    clock.follow(memory.scene().stamp_ns)
    inspector = Inspector(memory, views, load_catalogue(), "a test", images, clock)
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
