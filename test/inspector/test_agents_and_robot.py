"""What agents do besides asking, by the protocol's own client: subscribe, take facts back, command a robot."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("mcp")

import anyio
from agent_server import server_of, told, with_client
from furnished_home import furnished
from mcp import Client

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.skill import StateChange
from memory_node.inspector.robot_tasks import RobotTasks, Task
from memory_node.memory import RobotMemory


@pytest.fixture
def memory() -> Iterator[RobotMemory]:
    memory, _ = furnished()
    yield memory
    memory.close()


def move_apple(memory: RobotMemory) -> None:
    memory.remember([StateChange("Apple 1", "Apple", 0, position=(4.0, 4.0, 0.8), held=False)])


def test_listener_is_told_that_the_scene_changed(memory: RobotMemory) -> None:
    async def listen(client: Client) -> str:
        async with client.listen(resource_subscriptions=["memory://scene"]) as changes:
            await anyio.to_thread.run_sync(move_apple, memory)
            async for event in changes:
                return event.uri
        raise AssertionError("the stream ended")

    assert with_client(server_of(memory), listen) == "memory://scene"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:resources/")
def test_client_of_the_older_protocol_is_told_too(memory: RobotMemory) -> None:
    heard: list[str] = []
    came = threading.Event()

    async def hear(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/resources/updated":
            heard.append(str(message.params.uri))
            came.set()

    async def subscribe(client: Client) -> None:
        await client.subscribe_resource("memory://scene")
        await anyio.to_thread.run_sync(move_apple, memory)
        while not came.is_set():
            await anyio.sleep(0.02)
        await client.unsubscribe_resource("memory://scene")

    with_client(server_of(memory), subscribe, mode="legacy", message_handler=hear)
    assert set(heard) == {"memory://scene"}


class Errand:
    """A robot whose instructions end when a test says so, or when they are cancelled."""

    def __init__(self) -> None:
        self.may_end = threading.Event()

    def carry_out(self, task: Task, tell: Callable[[Task], None], is_canceled: Callable[[], bool]) -> Task:
        if task.instruction == "fly":
            raise RobotMemoryError("no node offers execute_instruction")
        tell(replace(task, step=1, skill="GoToObject(Apple 1)", plan=("pick it up",)))
        while not self.may_end.wait(0.01):
            if is_canceled():
                return replace(task, state="canceled", step=1, message="canceled")
        return replace(task, state="done", step=2, notes=("the mug was clean",))


@pytest.fixture
def errand() -> Errand:
    return Errand()


@pytest.fixture
def acting(memory: RobotMemory, errand: Errand) -> Iterator[Any]:
    tasks = RobotTasks(errand)
    yield server_of(memory, robot=tasks)
    tasks.close()


def test_instruction_outlives_its_callers_patience(acting: Any, errand: Errand) -> None:
    async def command(client: Client) -> tuple[Any, Any, Any]:
        begun = await told(client, "carry_out", instruction="bring me the apple")
        going = begun
        while not going["step"]:
            going = await told(client, "task", task_id=begun["task_id"], wait_s=0.05)
        second = await client.call_tool("carry_out", {"instruction": "bring me the mug"})
        errand.may_end.set()
        ended = await told(client, "task", task_id=begun["task_id"], wait_s=30.0)
        return going, second, ended

    going, second, ended = with_client(acting, command)
    assert (going["state"], going["skill"], going["plan"]) == ("running", "GoToObject(Apple 1)", ["pick it up"])
    assert second.is_error
    assert "bring me the apple" in second.content[0].text
    assert (ended["state"], ended["step"], ended["notes"]) == ("done", 2, ["the mug was clean"])


def test_instruction_is_cancelled_and_told_afterwards(acting: Any) -> None:
    async def command(client: Client) -> Any:
        begun = await told(client, "carry_out", instruction="bring me the apple")
        await told(client, "cancel", task_id=begun["task_id"])
        return await told(client, "task", task_id=begun["task_id"], wait_s=30.0)

    assert with_client(acting, command)["state"] == "canceled"


def test_robot_that_is_not_there_is_told(acting: Any) -> None:
    async def command(client: Client) -> Any:
        begun = await told(client, "carry_out", instruction="fly")
        return await told(client, "task", task_id=begun["task_id"], wait_s=30.0)

    ended = with_client(acting, command)
    assert (ended["state"], ended["message"]) == ("failed", "no node offers execute_instruction")
