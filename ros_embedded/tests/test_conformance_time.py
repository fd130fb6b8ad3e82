"""Clocks, timers, executors, tasks and logging behave alike in ros_embedded and rclpy."""

import threading
import time
from collections.abc import Callable

import pytest
import rclpy
from rcl_interfaces.msg import Log
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.clock import ClockType, JumpThreshold, ROSClock
from rclpy.duration import Duration
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from rclpy.time import Time
from rosgraph_msgs.msg import Clock as ClockMessage


def test_time_and_duration_compute() -> None:
    start = Time(seconds=10, nanoseconds=5, clock_type=ClockType.ROS_TIME)
    later = start + Duration(seconds=1.5)
    assert (later - start).nanoseconds == 1_500_000_000
    assert later > start
    assert Time.from_msg(later.to_msg()) == later
    assert later.seconds_nanoseconds() == (11, 500_000_005)
    with pytest.raises(TypeError):
        _ = start < Time(seconds=10)
    with pytest.raises(ValueError, match="negative"):
        _ = start - Duration(seconds=11)
    with pytest.raises(OverflowError):
        _ = start + Duration(nanoseconds=2**63 - 1)


def test_timer_keeps_its_rate_and_stops(make_node: Callable, spin_until: Callable) -> None:
    node, ticks = make_node(), []
    timer = node.create_timer(0.02, lambda: ticks.append(time.monotonic()))
    assert spin_until(lambda: len(ticks) == 6)
    assert 0.08 <= ticks[-1] - ticks[0] < 0.4
    timer.cancel()
    spin_until(lambda: False, timeout_s=0.1)
    assert len(ticks) <= 7
    assert timer.is_canceled()
    timer.reset()
    count = len(ticks)
    assert spin_until(lambda: len(ticks) > count)
    node.destroy_timer(timer)
    for late in (timer.cancel, timer.reset, timer.is_canceled):
        with pytest.raises(InvalidHandle):
            late()


def test_simulated_time_comes_from_the_clock_topic(make_node: Callable, spin_until: Callable) -> None:
    node = make_node("sim", parameter_overrides=[Parameter("use_sim_time", value=True)])
    publisher = make_node("clock").create_publisher(ClockMessage, "/clock", 10)
    ticks: list[int] = []
    node.create_timer(1.0, lambda: ticks.append(node.get_clock().now().nanoseconds))
    assert spin_until(lambda: publisher.get_subscription_count() == 1)
    for second in range(100, 104):
        publisher.publish(ClockMessage(clock=Time(seconds=second).to_msg()))
        assert spin_until(lambda: node.get_clock().now().nanoseconds == second * 10**9)  # noqa: B023 - used at once
    assert spin_until(lambda: ticks and ticks[-1] == 103 * 10**9)
    assert node.get_clock().ros_time_is_active
    node.set_parameters([Parameter("use_sim_time", value=False)])
    assert abs(node.get_clock().now().nanoseconds - time.time_ns()) < 10**9


def test_jump_callback_is_told_of_big_jumps_only() -> None:
    clock, jumps = ROSClock(), []
    clock._set_ros_time_is_active(True)
    clock.set_ros_time_override(Time(seconds=10, clock_type=ClockType.ROS_TIME))
    threshold = JumpThreshold(min_forward=Duration(seconds=5), min_backward=Duration(seconds=-1), on_clock_change=False)
    handle = clock.create_jump_callback(threshold, post_callback=lambda jump: jumps.append(jump.delta.nanoseconds))
    for second in (11, 20, 15):
        clock.set_ros_time_override(Time(seconds=second, clock_type=ClockType.ROS_TIME))
    handle.unregister()
    assert [jump // 10**9 for jump in jumps] == [9, -5]


def test_exclusive_group_runs_one_callback_at_a_time_and_reentrant_several(context: rclpy.context.Context) -> None:
    most: dict[str, int] = {}
    for name, group in (("one", MutuallyExclusiveCallbackGroup()), ("many", ReentrantCallbackGroup())):
        node, running, peak, lock = Node(name, context=context), [0], [0], threading.Lock()

        def work(running: list[int] = running, peak: list[int] = peak, lock: threading.Lock = lock) -> None:
            with lock:
                running[0] += 1
                peak[0] = max(peak[0], running[0])
            time.sleep(0.03)
            with lock:
                running[0] -= 1

        for _ in range(3):
            node.create_timer(0.01, work, callback_group=group)
        executor = MultiThreadedExecutor(4, context=context)
        executor.add_node(node)
        end = time.monotonic() + 0.4
        while time.monotonic() < end:
            executor.spin_once(timeout_sec=0.05)
        executor.shutdown()
        node.destroy_node()
        most[name] = peak[0]
    assert most["one"] == 1
    assert most["many"] > 1


def test_coroutine_waits_without_blocking_others(make_node: Callable, spin_until: Callable) -> None:
    node, gate, order = make_node(), Future(), []

    async def waits() -> str:
        order.append("waits")
        value = await gate
        order.append(value)
        return value

    task = node.executor.create_task(waits)
    node.create_timer(0.02, lambda: (order.append("timer"), gate.set_result("opened")) if not gate.done() else None)
    assert spin_until(task.done)
    assert task.result() == "opened"
    assert order == ["waits", "timer", "opened"]


def test_future_passes_its_exception_on(make_node: Callable, spin_until: Callable) -> None:
    def fails() -> None:
        raise LookupError("meant")

    task = make_node().executor.create_task(fails)
    with pytest.raises(LookupError):
        spin_until(lambda: task.done() and task.result())


def test_exception_of_a_callback_comes_out_of_spin(make_node: Callable, spin_until: Callable) -> None:
    def fails() -> None:
        raise LookupError("meant")

    make_node().create_timer(0.01, fails)
    with pytest.raises(LookupError):
        spin_until(lambda: False, timeout_s=2.0)


def test_spin_ends_when_its_context_is_shut_down() -> None:
    context = rclpy.context.Context()
    context.init(args=[])
    node = Node("node", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    threading.Timer(0.1, context.shutdown).start()
    with pytest.raises(ExternalShutdownException):
        executor.spin()
    with pytest.raises(RuntimeError):  # rclpy's RCLError
        node.create_publisher(ClockMessage, "late", 1)
    node.destroy_node()


def test_rclpys_own_spin_returns_when_another_thread_calls_shutdown() -> None:
    rclpy.init(args=[])
    node = rclpy.create_node("node")
    threading.Timer(0.1, rclpy.shutdown).start()
    rclpy.spin(node)
    assert not node.context.ok()
    node.destroy_node()


def test_spin_until_future_complete_respects_its_timeout(executor: SingleThreadedExecutor) -> None:
    started = time.monotonic()
    executor.spin_until_future_complete(Future(), timeout_sec=0.1)
    assert 0.09 < time.monotonic() - started < 1.0


def test_guard_condition_runs_once_a_trigger(make_node: Callable, spin_until: Callable) -> None:
    node, calls = make_node(), []
    guard = node.create_guard_condition(lambda: calls.append(1))
    guard.trigger()
    assert spin_until(lambda: calls)
    spin_until(lambda: False, timeout_s=0.05)
    assert len(calls) == 1


def test_log_reaches_console_and_rosout(
    make_node: Callable, spin_until: Callable, capfd: pytest.CaptureFixture
) -> None:
    node, received = make_node("logs", namespace="/ns"), []
    everything = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    make_node("listener").create_subscription(Log, "/rosout", received.append, everything)
    logger = node.get_logger()
    logger.debug("unseen")
    logger.warning("seen")
    logger.get_child("part").error("also seen")
    assert spin_until(lambda: len(received) >= 1)
    written = capfd.readouterr().err
    assert "[WARN] [" in written
    assert "[ns.logs]: seen" in written
    assert "[ns.logs.part]: also seen" in written
    assert "unseen" not in written
    first = next(message for message in received if message.msg == "seen")
    assert (first.level, first.name) == (30, "ns.logs")
    assert first.function == "test_log_reaches_console_and_rosout"


def test_filters_hold_messages_back(capfd: pytest.CaptureFixture) -> None:
    logger = get_logger("filters")
    for count in range(5):
        logger.info(f"once {count}", once=True)
        logger.info(f"skip {count}", skip_first=True)
        logger.info(f"throttle {count}", throttle_duration_sec=100.0)
    lines = [line.rpartition(": ")[2] for line in capfd.readouterr().err.splitlines()]
    assert lines == ["once 0", "throttle 0", "skip 1", "skip 2", "skip 3", "skip 4"]


def test_timer_tells_how_long_it_still_takes(make_node: Callable) -> None:
    timer = make_node().create_timer(100.0, print)
    assert timer.timer_period_ns == 100 * 10**9
    assert 0 <= timer.time_since_last_call() < 50 * 10**9
    assert 50 * 10**9 < timer.time_until_next_call() <= 100 * 10**9
    assert not timer.is_canceled()
    assert not timer.is_ready()
    timer.cancel()
    assert timer.is_canceled()
    assert timer.time_until_next_call() is None
    timer.reset()
    assert not timer.is_canceled()
    timer.timer_period_ns = 10**9
    assert timer.timer_period_ns == 10**9


def test_executor_is_a_context_manager_and_waits_for_a_future(context: rclpy.context.Context) -> None:
    node = Node("node", context=context)
    with SingleThreadedExecutor(context=context) as executor:
        assert executor.add_node(node)
        assert not executor.add_node(node)
        assert executor.get_nodes() == [node]
        task = executor.create_task(lambda: 42)
        executor.spin_until_future_complete(task, timeout_sec=1.0)
        assert task.result() == 42
    node.destroy_node()
