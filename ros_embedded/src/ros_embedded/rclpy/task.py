"""Futures, and the tasks that executors run."""

from __future__ import annotations

import inspect
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from ros_embedded.rclpy.impl.executor_interface import ExecutorInterface

_running = threading.local()  # .task: the task that this thread runs


class Future:
    """A result that is set later."""

    def __init__(self, *, executor: ExecutorInterface | None = None) -> None:
        self._done = self._cancelled = False
        self._result: Any = None
        self._exception: BaseException | None = None
        self._exception_fetched = False
        self._callbacks: list[Callable[[Future], Any]] = []
        self._waiting: list[Task] = []
        self._lock = threading.Lock()
        self._executor: Callable[[], ExecutorInterface | None] = lambda: None
        self._set_executor(executor)

    def __del__(self) -> None:
        if self._exception is not None and not self._exception_fetched:
            print(f"The following exception was never retrieved: {self._exception}", file=sys.stderr)

    def __await__(self) -> Generator[None, None, Any]:
        """Await the future in a coroutine of an executor; in one of asyncio it polls."""
        while not self._done:
            task = getattr(_running, "task", None)
            if task is not None:
                task._waits_for = self
            yield
        return self.result()

    def cancel(self) -> None:
        """Cancel the future unless it is done."""
        with self._lock:
            if not self._done:
                self._cancelled = True
        self._run_callbacks()

    def cancelled(self) -> bool:
        return self._cancelled

    def done(self) -> bool:
        return self._done

    def result(self) -> Any:
        """The result, or None while there is none. Raises the exception if one was set."""
        exception = self.exception()
        if exception is not None:
            raise exception
        return self._result

    def exception(self) -> BaseException | None:
        self._exception_fetched = True
        return self._exception

    def set_result(self, result: Any) -> None:
        with self._lock:
            self._result, self._done, self._cancelled = result, True, False
        self._run_callbacks()

    def set_exception(self, exception: BaseException) -> None:
        with self._lock:
            self._exception, self._exception_fetched = exception, False
            self._done, self._cancelled = True, False
        self._run_callbacks()

    def _run_callbacks(self) -> None:
        with self._lock:
            executor = self._executor()
            callbacks, self._callbacks = self._callbacks, []
            waiting, self._waiting = self._waiting, []
        for task in waiting:
            task._schedule()
        for callback in callbacks:
            if executor is not None:
                executor.create_task(callback, self)
                continue
            try:
                callback(self)
            except Exception as error:  # the other callbacks must still run
                warnings.warn(f"Unhandled exception in done callback: {error}", stacklevel=2)

    def _set_executor(self, executor: ExecutorInterface | None) -> None:
        self._executor = (lambda: None) if executor is None else weakref.ref(executor)

    def add_done_callback(self, callback: Callable[[Future], Any]) -> None:
        """Call `callback` with this future once it is done; at once if it is."""
        with self._lock:
            if not self._done:
                self._callbacks.append(callback)
                return
            executor = self._executor()
        if executor is not None:
            executor.create_task(callback, self)
        else:
            callback(self)

    def _wait(self, timeout_sec: float | None = None) -> bool:
        """Block until it is done, while another thread spins; False after `timeout_sec`."""
        event = threading.Event()
        self.add_done_callback(lambda _: event.set())
        return event.wait(timeout_sec)


class Task(Future):
    """A function or coroutine that an executor runs to completion."""

    def __init__(
        self,
        handler: Callable[..., Any] | Any,
        args: Any = None,
        kwargs: dict[str, Any] | None = None,
        executor: ExecutorInterface | None = None,
    ) -> None:
        super().__init__(executor=executor)
        self._handler: Any = handler
        self._args, self._kwargs = args or (), kwargs or {}
        if inspect.iscoroutinefunction(handler):
            self._handler = handler(*self._args, **self._kwargs)
        self._executing = False
        self._waits_for: Future | None = None
        self._task_lock = threading.Lock()

    def __call__(self) -> None:
        """Run the task, or resume its coroutine; no effect while it runs or once it is done."""
        if self._done or self._executing or not self._task_lock.acquire(blocking=False):
            return
        try:
            if self._done:
                return
            self._executing = True
            if inspect.iscoroutine(self._handler):
                self._step()
            else:
                try:
                    self._finish(result=self._handler(*self._args, **self._kwargs))
                except Exception as error:
                    self._finish(error)
        finally:
            self._executing = False
            self._task_lock.release()
        if not self._done:
            self._suspend()

    def _step(self) -> None:
        self._waits_for, _running.task = None, self
        try:
            self._handler.send(None)
        except StopIteration as end:
            self._handler.close()
            self._finish(result=end.value)
        except Exception as error:
            self._finish(error)
        finally:
            _running.task = None

    def _suspend(self) -> None:
        """Schedule the task for when the awaited future is done; at once if it awaits something else."""
        future = self._waits_for
        if future is not None:
            with future._lock:
                if not future._done:
                    future._waiting.append(self)
                    return
        self._schedule()

    def _schedule(self) -> None:
        executor = self._executor()
        if executor is not None:
            executor._schedule(self)

    def _finish(self, error: Exception | None = None, result: Any = None) -> None:
        self._handler, self._args, self._kwargs = None, (), {}
        if error is not None:
            self.set_exception(error)
        else:
            self.set_result(result)

    def _abandon(self) -> None:
        """Drop the work of a task that nothing will run: Python complains of coroutines that were never awaited."""
        if inspect.iscoroutine(self._handler):
            self._handler.close()
        self.cancel()

    def executing(self) -> bool:
        return self._executing


async def await_or_execute(callback: Callable[..., Any] | Coroutine[Any, Any, Any], *args: Any) -> Any:
    """Call `callback`, or await it if it is a coroutine (function); a future that it returns is not awaited."""
    result = callback(*args) if callable(callback) else callback
    return await result if inspect.iscoroutine(result) else result
