"""The clients of `bench inspector`: some ask again and again, some follow changes, and a Chromium opens the page."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.inspected_process import inspected_by, stored_memory
from benchmarks.process_figures import processor_s
from memory_node.domain.errors import RobotMemoryError

# What a client asks in turn: what an open page and an agent ask most.
_ASKED = (
    ("POST", "/api/v1/find_objects", {"text": "mug", "k": 5}),
    ("GET", "/api/v1/scene_graph", None),
    ("POST", "/api/v1/recall_objects", {"object_class": "Mug"}),
    ("GET", "/api/v1/cache", None),
    ("GET", "/api/v1/path", None),
)
_TIMEOUT_S = 30.0
_PERIOD_S = 1.0  # of a client that asks again and again
_BEHIND_S = 10.0  # streams have so long to tell the newest version


@dataclass
class Asked:
    """What the clients were answered. statuses: how often each came; 0: no answer. versions: the newest that each
    stream was told."""

    statuses: Counter[int] = field(default_factory=Counter)
    events: int = 0
    versions: dict[int, int] = field(default_factory=dict)


class Clients:
    """Ask and follow from `start` to `stop`, each in a thread of its own.

    polling: clients that ask once a second. streaming: clients that follow.
    """

    def __init__(self, port: int, polling: int, streaming: int) -> None:
        self.asked = Asked()
        self._port = port
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._threads = [
            threading.Thread(target=self._poll, args=(number, number * _PERIOD_S / polling), daemon=True)
            for number in range(polling)
        ]
        self._threads += [threading.Thread(target=self._follow, args=(n,), daemon=True) for n in range(streaming)]
        self._streams: list[http.client.HTTPConnection] = []

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self, newest_version: int) -> int:
        """Stop asking, wait until the streams have told the newest version, and return how many have not."""
        self._ended.set()
        deadline = time.monotonic() + _BEHIND_S
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
            self._ended.wait(max(0.0, _PERIOD_S - took_s))

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


_VISITS = 5
_TURN_S = 3.0
# Turns the view for a while; returns frames a second by the browser's own count, and the level of detail.
_TURN = """async (seconds) => {
  const view = inspector.view;
  const [began, first] = [performance.now(), view.frames];
  while (performance.now() - began < 1000 * seconds) {
    view.camera.rotate(0.02, 0);
    view.redraw(true);
    await new Promise((resume) => requestAnimationFrame(resume));
  }
  return [(view.frames - first) / seconds, view.detail.level];
}"""


def page_rows(sizes: Sequence[int], seed: int) -> Iterator[dict[str, Any]]:
    """Yield for each size of a memory how long the page took until its first whole frame, at each visit from nothing.

    Raises:
        RobotMemoryError: Playwright or a Chromium is missing.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise RobotMemoryError(
            f"bench inspector --parts page needs playwright: pip install playwright ({error})"
        ) from error
    program = shutil.which(os.environ.get("CHROMIUM", "chromium")) or shutil.which("google-chrome")
    if program is None:
        raise RobotMemoryError("bench inspector --parts page needs a Chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for size in sizes:
            database = stored_memory(Path(folder, f"page_{size}.db"), size, seed)
            with inspected_by("--database", str(database), "--read-only") as (port, _):
                yield {"objects": size, **_visits(browser, port), "load_1min": os.getloadavg()[0]}
        browser.close()


def _visits(browser: Any, port: int) -> dict[str, Any]:
    ready_ms, frames_a_s, levels, spent_s = [], [], [], []
    for _ in range(_VISITS):
        before = _browser_s()
        visit = browser.new_context(viewport={"width": 1280, "height": 800})
        page = visit.new_page()
        page.goto(f"http://127.0.0.1:{port}/", timeout=120_000)
        page.wait_for_selector("body[data-ready-ms]", timeout=120_000)
        spent_s.append(_browser_s() - before)
        ready_ms.append(float(page.get_attribute("body", "data-ready-ms")))
        frames, level = page.evaluate(_TURN, _TURN_S)
        frames_a_s.append(frames)
        levels.append(level)
        visit.close()
    return {
        "visits": _VISITS,
        "ready_first_ms": ready_ms[0],
        "ready_p50_ms": float(np.median(ready_ms)),
        "ready_most_ms": max(ready_ms),
        "browser_cpu_s": float(np.median(spent_s)),
        "frames_a_s": float(np.median(frames_a_s)),
        "frames_least": min(frames_a_s),
        "level_most": max(levels),
    }


def _browser_s() -> float:
    """Return the processor time of all processes of this one's browser."""
    spent = 0.0
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and "chrom" in (folder / "comm").read_text(encoding="ascii"):
                spent += processor_s(int(folder.name))
        except OSError:  # it has ended meanwhile
            continue
    return spent
