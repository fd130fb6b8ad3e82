"""Services, clients and actions behave alike in ros_embedded and rclpy."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from example_interfaces.action import Fibonacci
from example_interfaces.srv import AddTwoInts
from rclpy.action import (
    ActionClient,
    ActionServer,
    CancelResponse,
    GoalResponse,
    get_action_client_names_and_types_by_node,
    get_action_names_and_types,
    get_action_server_names_and_types_by_node,
)
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node


def add(request: AddTwoInts.Request, response: AddTwoInts.Response) -> AddTwoInts.Response:
    response.sum = request.a + request.b
    return response


def test_each_of_several_clients_gets_its_own_answer(make_node: Callable, spin_until: Callable) -> None:
    make_node("server").create_service(AddTwoInts, "add", add)
    clients = [make_node(f"client_{i}").create_client(AddTwoInts, "add") for i in range(3)]
    assert all(spin_until(client.service_is_ready) for client in clients)
    futures = [client.call_async(AddTwoInts.Request(a=i, b=n)) for n in range(3) for i, client in enumerate(clients)]
    assert spin_until(lambda: all(future.done() for future in futures))
    assert [future.result().sum for future in futures] == [i + n for n in range(3) for i in range(3)]


def test_absent_service_is_not_ready(make_node: Callable) -> None:
    client = make_node().create_client(AddTwoInts, "nobody")
    assert not client.service_is_ready()
    assert not client.wait_for_service(timeout_sec=0.05)
    assert (client.srv_name, client.service_name) == ("nobody", "/nobody")


def test_vanished_service_is_noticed(make_node: Callable, spin_until: Callable) -> None:
    server = make_node("server")
    service = server.create_service(AddTwoInts, "add", add)
    client = make_node("client").create_client(AddTwoInts, "add")
    assert spin_until(client.service_is_ready)
    server.destroy_service(service)
    assert spin_until(lambda: not client.service_is_ready())


def test_async_service_callback_may_call_another_service(
    make_node: Callable, spin_until: Callable, call: Callable
) -> None:
    node = make_node()
    group = ReentrantCallbackGroup()
    node.create_service(AddTwoInts, "inner", add, callback_group=group)
    inner = node.create_client(AddTwoInts, "inner", callback_group=group)

    async def outer(request: Any, response: Any) -> Any:
        answer = await inner.call_async(AddTwoInts.Request(a=request.a, b=request.b))
        response.sum = 10 * answer.sum
        return response

    node.create_service(AddTwoInts, "outer", outer, callback_group=group)
    client = node.create_client(AddTwoInts, "outer", callback_group=group)
    assert spin_until(inner.service_is_ready)
    assert call(client, AddTwoInts.Request(a=1, b=2)).sum == 30


def test_synchronous_call_from_a_callback_works_in_another_group(context: rclpy.context.Context) -> None:
    node = Node("node", context=context)
    node.create_service(AddTwoInts, "add", add, callback_group=MutuallyExclusiveCallbackGroup())
    client = node.create_client(AddTwoInts, "add", callback_group=MutuallyExclusiveCallbackGroup())
    sums: list[int] = []
    timer = node.create_timer(
        0.01, lambda: (timer.cancel(), sums.append(client.call(AddTwoInts.Request(a=2, b=3)).sum))
    )
    executor = MultiThreadedExecutor(3, context=context)
    executor.add_node(node)
    assert client.wait_for_service(timeout_sec=5.0)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    deadline = time.monotonic() + 5.0
    while not sums and time.monotonic() < deadline:
        time.sleep(0.01)
    executor.shutdown()
    thread.join(5.0)
    node.destroy_node()
    assert sums == [5]


class FibonacciNode(Node):
    """Serves Fibonacci: order 1 succeeds, 2 aborts, 3 raises, more waits for its cancellation; below 1 is rejected."""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.server = ActionServer(
            self,
            Fibonacci,
            "fib",
            self.execute,
            goal_callback=lambda goal: GoalResponse.ACCEPT if goal.order > 0 else GoalResponse.REJECT,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
            result_timeout=1,
        )
        self.wake = rclpy.task.Future()

    async def execute(self, goal_handle: Any) -> Fibonacci.Result:
        order = goal_handle.request.order
        goal_handle.publish_feedback(Fibonacci.Feedback(sequence=[order]))
        if order == 2:
            goal_handle.abort()
        elif order == 3:
            raise ValueError("meant")
        elif order > 3:
            await self.wake
            goal_handle.canceled()
        else:
            goal_handle.succeed()
        return Fibonacci.Result(sequence=[0, order])


@pytest.fixture
def action(make_node: Callable, spin_until: Callable) -> Iterator[tuple[FibonacciNode, ActionClient, Callable]]:
    server = make_node("server", FibonacciNode)
    client = ActionClient(make_node("client"), Fibonacci, "fib")
    assert spin_until(client.server_is_ready)

    def wait(future: Any) -> Any:
        assert spin_until(future.done)
        return future.result()

    yield server, client, wait
    # Left to the garbage collector they stay in the graph, where half a server keeps the next from being ready.
    client.destroy()
    server.server.destroy()


@pytest.mark.parametrize(
    ("order", "status"),
    [(1, GoalStatus.STATUS_SUCCEEDED), (2, GoalStatus.STATUS_ABORTED), (3, GoalStatus.STATUS_ABORTED)],
)
def test_goal_ends_as_its_callback_says(action: Any, spin_until: Callable, order: int, status: int) -> None:
    _, client, wait = action
    feedback: list[Any] = []
    handle = wait(client.send_goal_async(Fibonacci.Goal(order=order), feedback_callback=feedback.append))
    assert handle.accepted
    answer = wait(handle.get_result_async())
    assert answer.status == status
    assert spin_until(lambda: handle.status == status)
    assert list(answer.result.sequence) == ([0, order] if order != 3 else [])
    assert [list(message.feedback.sequence) for message in feedback] == [[order]]


def test_rejected_goal_is_not_accepted(action: Any) -> None:
    _, client, wait = action
    assert not wait(client.send_goal_async(Fibonacci.Goal(order=0))).accepted


@pytest.mark.parametrize(
    ("response", "status"),
    [(CancelResponse.ACCEPT, GoalStatus.STATUS_CANCELED), (CancelResponse.REJECT, GoalStatus.STATUS_ABORTED)],
)
def test_goal_is_cancelled_where_the_server_agrees(
    action: Any, spin_until: Callable, response: CancelResponse, status: int
) -> None:
    server, client, wait = action
    server.server.register_cancel_callback(lambda _: response)
    feedback: list[Any] = []
    handle = wait(client.send_goal_async(Fibonacci.Goal(order=9), feedback_callback=feedback.append))
    assert spin_until(lambda: feedback)
    answer = wait(handle.cancel_goal_async())
    cancelled = [bytes(handle.goal_id.uuid)] if response is CancelResponse.ACCEPT else []
    assert answer.return_code == answer.ERROR_NONE
    assert [bytes(info.goal_id.uuid) for info in answer.goals_canceling] == cancelled
    result = handle.get_result_async()
    server.wake.set_result(None)
    assert wait(result).status == status


def test_result_expires(action: Any, spin_until: Callable, call: Callable) -> None:
    server, client, wait = action
    handle = wait(client.send_goal_async(Fibonacci.Goal(order=1)))
    assert wait(handle.get_result_async()).status == GoalStatus.STATUS_SUCCEEDED
    spin_until(lambda: False, timeout_s=1.3)
    assert wait(handle.get_result_async()).status == GoalStatus.STATUS_UNKNOWN
    assert wait(handle.cancel_goal_async()).return_code in (2, 3)
    cancel_all = server.create_client(CancelGoal, "fib/_action/cancel_goal")
    answer = call(cancel_all, CancelGoal.Request())
    assert (answer.return_code, list(answer.goals_canceling)) == (answer.ERROR_NONE, [])


def test_action_is_listed_by_name_and_node(action: Any, spin_until: Callable) -> None:
    server, _, _ = action
    entry = ("/fib", ["example_interfaces/action/Fibonacci"])  # rclpy may still show actions of nodes destroyed before
    assert spin_until(lambda: entry in get_action_names_and_types(server))
    assert spin_until(lambda: entry in get_action_server_names_and_types_by_node(server, "server", "/"))
    assert spin_until(lambda: entry in get_action_client_names_and_types_by_node(server, "client", "/"))
    assert entry not in get_action_client_names_and_types_by_node(server, "server", "/")


def test_action_client_also_waits(make_node: Callable, context: rclpy.context.Context) -> None:
    """The calls that block, from a thread that does not spin."""
    server = make_node("server", FibonacciNode)
    client = ActionClient(make_node("client"), Fibonacci, "fib")
    assert client.wait_for_server(timeout_sec=5.0)
    executor = MultiThreadedExecutor(3, context=context)
    executor.add_node(server)
    executor.add_node(client._node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    answer = client.send_goal(Fibonacci.Goal(order=1))
    assert (answer.status, list(answer.result.sequence)) == (GoalStatus.STATUS_SUCCEEDED, [0, 1])
    assert client.send_goal(Fibonacci.Goal(order=0)).status == GoalStatus.STATUS_UNKNOWN  # it was rejected
    handle_future = client.send_goal_async(Fibonacci.Goal(order=9))
    deadline = time.monotonic() + 5.0
    while not handle_future.done() and time.monotonic() < deadline:
        time.sleep(0.01)
    handle = handle_future.result()
    assert len(handle.cancel_goal().goals_canceling) == 1
    server.wake.set_result(None)
    assert handle.get_result().status == GoalStatus.STATUS_CANCELED
    assert "accepted=True" in repr(handle)
    executor.shutdown()
    thread.join(5.0)


def test_goal_is_accepted_first_and_executed_later(action: Any, spin_until: Callable) -> None:
    server, client, wait = action
    waiting: list[Any] = []
    server.server.register_handle_accepted_callback(waiting.append)
    handle = wait(client.send_goal_async(Fibonacci.Goal(order=1)))
    assert spin_until(lambda: waiting)
    assert waiting[0].is_active
    assert not waiting[0].is_cancel_requested
    waiting[0].execute()
    assert wait(handle.get_result_async()).status == GoalStatus.STATUS_SUCCEEDED
    assert not waiting[0].is_active
