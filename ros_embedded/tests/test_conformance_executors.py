"""Executors behave alike in ros_embedded and rclpy, also where a program brings its own or stops one half-way."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import (
    Executor,
    ExternalShutdownException,
    ShutdownException,
    SingleThreadedExecutor,
    TimeoutException,
)
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Empty


class PoolExecutor(Executor):
    """A program's own: hands what is ready to a pool of threads."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.pool = ThreadPoolExecutor(2)
        self.nodes: list[Any] = []

    def spin_once(self, timeout_sec: float | None = None) -> None:
        try:
            handler, _, node = self.wait_for_ready_callbacks(timeout_sec=timeout_sec)
        except (TimeoutException, ShutdownException, ExternalShutdownException):
            return
        self.nodes.append(node)
        self.pool.submit(handler)


@pytest.fixture
def pool_executor(context: rclpy.context.Context) -> Iterator[PoolExecutor]:
    executor = PoolExecutor(context=context)
    yield executor
    executor.pool.shutdown()
    executor.shutdown()


def test_own_executor_runs_coroutines_to_their_end(context: rclpy.context.Context, pool_executor: PoolExecutor) -> None:
    node = rclpy.create_node("own", context=context)
    answer, results = Future(), []

    async def wait() -> None:
        timer.cancel()
        results.append(await answer)

    timer = node.create_timer(0.01, wait)
    node.create_timer(0.05, lambda: answer.set_result(42), ReentrantCallbackGroup())
    pool_executor.add_node(node)
    for _ in range(200):
        pool_executor.spin_once(timeout_sec=0.05)
        if results:
            break
    assert results[:1] == [42]
    assert node in pool_executor.nodes
    node.destroy_node()


def test_future_is_awaited_in_asyncio(context: rclpy.context.Context) -> None:
    node = rclpy.create_node("asyncio", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    answer = Future()
    node.create_timer(0.02, lambda: answer.set_result(5))

    async def spin() -> None:
        while not answer.done():
            executor.spin_once(timeout_sec=0.01)
            await asyncio.sleep(0.001)

    async def wait() -> int:
        spinning = asyncio.ensure_future(spin())
        result = await answer
        await spinning
        return result

    assert asyncio.run(asyncio.wait_for(wait(), 10.0)) == 5
    node.destroy_node()


def test_work_of_a_stopped_executor_is_not_handed_out(context: rclpy.context.Context) -> None:
    executor = SingleThreadedExecutor(context=context)
    executor.shutdown()
    with pytest.raises(ShutdownException):
        executor.wait_for_ready_callbacks()


def test_shutdown_does_not_wait_for_an_answer_that_never_comes(context: rclpy.context.Context) -> None:
    node = rclpy.create_node("asking", context=context)
    client, asked = node.create_client(Empty, "nobody"), []

    async def ask() -> None:
        asked.append(1)
        timer.cancel()
        await client.call_async(Empty.Request())

    timer = node.create_timer(0.01, ask)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    for _ in range(100):
        executor.spin_once(timeout_sec=0.05)
        if asked:
            break
    assert asked == [1]
    assert executor.shutdown()
    node.destroy_node()


def test_node_keeps_its_executor_when_it_is_taken_out(context: rclpy.context.Context) -> None:
    node = rclpy.create_node("alternating", context=context)
    executor = SingleThreadedExecutor(context=context)
    rclpy.spin_once(node, executor=executor, timeout_sec=0.0)
    assert node not in executor.get_nodes()
    assert node.executor is executor
    done = node.executor.create_task(lambda: 7)
    rclpy.spin_until_future_complete(node, done, executor, 5.0)
    assert done.result() == 7
    executor.shutdown()
    node.destroy_node()


def test_what_is_ready_together_runs_subscriptions_before_services(make_node: Callable, spin_until: Callable) -> None:
    here, there, order = make_node("here"), make_node("there"), []

    def serve(request: Empty.Request, response: Empty.Response) -> Empty.Response:
        order.append("service")
        return response

    here.create_service(Empty, "asked", serve)
    here.create_subscription(String, "told", lambda message: order.append("subscription"), 10)
    publisher, client = there.create_publisher(String, "told", 10), there.create_client(Empty, "asked")
    assert spin_until(lambda: publisher.get_subscription_count() and client.service_is_ready())
    client.call_async(Empty.Request())
    publisher.publish(String())
    publisher.wait_for_all_acked()
    assert spin_until(lambda: len(order) == 2)
    assert order == ["subscription", "service"]


def test_future_that_a_plain_callback_returns_is_not_waited_for(make_node: Callable, spin_until: Callable) -> None:
    """A timer asks a service of its own callback group: to wait for the answer there would be a deadlock."""
    node, asked = make_node(), []
    node.create_service(Empty, "ask", lambda request, response: asked.append(request) or response)
    client = node.create_client(Empty, "ask")
    node.create_timer(0.01, lambda: client.call_async(Empty.Request()))
    assert spin_until(lambda: len(asked) >= 3)


def test_tasks_without_end_leave_room_for_timers(make_node: Callable, spin_until: Callable) -> None:
    node, ticks, ends = make_node(), [], []

    async def looks_again_and_again() -> None:
        while not ticks:
            await asyncio.sleep(0)
        ends.append("coroutine")

    def makes_its_successor() -> None:
        if ticks:
            ends.append("chain")
        else:
            node.executor.create_task(makes_its_successor)

    node.executor.create_task(looks_again_and_again)
    node.executor.create_task(makes_its_successor)
    node.create_timer(0.01, lambda: ticks.append(1))
    assert spin_until(lambda: len(ends) == 2)


def test_task_of_a_callback_runs_before_what_comes_in_afterwards(
    make_node: Callable, spin_until: Callable, link: Callable
) -> None:
    """An accepted goal gives feedback before its client hears of the acceptance: tasks, then what is ready by then."""
    node, order = make_node(), []
    publisher = link(node, String, "s", lambda _: order.append("message"))

    def answer(_: Any, response: Any) -> Any:
        node.executor.create_task(lambda: publisher.publish(String()))
        return response

    node.create_service(Empty, "empty", answer)
    client = node.create_client(Empty, "empty")
    assert spin_until(client.service_is_ready)
    client.call_async(Empty.Request()).add_done_callback(lambda _: order.append("answer"))
    assert spin_until(lambda: len(order) == 2)
    assert order == ["message", "answer"]
