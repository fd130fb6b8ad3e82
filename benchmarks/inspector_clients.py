"""The clients of `bench inspector`: some ask again and again, some follow the stream of changes."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

# What a client asks in turn: what an open page and an agent ask most.
_ASKED = (
    ("POST", "/api/v1/find_objects", {"text": "mug", "k": 5}),
    ("GET", "/api/v1/scene_graph", None),
    ("POST", "/api/v1/recall_objects", {"object_class": "Mug"}),
    ("GET", "/api/v1/cache", None),
    ("GET", "/api/v1/path", None),
)
_TIMEOUT_S = 30.0


@dataclass
class Asked:
    """What the clients were answered. statuses: how often each came; 0: no answer. versions: the newest that each
    stream was told."""

    statuses: Counter[int] = field(default_factory=Counter)
    times_ms: dict[str, list[float]] = field(default_factory=dict)
    events: int = 0
    versions: dict[int, int] = field(default_factory=dict)


class Clients:
    """Ask and follow from `start` to `stop`, each in a thread of its own.

    polling: clients that ask once a period. streaming: clients that follow.
    """

    def __init__(self, port: int, polling: int, streaming: int, period_s: float = 1.0) -> None:
        self.asked = Asked()
        self._port, self._period_s = port, period_s
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._threads = [
            threading.Thread(target=self._poll, args=(number, number * period_s / polling), daemon=True)
            for number in range(polling)
        ]
        self._threads += [threading.Thread(target=self._follow, args=(n,), daemon=True) for n in range(streaming)]
        self._streams: list[http.client.HTTPConnection] = []

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self, newest_version: int, within_s: float = 10.0) -> int:
        """Stop asking, wait until the streams have told the newest version, and return how many have not."""
        self._ended.set()
        deadline = time.monotonic() + within_s
        while self._behind(newest_version) and time.monotonic() < deadline:
            time.sleep(0.1)
        return self._behind(newest_version)

    def _behind(self, version: int) -> int:
        with self._lock:
            return sum(told < version for told in self.asked.versions.values())

    def _poll(self, number: int, delay_s: float) -> None:
        time.sleep(delay_s)
        turn = number
        while not self._ended.is_set():
            method, path, body = _ASKED[turn % len(_ASKED)]
            turn += 1
            began = time.monotonic()
            status = self._ask(method, path, body)
            took_s = time.monotonic() - began
            with self._lock:
                self.asked.statuses[status] += 1
                self.asked.times_ms.setdefault(path, []).append(1e3 * took_s)
            self._ended.wait(max(0.0, self._period_s - took_s))

    def _ask(self, method: str, path: str, body: object) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_TIMEOUT_S)
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, path, sent, {"Content-Type": "application/json", "Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except OSError:
            return 0
        finally:
            connection.close()

    def _follow(self, number: int) -> None:
        with self._lock:
            self.asked.versions[number] = 0
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=None)
        connection.request("GET", "/api/v1/events")
        answer = connection.getresponse()
        for line in answer:
            if not line.startswith(b"data: "):
                continue
            version = int(json.loads(line[6:])["version"])
            with self._lock:
                self.asked.events += 1
                self.asked.versions[number] = version
