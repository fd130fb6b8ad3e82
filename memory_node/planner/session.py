"""A person's session with the planner, kept in a file, so that a restarted planner continues it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from memory_node.domain.scene import SceneSnapshot
from memory_node.planner.reading.conversation import Conversation

_LOG = logging.getLogger(__name__)


@dataclass
class Kept:
    """What the file holds.

    ended_ns: when the last instruction ended, in nanoseconds of the node's clock. places: ids of the floors and areas
    that memory knew then: another memory knows none of them, and the things spoken of are not in it.
    """

    ended_ns: int = 0
    places: frozenset[str] = frozenset()
    conversation: Conversation = field(default_factory=Conversation)


_FORM = TypeAdapter(Kept)


class Session:
    """The conversation that goes on from one instruction to the next.

    path: where it is kept; None keeps it in this process only. lasts_s: a session ends that long after its last
    instruction, or when the person says so.
    """

    def __init__(self, path: Path | None, lasts_s: float) -> None:
        self._path = path
        self._lasts_ns = round(lasts_s * 1e9)
        self._kept = self._read()
        self._is_restored = bool(self._kept.ended_ns)

    def conversation(self, now_ns: int, scene: Callable[[], SceneSnapshot]) -> Conversation:
        """Return the conversation that an instruction goes on with; a new one after a silence or in another home.

        scene: what memory knows; it is asked once, where the session comes from the file.
        """
        silence_ns = now_ns - self._kept.ended_ns
        moved = self._is_restored and not self._kept.places & _places(scene())
        if moved or not 0 <= silence_ns <= self._lasts_ns:  # a clock that was set back tells nothing of how long it was
            self._kept = Kept()
        self._is_restored = False
        return self._kept.conversation

    def note(self, now_ns: int, scene: Callable[[], SceneSnapshot]) -> None:
        """Take note that an instruction has ended. A file that cannot be written is said in the log."""
        self._kept.ended_ns = now_ns
        if self._path is None:
            return
        self._kept.places = _places(scene())
        partial = self._path.with_suffix(".part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(_FORM.dump_json(self._kept))
            os.replace(partial, self._path)
        except OSError as error:
            _LOG.warning("the session cannot be kept in %s: %s", self._path, error)

    def _read(self) -> Kept:
        if self._path is None or not self._path.is_file():
            return Kept()
        try:
            return _FORM.validate_json(self._path.read_bytes())
        except (OSError, ValidationError) as error:
            _LOG.warning("the session in %s cannot be read, a new one begins: %s", self._path, type(error).__name__)
            return Kept()


def _places(scene: SceneSnapshot) -> frozenset[str]:
    return frozenset({floor.id for floor in scene.floors} | {area.id for area in scene.areas})
