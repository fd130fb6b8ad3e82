"""Contexts: from init to shutdown, with one DDS participant and the command line's arguments."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import weakref
from collections.abc import Callable
from inspect import ismethod
from typing import Any

from ros_embedded.rclpy.exceptions import NotInitializedException, RCLError
from ros_embedded.rclpy.impl.arguments import RosArguments, parse_arguments
from ros_embedded.rclpy.impl.logging_output import configure
from ros_embedded.rclpy.impl.participant import Participant
from ros_embedded.rclpy.impl.security import check_security
from ros_embedded.rclpy.impl.wait_set import Guard

_alive: weakref.WeakSet[Context] = weakref.WeakSet()


class Context:
    """A context; `init` joins the domain, `shutdown` leaves it for good."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._callbacks: list[Callable[[], Callable[[], None] | None]] = []
        self._participant: Participant | None = None
        self._domain_id = 0
        self._ok = False
        self.ended_by_signal = False
        self.arguments = RosArguments()
        self.guards: weakref.WeakSet[Guard] = weakref.WeakSet()

    @property
    def handle(self) -> Participant | None:
        """The participant; None before init."""
        return self._participant

    @property
    def participant(self) -> Participant:
        """The participant. Raises NotInitializedException."""
        if self._participant is None:
            raise NotInitializedException()
        return self._participant

    def destroy(self) -> None:
        self.try_shutdown()

    def init(
        self, args: list[str] | None = None, *, initialize_logging: bool = True, domain_id: int | None = None
    ) -> None:
        """Join `domain_id`, ROS_DOMAIN_ID or 0; `args` default to sys.argv.

        Raises:
            RuntimeError: it is called twice, or the environment enforces security, which is not there.
        """
        with self._lock:
            if domain_id is not None and domain_id < 0:
                raise RuntimeError(f"Domain id ({domain_id}) should not be lower than zero.")
            if self._participant is not None:
                raise RuntimeError("Context.init() must only be called once")
            self.arguments = parse_arguments(sys.argv if args is None else args)
            self._domain_id = int(os.environ.get("ROS_DOMAIN_ID") or 0) if domain_id is None else domain_id
            if initialize_logging:
                configure(self.arguments)
            check_security()
            self._participant = Participant(self._domain_id)
            self._ok = True
            _alive.add(self)

    def ok(self) -> bool:
        return self._ok

    def shutdown(self) -> None:
        """Leave the domain. Raises RuntimeError when there is nothing to shut down."""
        if self._participant is None:
            raise RuntimeError("Context must be initialized before it can be shutdown")
        if not self._ok:
            raise RCLError("failed to shutdown: rcl_shutdown already called on the given context")
        self.try_shutdown()

    def try_shutdown(self) -> None:
        with self._lock:
            if not self._ok or self._participant is None:
                return
            self._ok, self._participant.is_ending = False, True
            callbacks, self._callbacks = self._callbacks, []
        for reference in callbacks:
            callback = reference()
            if callback is not None:
                callback()
        self._participant.close()

    def on_shutdown(self, callback: Callable[[], None]) -> None:
        """Call `callback` at shutdown; at once if that has passed. Methods are held weakly."""
        if not callable(callback):
            raise TypeError("callback should be a callable, got {}", type(callback))
        with self._lock:
            if self._participant is None or self._ok:
                is_method = ismethod(callback)
                reference = weakref.WeakMethod(callback, self._forget_callback) if is_method else lambda: callback
                self._callbacks.append(reference)
                return
        callback()

    def _forget_callback(self, reference: Any) -> None:
        with contextlib.suppress(ValueError):
            self._callbacks.remove(reference)

    def wake(self) -> None:
        """Wake the executors, so that their threads can run signal handlers."""
        for guard in list(self.guards):
            guard.trigger()

    def get_domain_id(self) -> int:
        """The domain. Raises RuntimeError before init."""
        if self._participant is None:
            raise RuntimeError("Context must be initialized before it can have a domain id")
        return self._domain_id

    def __enter__(self) -> Context:
        self.init()
        return self

    def __exit__(self, *_: object) -> None:
        self.try_shutdown()


def contexts_alive() -> list[Any]:
    """The contexts that are initialised and not shut down."""
    return [context for context in list(_alive) if context.ok()]
