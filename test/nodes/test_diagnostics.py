"""/diagnostics keeps to the conventions of diagnostic_updater: a status for each component, named `NODE: component`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from ros_peer import RosPeer, SimulatedCamera, wait_until
from running_memory import running_memory

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.nodes.diagnostics import Diagnosis, DiagnosticsPublisher, InputCounters, StageGuard
from memory_node.nodes.node_parameters import DiagnosticUpdaterParameters

SECOND_NS = 1_000_000_000


def heard(peer: RosPeer, **config: Any) -> list[Any]:
    """What a node with three components publishes first."""

    def broken() -> Diagnosis:
        raise ValueError("no answer")

    messages: list[Any] = []
    peer.node.create_subscription(DiagnosticArray, "/diagnostics", messages.append, 10)
    components = {
        "inputs": lambda: Diagnosis({"used.frames": 3}),
        "store": lambda: Diagnosis({}, ("full", "slow")),
        "clock": broken,
    }
    publisher = DiagnosticsPublisher(peer.node, DiagnosticUpdaterParameters(**{"period": 0.1, **config}), components)
    wait_until(lambda: len(messages) > 1)
    peer.node.destroy_timer(publisher._timer)
    return list(messages[-1].status)


def test_each_component_has_a_status_of_its_own_even_if_one_fails(peer: RosPeer) -> None:
    inputs, store, clock = heard(peer)
    assert [status.name for status in (inputs, store, clock)] == [
        "test_peer: inputs",
        "test_peer: store",
        "test_peer: clock",
    ]
    assert (inputs.level, inputs.message) == (DiagnosticStatus.OK, "ok")
    assert [(value.key, value.value) for value in inputs.values] == [("used.frames", "3")]
    assert (store.level, store.message) == (DiagnosticStatus.WARN, "full; slow")
    assert (clock.level, clock.message) == (DiagnosticStatus.ERROR, "ValueError: no answer")
    assert {status.hardware_id for status in (inputs, store, clock)} == {"robot_memory"}


def test_statuses_of_several_robots_may_be_told_apart(peer: RosPeer) -> None:
    assert heard(peer, use_fqn=True)[0].name == "/test_peer: inputs"


def test_worst_of_what_is_wrong_gives_the_level() -> None:
    assert Diagnosis({}, stale=("silent",), problems=("slow",)).level == DiagnosticStatus.STALE
    worst = Diagnosis({}, failures=("blind",), stale=("silent",), problems=("slow",))
    assert (worst.level, worst.message) == (DiagnosticStatus.ERROR, "blind; silent; slow")


def test_memory_tells_that_it_is_blind_until_a_frame_is_used_again(peer: RosPeer, tmp_path: Path) -> None:
    told: dict[str, Any] = {}

    def on_diagnostics(msg: Any) -> None:
        told.update({status.name: status for status in msg.status})

    peer.node.create_subscription(DiagnosticArray, "/diagnostics", on_diagnostics, 10)
    config = {"expert.frames_unused_s": 1.0, "diagnostic_updater.period": 0.1}
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), **config):
        camera = SimulatedCamera(peer)

        def is_at(level: Any) -> bool:
            return "memory: inputs" in told and told["memory: inputs"].level == level

        def no_depth(msg: Any) -> None:
            msg.encoding = "8UC3"

        shown = iter(range(1, 600))

        def shown_until(level: Any, **changed: Any) -> None:
            def reached() -> bool:
                camera.show(next(shown) * SECOND_NS, **changed)
                return is_at(level)

            wait_until(reached)

        shown_until(DiagnosticStatus.OK)
        shown_until(DiagnosticStatus.ERROR, camera_depth_image_raw=no_depth)
        assert "frames come, but for" in told["memory: inputs"].message
        shown_until(DiagnosticStatus.OK)
        wait_until(lambda: is_at(DiagnosticStatus.STALE))
        assert "no frame has come for" in told["memory: inputs"].message
        assert told["memory: threads"].level == DiagnosticStatus.OK
        assert {value.key for value in told["memory: threads"].values} >= {"failures.inputs", "failures.store-writer"}


def test_home_tells_how_its_simulation_goes_and_what_failed_in_it(peer: RosPeer) -> None:
    from memory_node.nodes.home import HomeNode

    told: dict[str, Any] = {}

    def hear(message: Any) -> None:
        told.update({status.name: status for status in message.status})

    peer.node.create_subscription(DiagnosticArray, "/diagnostics", hear, 10)
    words = ["test", "--ros-args", "-p", "home:diagnostic_updater.period:=0.1", "-p", "home:speed:=20.0"]
    rclpy.init(args=words, domain_id=peer.domain_id)
    try:
        node = HomeNode()  # which cannot be made without Open3D

        def is_told(name: str, key: str) -> bool:
            rclpy.spin_once(node, timeout_sec=0.05)
            return name in told and any(value.key == key and value.value != "0" for value in told[name].values)

        wait_until(lambda: is_told("home: simulation", "frames"))
        assert told["home: skills"].level == told["home: callbacks"].level == DiagnosticStatus.OK
        assert "failures.running-goals" in {value.key for value in told["home: threads"].values}
        node._camera = None  # nothing can be published any more
        wait_until(lambda: is_told("home: callbacks", "failed.timer _idle_step"))
        assert told["home: callbacks"].level == DiagnosticStatus.WARN
        node.destroy_node()
    finally:
        rclpy.try_shutdown()


class Log:
    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.errors: list[str] = []

    def warning(self, text: str, **throttling: Any) -> None:
        assert throttling["throttle_duration_sec"] > 0.0
        self.warnings.append(text)

    def error(self, text: str) -> None:
        self.errors.append(text)


def test_what_an_input_lacks_is_counted_under_its_reason() -> None:
    counters, log = InputCounters(), Log()
    guard = StageGuard(counters, log)
    with guard.stage("posing"):
        raise InputSkippedError("tf_gap", "TF is silent")
    with guard.stage("perceiving"):
        raise InvalidValueError("not a depth image")
    assert counters.values() == {"skipped.invalid_value": 1, "skipped.tf_gap": 1}
    assert log.warnings == [
        "skipped an input: tf_gap: TF is silent",
        "skipped an input: invalid_value: not a depth image",
    ]


def test_unforeseen_error_is_logged_once_for_each_place_and_always_counted() -> None:
    counters, log = InputCounters(), Log()
    guard = StageGuard(counters, log)

    def divide(number: int) -> float:
        return 1 / number

    def look_up(number: int) -> int:
        return [0, 1, 2][number]

    for callback, numbers in ((divide, (0, 0, 0)), (look_up, (7, 8))):
        for number in numbers:
            guard.guarded("a topic", callback)(number)
    assert counters.values() == {"skipped.internal_error": 5}
    assert len(log.errors) == 2
    assert log.errors[0].startswith("a topic: internal error")
    assert "ZeroDivisionError" in log.errors[0]
    assert "in divide" in log.errors[0]
    assert "IndexError" in log.errors[1]


def test_callback_that_does_its_work_is_left_alone() -> None:
    counters, heard = InputCounters(), []
    StageGuard(counters, Log()).guarded("a topic", heard.append)("message")
    assert (heard, counters.values()) == (["message"], {})
