"""How fast the page is ready in a headless Chromium, and how many frames a second it draws while its view turns."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.inspected_process import inspected_by, stored_memory
from benchmarks.process_figures import processor_s
from memory_node.domain.errors import RobotMemoryError

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
