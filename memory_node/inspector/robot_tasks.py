"""Instructions that an agent gives to the robot: started, cancelled, and asked for while they go on and afterwards."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from memory_node.domain.errors import InvalidValueError, NotFoundError, RobotMemoryError
from memory_node.domain.ids import new_id
from memory_node.domain.step import NO_COST, ModelCost

State = Literal["running", "done", "failed", "asks", "canceled"]
_KEPT = 100


@dataclass(frozen=True)
class Task:
    """One instruction. step, skill, plan: how far it is. message: why it failed, or what memory answers.

    question, choices: of one that asks: nothing was done, the answer is given as the next instruction. cost,
    robot_s: of one that has ended, what its language model took, and the seconds of the robot's skills.
    """

    id: str
    instruction: str
    state: State = "running"
    step: int = 0
    skill: str = ""
    plan: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    message: str = ""
    question: str = ""
    choices: tuple[str, ...] = ()
    episode_id: str = ""
    cost: ModelCost = NO_COST
    robot_s: float = 0.0


class Robot(Protocol):
    """Carries out one instruction at a time."""

    def carry_out(self, task: Task, tell: Callable[[Task], None], is_canceled: Callable[[], bool]) -> Task:
        """Carry out an instruction to its end and return what became of it; tell: is called with how far it is.

        Raises:
            RobotMemoryError: no robot is there, or it is gone.
        """


class RobotTasks:
    """Gives instructions to a robot in a thread each, one after the other; thread-safe."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._changed = threading.Condition()
        self._tasks: OrderedDict[str, Task] = OrderedDict()
        self._canceled = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, instruction: str) -> Task:
        """Begin an instruction; return its task, which runs.

        Raises:
            InvalidValueError: another one runs.
        """
        with self._changed:
            running = next((task for task in self._tasks.values() if task.state == "running"), None)
            if running is not None:
                raise InvalidValueError(
                    f"the robot carries out {running.instruction[:200]!r}, task {running.id}; wait for it or cancel it"
                )
            task = Task(new_id(), instruction)
            self._tasks[task.id] = task
            while len(self._tasks) > _KEPT:
                self._tasks.popitem(last=False)
            self._canceled = canceled = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(task, canceled), name="robot_task", daemon=True)
            self._thread.start()
            return task

    def task(self, task_id: str, wait_s: float = 0.0) -> Task:
        """Return how far a task is; waits for so long for its end.

        Raises:
            NotFoundError: there is no such task.
        """
        with self._changed:
            if task_id not in self._tasks:
                raise NotFoundError(f"no task {task_id[:100]!r}; known: {', '.join(self._tasks) or 'none'}")
            self._changed.wait_for(lambda: self._tasks[task_id].state != "running", wait_s)
            return self._tasks[task_id]

    def cancel(self, task_id: str) -> Task:
        """Have the robot stop a task that runs; return it as it is now. `task` tells when the robot has stopped.

        Raises:
            NotFoundError: there is no such task.
        """
        task = self.task(task_id)
        if task.state == "running":
            self._canceled.set()
        return task

    def close(self, timeout_s: float = 10.0) -> None:
        """Cancel what runs and wait for the robot to stop."""
        self._canceled.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _run(self, task: Task, canceled: threading.Event) -> None:
        try:
            ended = self._robot.carry_out(task, self._note, canceled.is_set)
        except RobotMemoryError as error:
            ended = replace(self.task(task.id), state="canceled" if canceled.is_set() else "failed", message=str(error))
        self._note(ended)

    def _note(self, task: Task) -> None:
        with self._changed:
            if self._tasks[task.id].state == "running":  # feedback may come after the result
                self._tasks[task.id] = task
                self._changed.notify_all()
