"""Starts nodes: one by name in its own process, or several composed in one."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import importlib.util
import logging
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from memory_node.domain.errors import InvalidValueError, PortTakenError, RobotMemoryError, StoreError
from memory_node.domain.parameter_file import parameter_blocks
from memory_node.domain.process import end_at_once
from memory_node.domain.resources import share_folders

if TYPE_CHECKING:
    from memory_node.nodes.guarded_node import GuardedNode


def give_back() -> None:
    """Return free pages of the C library's memory to the system; other C libraries than glibc keep theirs.

    glibc itself returns only what is free at the end of its memory. What images and answers needed lies between what
    stays, so that a node would for ever take what it took in its busiest moment. One call takes some milliseconds, 20
    for 350 MB.
    """
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


# name -> (module, class); `ros2 run robot_memory NAME` and the composed process start the same classes.
NODES = {
    "memory": ("memory_node.nodes.memory", "MemoryNode"),
    "planner": ("memory_node.nodes.planner", "PlannerNode"),
    "skills": ("memory_node.nodes.skills", "SkillsNode"),
    "detector": ("memory_node.nodes.detector", "DetectorNode"),
    "home": ("memory_node.nodes.home", "HomeNode"),
    "body": ("memory_node.nodes.body", "BodyNode"),
}

# An environment variable: "1" lets the nodes end with the process that started them.
END_WITH_PARENT = "ROBOT_MEMORY_END_WITH_PARENT"
# What the last line says of a node that a user has to help.
CANNOT_START = "cannot start:"
_PARENT_POLL_S = 0.3
# A node gives freed memory back to the system so often.
GIVE_BACK_EVERY_S = 60.0
# Of DDSI-RTPS: from 102 on, Linux may have given its ports to other programs.
_LAST_DOMAIN = 232
# A process ends within 2 s of a signal: 1.2 for goals, the rest for answers, threads and the database.
_GOALS_END_S = 1.2
_RESULTS_LEAVE_S = 0.1
_SPIN_END_S = 0.2
_THREADS_END_S = 0.2
# Cyclone DDS lets each writer stay for a second when a reader that was killed has not confirmed what it was sent; a
# node that ends has seen to it that its results arrived. Its sockets ask for 1 MB of receive buffer, less than a depth
# image: best-effort images are lost, whatever the kernel allows.
_CYCLONE = (
    "<CycloneDDS><Domain><Internal><WriterLingerDuration>100 ms</WriterLingerDuration>"
    '<SocketReceiveBufferSize max="16MB"/></Internal></Domain></CycloneDDS>'
)


def activate_ros() -> None:
    """Make `import rclpy` work: the real one where it imports, ros_embedded elsewhere or as ROS_EMBEDDED asks.

    Raises:
        RobotMemoryError: neither is installed.
    """
    if os.environ.get("ROS_EMBEDDED") not in ("1", "companions") and importlib.util.find_spec("rclpy") is not None:
        return
    try:
        from ros_embedded import activate, add_interface_folder
    except ImportError as error:
        raise RobotMemoryError(
            f"no rclpy: source a ROS 2, or install ros_embedded with the extra `embedded` ({error})"
        ) from error
    add_interface_folder("robot_memory", share_folders()[0])
    activate()


def run_nodes(names: Sequence[str], argv: Sequence[str] | None = None, threads: int = 6) -> int:
    """Run nodes in one process until SIGINT, SIGTERM or a shutdown; return the exit status.

    It is EX_CONFIG (78) where the node would end again if it was started again: by a wrong parameter, a missing file.
    A signal first ends what the nodes have running, with results for those who wait, and then the nodes. The
    handlers of rclpy would take away at once the middleware that a robot is stopped by.
    """
    try:
        activate_ros()
    except RobotMemoryError as error:
        return _refused(names, error, os.EX_CONFIG)
    import rclpy
    from rclpy.executors import MultiThreadedExecutor
    from rclpy.signals import SignalHandlerOptions
    from rclpy.utilities import remove_ros_args

    end = _EndOnSignal()
    words = list(argv) if argv is not None else sys.argv
    try:
        checked_domain(os.environ.get("ROS_DOMAIN_ID") or 0, "ROS_DOMAIN_ID")
        _check_parameter_files(words)
        remove_ros_args(args=words)
    except (RobotMemoryError, RuntimeError) as error:  # rclpy's own for wrong arguments are RuntimeErrors
        return _refused(names, error, os.EX_CONFIG)
    configure_cyclone()
    try:
        rclpy.init(args=words, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # a network interface or a port may come, keys that are missing do not
        return _refused(names, error, os.EX_CONFIG if os.environ.get("ROS_SECURITY_ENABLE") == "true" else 1)
    executor = MultiThreadedExecutor(num_threads=threads)
    spinning = _Spinning(executor, end)
    nodes: list[GuardedNode] = []
    try:
        for name in names:
            module, class_name = NODES[name]
            try:
                nodes.append(getattr(importlib.import_module(module), class_name)())
            except RobotMemoryError as error:  # what a user has to put right: a path, a parameter, a database
                # a server may come, a lock or an earlier process may go
                return _refused([name], error, 1 if isinstance(error, (StoreError, PortTakenError)) else os.EX_CONFIG)
            executor.add_node(nodes[-1])
        gc.freeze()  # objects of the start stay: full garbage collections must not visit them while messages wait
        spinning.start()
        end.wait()
        _end_goals(nodes)
        return spinning.stop()
    except KeyboardInterrupt:
        return 0
    finally:
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()


def _refused(names: Sequence[str], error: Exception, status: int) -> int:
    """Say in one line why nodes cannot start; return the exit status."""
    print(f"{' and '.join(names)} {CANNOT_START} {' '.join(str(error).split())}", file=sys.stderr)
    return status


def configure_cyclone() -> None:
    """Have Cyclone DDS take writers away soon and hold more of what comes; the user's CYCLONEDDS_URI is last and wins.

    Before rclpy.init. Other middlewares do not read it.
    """
    own = os.environ.get("CYCLONEDDS_URI", "")
    if _CYCLONE not in own:
        os.environ["CYCLONEDDS_URI"] = f"{_CYCLONE},{own}" if own else _CYCLONE


def checked_domain(value: str | int, what: str) -> int:
    """Return the number of a ROS domain; what: where it was given.

    Raises:
        InvalidValueError: it is none; the ports of DDS leave room for 0 to 232.
    """
    try:
        number = int(value)
    except ValueError:
        number = -1
    if not 0 <= number <= _LAST_DOMAIN:
        raise InvalidValueError(f"{what}: expected 0 to 101, at most {_LAST_DOMAIN}, got {str(value)!r:.40}")
    return number


def _check_parameter_files(words: Sequence[str]) -> None:
    """Check the parameter files of a command line before rcl does, whose messages are long or incomplete.

    Raises:
        InvalidValueError: a file is missing, or is none of ROS parameters.
    """
    for word, path in pairwise(words):
        if word == "--params-file":
            parameter_blocks(Path(path))


class _EndOnSignal:
    """SIGINT and SIGTERM end the process: while nodes are being made by an exception, later by waking who waits here.

    Further ones change nothing: launch and the terminal both send one, and making memory durable must not be cut off.
    The end of the parent process ends it as well, if the environment says so: a demo or a test that is killed leaves no
    process behind.
    """

    def __init__(self) -> None:
        self._parent = os.getppid() if os.environ.get(END_WITH_PARENT) == "1" else 0
        self._is_waited_for = False
        self._is_asked = False
        self._asked = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def wait(self) -> None:
        """Wait for a signal, for `set`, or for the end of the parent; meanwhile give back memory that was freed."""
        self._is_waited_for = True
        give_back()
        given_back_s = time.monotonic()
        while not self._asked.wait(_PARENT_POLL_S if self._parent else GIVE_BACK_EVERY_S):
            if self._parent and os.getppid() != self._parent:
                return
            if time.monotonic() - given_back_s >= GIVE_BACK_EVERY_S:
                give_back()
                given_back_s = time.monotonic()

    def set(self) -> None:
        """Wake who waits."""
        self._asked.set()

    def _on_signal(self, *_: object) -> None:
        first, self._is_asked = not self._is_asked, True
        self._asked.set()
        if first and not self._is_waited_for:
            raise KeyboardInterrupt


class _Spinning:
    """The executor's thread; the main thread is left to the signals."""

    def __init__(self, executor: Any, end: _EndOnSignal) -> None:
        self._executor = executor
        self._end = end
        self._is_stopping = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._spin, name="spin", daemon=True)

    def start(self) -> None:
        """Spin until `stop`; what a callback raises sets the event that ends the process."""
        self._thread.start()

    def stop(self) -> int:
        """Run no further callback; return the exit status."""
        self._is_stopping = True
        self._executor.shutdown(timeout_sec=_SPIN_END_S)
        self._thread.join(_SPIN_END_S)
        return 0 if self._error is None else 1

    def _spin(self) -> None:
        from memory_node.nodes.spinning import spin

        try:
            spin(self._executor)
        except Exception as error:  # the boundary of the process: the robot is stopped before it ends
            # rclpy's shutdown destroys objects that this thread is about to wait on: that is no failure.
            if not (self._is_stopping and isinstance(error, RuntimeError)):
                self._error = error
                traceback.print_exc()
        self._end.set()


def _end_goals(nodes: Sequence[GuardedNode]) -> None:
    """Tell every node to end its running goals, and wait until they have ended and their clients know."""
    for node in nodes:
        node.end()
    deadline_s = time.monotonic() + _GOALS_END_S
    while not all(node.is_idle for node in nodes) and time.monotonic() < deadline_s:
        time.sleep(0.01)
    time.sleep(_RESULTS_LEAVE_S)


def run_node(name: str) -> NoReturn:
    """Run one node in this process, and end it (what the executables call)."""
    end_process(run_nodes([name]))


def end_process(status: int) -> NoReturn:
    """Exit at once, also where a thread is still in a call that nothing can interrupt, to a language model for example.

    What was registered for the end of the process is done, unless such a thread could keep it waiting.
    """
    stuck = [t for t in threading.enumerate() if t is not threading.main_thread() and not t.daemon and t.is_alive()]
    for thread in stuck:
        thread.join(_THREADS_END_S / len(stuck))
    if not any(thread.is_alive() for thread in stuck):
        end_at_once(status)
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    # python -m memory_node.nodes.run memory planner [--ros-args ...]
    chosen = [word for word in sys.argv[1:] if word in NODES]
    end_process(run_nodes(chosen, [sys.argv[0], *(word for word in sys.argv[1:] if word not in NODES)]))
