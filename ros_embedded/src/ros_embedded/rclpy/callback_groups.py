"""Which callbacks may run at the same time."""

from __future__ import annotations

import threading
from typing import Any
from weakref import WeakSet


class CallbackGroup:
    """Decides whether the callback of one of its entities may start."""

    def __init__(self) -> None:
        self.entities: WeakSet[Any] = WeakSet()

    def add_entity(self, entity: Any) -> None:
        self.entities.add(entity)

    def remove_entity(self, entity: Any) -> None:
        self.entities.discard(entity)

    def can_execute(self, entity: Any) -> bool:
        """True if the entity's callback may start now."""
        raise NotImplementedError

    def beginning_execution(self, entity: Any) -> bool:
        """Note that the callback starts; False if it may not."""
        raise NotImplementedError

    def ending_execution(self, entity: Any) -> None:
        """Note that the callback has ended."""
        raise NotImplementedError


class ReentrantCallbackGroup(CallbackGroup):
    """Callbacks run in parallel without limit."""

    def can_execute(self, entity: Any) -> bool:
        return True

    def beginning_execution(self, entity: Any) -> bool:
        return True

    def ending_execution(self, entity: Any) -> None:
        """No effect."""


class MutuallyExclusiveCallbackGroup(CallbackGroup):
    """One callback at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._active_entity: Any = None
        self._lock = threading.Lock()

    def can_execute(self, entity: Any) -> bool:
        with self._lock:
            return self._active_entity is None

    def beginning_execution(self, entity: Any) -> bool:
        with self._lock:
            if self._active_entity is not None:
                return False
            self._active_entity = entity
            return True

    def ending_execution(self, entity: Any) -> None:
        """Raises RuntimeError if it is not the one that runs."""
        with self._lock:
            if self._active_entity is not entity:
                raise RuntimeError("Entity not executing in this group")
            self._active_entity = None
