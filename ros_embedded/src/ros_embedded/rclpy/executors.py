"""Executors: wait for work of their nodes and run its callbacks."""
# ruff: noqa: N818 - rclpy's names

from __future__ import annotations

import contextlib
import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ros_embedded.rclpy.context import Context
from ros_embedded.rclpy.exceptions import InvalidHandle
from ros_embedded.rclpy.impl.cyclone import DDSError
from ros_embedded.rclpy.impl.entity import ExecutableEntity
from ros_embedded.rclpy.impl.node_interface import NodeInterface
from ros_embedded.rclpy.impl.wait_set import Guard, WaitSet
from ros_embedded.rclpy.task import Future, Task
from ros_embedded.rclpy.task import await_or_execute as await_or_execute  # rclpy's API
from ros_embedded.rclpy.timer import Timer
from ros_embedded.rclpy.utilities import get_default_context, timeout_sec_to_nsec


class TimeoutException(Exception):
    """Nothing to do within the time."""


class ShutdownException(Exception):
    """The executor has been shut down."""


class ExternalShutdownException(Exception):
    """The context has been shut down."""


class ConditionReachedException(Exception):
    """The condition waited for is true."""


_FOR_EVER_NS = 2**62


class Executor:
    """The base of executors: it waits for work of its nodes and hands it out as tasks."""

    def __init__(self, *, context: Context | None = None) -> None:
        self._context = get_default_context() if context is None else context
        self._participant = self._context.participant
        self._nodes: set[NodeInterface] = set()
        self._nodes_lock = threading.RLock()
        self._tasks: deque[Task] = deque()  # ready to start or resume
        self._turns = 0  # tasks that may still run before entities get their turn
        self._is_entities_turn = False
        self._guard = Guard(self._participant.entity)
        self._wait_set = WaitSet(self._participant.entity)
        self._entities: dict[int | None, ExecutableEntity] = {}
        self._order: dict[ExecutableEntity, tuple[int, NodeInterface]] = {}
        self._timers: list[Timer] = []
        self._blocked: set[ExecutableEntity] = set()  # ready, but their callback group is busy
        self._ready: deque[ExecutableEntity] = deque()
        self._is_stale = True
        self._is_shutdown = False
        self._ends_silently = False  # no exception when a call shuts the context down; for rclpy.spin
        self._running = 0
        self._idle = threading.Condition()
        self._thread = threading.local()
        self._context.guards.add(self._guard)
        self._context.on_shutdown(self.wake)

    @property
    def context(self) -> Context:
        return self._context

    def create_task(self, callback: Callable[..., Any] | Coroutine[Any, Any, Any], *args: Any, **kwargs: Any) -> Task:
        """Run a function or coroutine while spinning; the task is the future of its result."""
        task = Task(callback, args, kwargs, executor=self)
        self._schedule(task)
        return task

    def _schedule(self, task: Task) -> None:
        self._tasks.append(task)
        self.wake()

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Stop spinning and wait for running callbacks; False if some are still running after `timeout_sec`."""
        self._is_shutdown = True
        self.wake()
        own = int(getattr(self._thread, "is_executing", False))  # a callback that shuts down does not wait for itself
        with self._idle:
            finished = self._idle.wait_for(lambda: self._running <= own, timeout_sec)
        if finished:
            with self._nodes_lock:
                for node in self._nodes:
                    self._release(node)
                self._nodes.clear()
            self._context.guards.discard(self._guard)
            if not self._participant.lifetime.is_over:
                self._guard.close()
                self._wait_set.close()
        return finished

    def add_node(self, node: NodeInterface) -> bool:
        """Add a node; False if it has been added already."""
        with self._nodes_lock:
            if node in self._nodes:
                return False
            self._nodes.add(node)
        node.executor = self
        self._refresh()
        return True

    def remove_node(self, node: NodeInterface) -> None:
        """Remove a node; tasks that it has created here, such as goals that execute, still run."""
        with self._nodes_lock:
            self._nodes.discard(node)
        self._refresh()

    def _release(self, node: NodeInterface) -> None:
        if node.executor is self:
            node._rclpy_core.executor = None

    def get_nodes(self) -> list[NodeInterface]:
        with self._nodes_lock:
            return list(self._nodes)

    def wake(self) -> None:
        if not self._participant.lifetime.is_over:
            self._guard.trigger()

    def _refresh(self) -> None:
        """Note that nodes or their entities have changed."""
        self._is_stale = True
        self.wake()

    def spin(self) -> None:
        """Run callbacks until the executor or its context is shut down; the latter raises ExternalShutdownException."""
        while self._context.ok() and not self._is_shutdown:
            self.spin_once()
        if not self._is_shutdown:
            self.spin_once()  # raises ExternalShutdownException, also if the context ended between two rounds

    def spin_until_future_complete(self, future: Future, timeout_sec: float | None = None) -> None:
        """Run callbacks until `future` is done, or `timeout_sec` has passed (None: no limit)."""
        future.add_done_callback(lambda _: self.wake())
        limit_ns = timeout_sec_to_nsec(timeout_sec)
        deadline = time.monotonic_ns() + (limit_ns if limit_ns >= 0 else _FOR_EVER_NS)
        while self._context.ok() and not future.done() and not future.cancelled() and not self._is_shutdown:
            remaining_ns = max(0, deadline - time.monotonic_ns())
            self._spin_once_impl(remaining_ns / 1e9 if limit_ns >= 0 else None, future.done)
            if limit_ns >= 0 and time.monotonic_ns() >= deadline:
                return

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Run one callback, waiting for it up to `timeout_sec` (None: no limit)."""
        self._spin_once_impl(timeout_sec)

    def can_execute(self, entity: ExecutableEntity) -> bool:
        return entity.callback_group is None or entity.callback_group.can_execute(entity)

    def _spin_once_impl(self, timeout_sec: float | None, condition: Callable[[], bool] = lambda: False) -> None:
        raise NotImplementedError

    def wait_for_ready_callbacks(
        self,
        timeout_sec: float | None = None,
        nodes: list[NodeInterface] | None = None,
        condition: Callable[[], bool] = lambda: False,
    ) -> tuple[Task, ExecutableEntity | None, NodeInterface | None]:
        """Wait for the next task, and return it with the entity and node that it comes from, if any.

        Raises TimeoutException, ShutdownException, ExternalShutdownException or ConditionReachedException if there is
        none; `nodes` limits it to the work of these.
        """
        limit_ns = timeout_sec_to_nsec(timeout_sec)
        deadline = time.monotonic_ns() + (limit_ns if limit_ns >= 0 else _FOR_EVER_NS)
        while True:
            self._raise_if_over(condition)
            task = self._waiting_task()
            if task is not None:
                return task, None, None
            work = self._ready_work(nodes)
            if work is not None:
                return work
            if self._tasks and not self._is_entities_turn:
                self._turns, self._is_entities_turn = len(self._tasks), True
                continue
            self._is_entities_turn = False
            remaining_ns = deadline - time.monotonic_ns()
            was_last = remaining_ns <= 0
            is_idle = not self._wait(0 if self._tasks else max(0, remaining_ns))
            if is_idle and was_last and not self._tasks:
                if condition():
                    raise ConditionReachedException
                raise TimeoutException

    def _raise_if_over(self, condition: Callable[[], bool]) -> None:
        """Raise for what ends a wait: shut down, or the condition is met."""
        if self._is_shutdown:
            raise ShutdownException
        if not self._context.ok():
            silent = self._ends_silently and not self._context.ended_by_signal
            raise ShutdownException if silent else ExternalShutdownException
        if condition():
            raise ConditionReachedException

    def _waiting_task(self) -> Task | None:
        """The next task while it is the tasks' turn."""
        with contextlib.suppress(IndexError):  # another thread that spins may have taken it
            if self._turns > 0:
                self._turns -= 1
                return self._tasks.popleft()
        return None

    def _ready_work(self, nodes: list[NodeInterface] | None) -> tuple[Task, ExecutableEntity, NodeInterface] | None:
        while self._ready:
            entity = self._ready.popleft()
            _, node = self._order[entity]
            if entity._destroyed or (nodes is not None and node not in nodes):
                continue
            group = entity.callback_group
            if group is not None and not group.beginning_execution(entity):
                self._wait_set.detach(entity._condition)
                self._blocked.add(entity)
                continue
            try:
                with entity.handle:
                    call = entity._take()
            except (DDSError, InvalidHandle):  # shut down or destroyed meanwhile
                call = None
            if call is not None:
                return Task(self._execute, (entity, call), executor=self), entity, node
            if group is not None:
                group.ending_execution(entity)
        return None

    async def _execute(self, entity: ExecutableEntity, call: Callable[[], Any]) -> None:
        try:
            await await_or_execute(call)
        finally:
            if entity.callback_group is not None:
                entity.callback_group.ending_execution(entity)
            if self._blocked:
                self.wake()

    def _begin(self) -> None:
        """Count one more task as running, until _run() has run it."""
        with self._idle:
            self._running += 1

    def _run(self, task: Task) -> None:
        self._thread.is_executing = True
        try:
            task()
        finally:
            self._thread.is_executing = False
            self._finish()

    def _finish(self) -> None:
        """Count one task less as running."""
        with self._idle:
            self._running -= 1
            self._idle.notify_all()

    def _wait(self, timeout_ns: int) -> bool:
        """Sleep until work is ready, or the time has passed; True if there may be some."""
        for entity in list(self._blocked):
            if self.can_execute(entity):
                self._blocked.discard(entity)
                self._wait_set.attach(entity._condition)
        if self._is_stale:
            self._is_stale = False
            self._attach_all()
        for timer in self._timers:
            sleep_ns = timer._sleep_ns()
            if sleep_ns is not None and timer not in self._blocked:
                timeout_ns = min(timeout_ns, sleep_ns)
        try:
            with self._participant.lifetime:
                triggered = self._wait_set.wait(timeout_ns)
        except DDSError:  # shut down meanwhile: the caller finds that out
            return True
        ready: list[ExecutableEntity] = [
            timer for timer in self._timers if timer.is_ready() and timer not in self._blocked
        ]
        for condition in triggered:
            if condition == self._guard.condition:
                self._guard.reset()
            elif condition in self._entities:
                ready.append(self._entities[condition])
            else:
                self._refresh_graph()
        self._ready.extend(sorted(ready, key=self._order.__getitem__))
        return bool(self._ready) or bool(triggered)

    def _refresh_graph(self) -> None:
        """Read the news of discovery; unread, they would fill memory in a long run."""
        with contextlib.suppress(DDSError):  # shut down meanwhile: the caller finds that out
            self._participant.graph.refresh()

    def _attach_all(self) -> None:
        owners = {
            entity: node
            for node in self.get_nodes()
            for entity in sorted(node._rclpy_core.executables, key=lambda entity: entity._PLACE)
        }
        entities = list(owners)
        self._order = {entity: (place, node) for place, (entity, node) in enumerate(owners.items())}
        self._timers = [entity for entity in entities if isinstance(entity, Timer)]
        self._entities = {entity._condition: entity for entity in entities if entity._condition is not None}
        self._blocked &= set(entities)
        blocked = {entity._condition for entity in self._blocked}
        self._wait_set.attach_exactly(
            {self._guard.condition, *self._participant.graph.conditions, *self._entities} - blocked
        )

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()


_NO_WORK = (ShutdownException, TimeoutException, ConditionReachedException)


class SingleThreadedExecutor(Executor):
    """Runs callbacks in the thread that spins; spin raises their exceptions."""

    def _spin_once_impl(self, timeout_sec: float | None, condition: Callable[[], bool] = lambda: False) -> None:
        try:
            task, _, _ = self.wait_for_ready_callbacks(timeout_sec, None, condition)
        except _NO_WORK:
            return
        self._begin()
        self._run(task)
        if task.done():
            task.result()


class MultiThreadedExecutor(Executor):
    """Runs callbacks in a pool of threads, by default as many as the process may use cores."""

    def __init__(self, num_threads: int | None = None, *, context: Context | None = None) -> None:
        super().__init__(context=context)
        if num_threads is None:
            affinity: Iterable[int] = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
            num_threads = len(list(affinity)) or os.cpu_count() or 2
        if num_threads == 1:
            warnings.warn(
                "MultiThreadedExecutor is used with a single thread.\nUse the SingleThreadedExecutor instead.",
                stacklevel=2,
            )
        self._futures: list[Task] = []
        self._executor = ThreadPoolExecutor(num_threads, thread_name_prefix="executor")
        # All threads at once: a pool fills up as callbacks happen to overlap, which in a process that is watched for
        # hours looks like a leak.
        together = threading.Barrier(num_threads)
        for _ in range(num_threads):
            self._executor.submit(together.wait)

    def _spin_once_impl(self, timeout_sec: float | None, condition: Callable[[], bool] = lambda: False) -> None:
        try:
            task, _, _ = self.wait_for_ready_callbacks(timeout_sec, None, condition)
        except (*_NO_WORK, ExternalShutdownException):
            return
        self._futures.append(task)
        self._begin()
        try:
            self._executor.submit(self._run, task)
        except RuntimeError:  # another thread has shut the pool down since the task was found
            self._finish()
            task._abandon()
            if not self._is_shutdown:
                raise
            return
        for future in list(self._futures):
            if future.done():
                self._futures.remove(future)
                future.result()

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Stop spinning and wait for running callbacks; False if some are still running after `timeout_sec`."""
        finished = super().shutdown(timeout_sec)
        self._executor.shutdown(wait=False)
        return finished
