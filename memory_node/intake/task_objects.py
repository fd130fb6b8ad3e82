"""Which classes the running episodes are about: the short-term memory keeps their objects until the task is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence


class TaskObjects:
    """Follows episodes from outside: what their instructions name, and what their next action touches. Thread-safe.

    named: returns the classes that an instruction speaks of. pin: is told all classes whenever they change. task: the
    instruction of the episode that began last.
    """

    def __init__(
        self, named: Callable[[str], Iterable[str]], pin: Callable[[Sequence[str]], object], most_episodes: int = 8
    ) -> None:
        self._named = named
        self._pin = pin
        self._most_episodes = most_episodes
        self._lock = threading.Lock()
        self._of_instruction: dict[str, frozenset[str]] = {}
        self._of_action: dict[str, frozenset[str]] = {}
        self._classes: tuple[str, ...] = ()
        self.task = ""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that the running episodes are about."""
        return self._classes

    def start(self, episode_id: str, instruction: str) -> None:
        """Begin with what the instruction names."""
        named = frozenset(self._named(instruction))
        with self._lock:
            self.task = instruction
            self._of_instruction[episode_id] = named
            while len(self._of_instruction) > self._most_episodes:
                # Its planner went away without a word.
                self._leave(next(iter(self._of_instruction)))
            self._changed()

    def touch(self, episode_id: str, classes: Iterable[str]) -> None:
        """Take the classes of the next action, in place of the last one's."""
        with self._lock:
            if episode_id in self._of_instruction:
                self._of_action[episode_id] = frozenset(classes)
                self._changed()

    def end(self, episode_id: str) -> None:
        """Release an episode's objects."""
        with self._lock:
            self._leave(episode_id)
            self._changed()

    def _leave(self, episode_id: str) -> None:
        self._of_instruction.pop(episode_id, None)
        self._of_action.pop(episode_id, None)

    def _changed(self) -> None:
        classes = tuple(sorted(frozenset().union(*self._of_instruction.values(), *self._of_action.values())))
        if classes != self._classes:
            self._classes = classes
            self._pin(classes)
