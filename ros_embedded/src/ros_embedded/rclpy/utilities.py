"""The default context and what depends on it."""

from __future__ import annotations

import sys
import threading

from ros_embedded.rclpy.context import Context
from ros_embedded.rclpy.impl.arguments import parse_arguments, split_arguments

_default_context: Context | None = None
_lock = threading.Lock()


def get_default_context(*, shutting_down: bool = False) -> Context:
    """The process-wide context; a fresh one after a shutdown."""
    global _default_context
    with _lock:
        if _default_context is None:
            _default_context = Context()
        elif shutting_down:
            old, _default_context = _default_context, None
            return old
        return _default_context


def remove_ros_args(args: list[str] | None = None) -> list[str]:
    """`args`, by default sys.argv, without those for ROS. Raises RCLInvalidROSArgsError or UnknownROSArgsError."""
    given = sys.argv if args is None else args
    parse_arguments(given)
    return split_arguments(given)[0]


def ok(*, context: Context | None = None) -> bool:
    """True while the context is initialised and not shut down."""
    return (get_default_context() if context is None else context).ok()


def shutdown(*, context: Context | None = None) -> None:
    """Shut a context down, by default the default one. Raises RuntimeError when it is not running."""
    if context is None:
        context = get_default_context()
        context.shutdown()
        get_default_context(shutting_down=True)
    else:
        context.shutdown()


def try_shutdown(*, context: Context | None = None) -> None:
    """Shut a context down unless it is already."""
    if context is None:
        context = get_default_context()
        was_ok = context.ok()
        context.try_shutdown()
        if was_ok or context.handle is not None:
            get_default_context(shutting_down=True)
    else:
        context.try_shutdown()


def get_rmw_implementation_identifier() -> str:
    """The name of the middleware that is spoken on the wire."""
    return "rmw_cyclonedds_cpp"


def timeout_sec_to_nsec(timeout_sec: float | None) -> int:
    """Seconds in nanoseconds; None and negative mean for ever, which is -1."""
    if timeout_sec is None or timeout_sec < 0:
        return -1
    nanoseconds = int(float(timeout_sec) * 1000000000)
    return nanoseconds if nanoseconds < 2**63 else -1
