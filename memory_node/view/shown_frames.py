"""Frames are shown beside the work on them: the newest one at a time, so that a viewer never holds the camera up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.observation import Frame
from memory_node.domain.process import WorkerThread
from memory_node.domain.scene import SceneObject
from memory_node.view.view import View

_WAIT_S, _STOP_S = 0.5, 1.0


class ShownFrames:
    """Shows the newest frame in a thread of its own; frames that come while it is busy are skipped, and counted.

    Args:
        view: shows them; it is closed with this.
        objects: returns what is remembered now.
    """

    def __init__(self, view: View, objects: Callable[[], Sequence[SceneObject]]) -> None:
        self._view = view
        self._objects = objects
        self._changed = threading.Condition()
        self._newest: tuple[NDArray[np.uint8], Frame] | None = None
        self._ended = False
        self._shown = 0
        self._skipped = 0
        self._thread = WorkerThread("view", self._work_off)
        self._thread.start()

    def show(self, color: NDArray[np.uint8], frame: Frame) -> None:
        """Show an RGB image (h, w, 3) with its frame, unless a newer one comes first."""
        with self._changed:
            self._skipped += self._newest is not None
            self._newest = (color, frame)
            self._changed.notify()

    def figures(self) -> dict[str, int]:
        """Return how many frames were shown and how many skipped."""
        with self._changed:
            return {"shown.frames": self._shown, "skipped.busy": self._skipped}

    def close(self) -> None:
        """Finish the frame that is being shown, and show no more."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join(_STOP_S)
        self._view.close()

    def _work_off(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._newest is not None or self._ended, _WAIT_S)
                newest, self._newest = self._newest, None
                if self._ended:
                    return
            if newest is not None:
                color, frame = newest
                self._view.show(color, frame, self._objects())
                with self._changed:
                    self._shown += 1
