"""The tools by which agents have the robot carry out instructions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from pydantic import BaseModel, Field

from memory_node.inspector.robot_tasks import RobotTasks, State, Task

Instruction = Annotated[str, Field(min_length=1, max_length=4000, description='in plain words: "bring me the apple"')]
TaskId = Annotated[str, Field(min_length=1, max_length=200, description="as carry_out told it")]
WaitS = Annotated[float, Field(ge=0.0, le=30.0, description="waits at most so long for its end, in seconds")]


class TaskState(BaseModel):
    """How far an instruction is, or what became of it."""

    task_id: str
    instruction: str
    state: State = Field(description="asks: nothing was done; give the answer to `question` as the next instruction")
    step: int = Field(description="how many skills were begun")
    skill: str = Field(description="what the robot does now")
    plan: list[str] = Field(description="what is still to do, in words")
    notes: list[str] = Field(description="what the planner had to say on the way: warnings, substitutes")
    message: str = Field(description="why it failed, or the answer to a question")
    question: str
    choices: list[str]
    episode_id: str = Field(description="its steps: memory://episodes/ID")


class RobotTools:
    """Gives instructions to one robot."""

    def __init__(self, tasks: RobotTasks) -> None:
        self._tasks = tasks

    def carry_out(self, instruction: Instruction) -> TaskState:
        """Have the robot carry out an instruction. It begins and goes on by itself, whether you wait or not: ask `task`
        how far it is; `cancel` stops the robot. One instruction runs at a time."""
        return _told(self._tasks.start(instruction))

    def task(self, task_id: TaskId, wait_s: WaitS = 0.0) -> TaskState:
        """Tell how far an instruction is, or what became of it, also long after its end."""
        return _told(self._tasks.task(task_id, wait_s))

    def cancel(self, task_id: TaskId) -> TaskState:
        """Have the robot stop; `task` tells when it has stopped."""
        return _told(self._tasks.cancel(task_id))


def _told(task: Task) -> TaskState:
    values = asdict(task)
    return TaskState(task_id=values.pop("id"), **values)
