"""/diagnostics keeps to the conventions of diagnostic_updater: a status for each component, named `NODE: component`."""

from typing import Any

from ros_peer import RosPeer, wait_until

from memory_node.nodes.node_parameters import DiagnosticUpdaterParameters


def heard(peer: RosPeer, **config: Any) -> list[Any]:
    """What a node with three components publishes first."""
    from diagnostic_msgs.msg import DiagnosticArray

    from memory_node.nodes.diagnostics import Diagnosis, DiagnosticsPublisher

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
    from diagnostic_msgs.msg import DiagnosticStatus

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
