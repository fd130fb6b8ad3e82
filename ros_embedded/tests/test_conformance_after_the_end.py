"""What is destroyed, forgotten or shut down answers alike in ros_embedded and rclpy, and so do timers after a jump."""

from collections.abc import Callable
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalStatus, GoalStatusArray
from example_interfaces.action import Fibonacci
from rclpy._rclpy_pybind11 import RCLError
from rclpy.action import ActionClient, ActionServer
from rclpy.clock import ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.time import Time
from std_msgs.msg import String
from std_srvs.srv import SetBool

CALLS: dict[str, Callable[[Node], tuple[Any, Callable[[], Any]]]] = {
    "publisher's matches": lambda n: (p := n.create_publisher(String, "t", 1), p.get_subscription_count),
    "publisher's liveliness": lambda n: (p := n.create_publisher(String, "t", 1), p.assert_liveliness),
    "publisher's acknowledgements": lambda n: (p := n.create_publisher(String, "t", 1), p.wait_for_all_acked),
    "subscription's matches": lambda n: (s := n.create_subscription(String, "t", print, 1), s.get_publisher_count),
    "client's service": lambda n: (c := n.create_client(SetBool, "s"), c.service_is_ready),
    "client's wait": lambda n: (c := n.create_client(SetBool, "s"), lambda: c.wait_for_service(timeout_sec=1.0)),
    "client's request": lambda n: (c := n.create_client(SetBool, "s"), lambda: c.call_async(SetBool.Request())),
    "guard condition's trigger": lambda n: (g := n.create_guard_condition(print), g.trigger),
}


@pytest.mark.parametrize("case", CALLS)
def test_what_is_destroyed_cannot_be_used(case: str, make_node: Callable) -> None:
    entity, call = CALLS[case](make_node())
    entity.destroy()
    with pytest.raises(InvalidHandle):
        call()


def test_service_that_destroys_itself_cannot_answer(make_node: Callable, spin_until: Callable) -> None:
    node = make_node()

    def answer(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        node.destroy_service(service)
        return response

    service, client = node.create_service(SetBool, "s", answer), node.create_client(SetBool, "s")
    assert spin_until(client.service_is_ready)
    future = client.call_async(SetBool.Request())
    with pytest.raises(InvalidHandle):
        spin_until(future.done)


def test_waiting_and_timing_are_refused_after_shutdown() -> None:
    context = rclpy.context.Context()
    context.init(args=[])
    node = Node("node", context=context)
    client = node.create_client(SetBool, "s")
    context.shutdown()
    with pytest.raises(RCLError):  # a loop that waits for a service must not wait for ever
        client.wait_for_service(timeout_sec=1.0)
    with pytest.raises(RCLError, match="failed to create timer"):
        node.create_timer(1.0, print)
    node.destroy_node()


def succeed(goal_handle: Any) -> Fibonacci.Result:
    goal_handle.succeed()
    return Fibonacci.Result()


def test_goal_that_the_server_has_forgotten_is_left_alone(make_node: Callable, spin_until: Callable) -> None:
    node, goals = make_node(), []
    server = ActionServer(node, Fibonacci, "fib", succeed, handle_accepted_callback=goals.append)
    client = ActionClient(node, Fibonacci, "fib")
    assert spin_until(client.server_is_ready)
    client.send_goal_async(Fibonacci.Goal())
    assert spin_until(lambda: goals)
    (goal,) = goals
    assert (goal.status, goal.is_active) == (GoalStatus.STATUS_ACCEPTED, True)
    with pytest.raises(TypeError, match="unhashable"):
        hash(goal)
    server.destroy()
    goal.publish_feedback(Fibonacci.Feedback())
    goal.succeed()
    assert (goal.status, goal.is_active) == (GoalStatus.STATUS_UNKNOWN, False)


def test_status_of_a_goal_is_published_from_its_execution_on(make_node: Callable, spin_until: Callable) -> None:
    node, goals, statuses = make_node(), [], []

    def note(message: GoalStatusArray) -> None:
        statuses.extend(entry.status for entry in message.status_list)

    node.create_subscription(GoalStatusArray, "fib/_action/status", note, 10)
    server = ActionServer(node, Fibonacci, "fib", succeed, handle_accepted_callback=goals.append)
    client = ActionClient(node, Fibonacci, "fib")
    assert spin_until(client.server_is_ready)
    future = client.send_goal_async(Fibonacci.Goal())
    assert spin_until(lambda: goals and future.done())
    assert future.result().status == GoalStatus.STATUS_UNKNOWN
    goals[0].execute()
    assert spin_until(lambda: GoalStatus.STATUS_SUCCEEDED in statuses)
    assert GoalStatus.STATUS_ACCEPTED not in statuses
    server.destroy()


def test_timer_waits_a_period_from_the_first_word_of_simulated_time(make_node: Callable, spin_until: Callable) -> None:
    node, ticks = make_node(), []
    clock, timer = node.get_clock(), node.create_timer(20.0, lambda: ticks.append(1))
    clock._set_ros_time_is_active(True)
    for second, is_due in ((10, False), (29, False), (30, True)):
        clock.set_ros_time_override(Time(seconds=second, clock_type=ClockType.ROS_TIME))
        assert (timer.time_until_next_call() <= 0) == is_due
    assert spin_until(lambda: ticks)
