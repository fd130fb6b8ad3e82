"""Parameters behave alike in ros_embedded and rclpy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rcl_interfaces import srv
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    ParameterEvent,
    SetParametersResult,
)
from rclpy._rclpy_pybind11 import RCLInvalidROSArgsError
from rclpy.exceptions import (
    InvalidParameterTypeException,
    InvalidParameterValueException,
    ParameterAlreadyDeclaredException,
    ParameterImmutableException,
    ParameterNotDeclaredException,
    ParameterUninitializedException,
)
from rclpy.parameter import Parameter, get_parameter_value, parameter_value_to_python
from rclpy.qos import qos_profile_parameter_events

FILE = """
/**:
  ros__parameters: {everywhere: 1, shared: general}
/ns/configured:
  ros__parameters:
    shared: mine
    nested: {deep: {gain: 1.5e-3, on: true}}
    names: [a, b]
    sizes: [1, 2, 3]
    weights: [1.0, 2.5]
other:
  ros__parameters: {stranger: 1}
"""


@pytest.mark.parametrize(
    "value", [True, 3, 2.5, "text", [True, False], [1, 2], [1.0, 2.0], ["a", "b"], [b"\x01", b"\x02"]]
)
def test_declared_value_keeps_its_type(make_node: Callable, value: Any) -> None:
    node = make_node()
    assert node.declare_parameter("x", value).value == value
    received = Parameter.from_parameter_msg(node.get_parameter("x").to_parameter_msg()).value
    assert (list(received) if isinstance(value, list) else received) == value
    with pytest.raises(ParameterAlreadyDeclaredException):
        node.declare_parameter("x", value)


def test_static_type_is_enforced_unless_dynamic(make_node: Callable) -> None:
    node = make_node()
    node.declare_parameter("fixed", 1)
    result = node.set_parameters([Parameter("fixed", value="one")])[0]
    assert not result.successful
    assert result.reason.startswith("Wrong parameter type")
    node.declare_parameter("free", 1, ParameterDescriptor(dynamic_typing=True))
    assert node.set_parameters([Parameter("free", value="one")])[0].successful
    assert node.get_parameter("free").value == "one"


def test_type_without_value_is_uninitialised(make_node: Callable) -> None:
    node = make_node(parameter_overrides=[Parameter("given", value=5), Parameter("wrong", value="x")])
    node.declare_parameter("empty", Parameter.Type.INTEGER)
    with pytest.raises(ParameterUninitializedException):
        node.get_parameter("empty")
    assert node.declare_parameter("given", Parameter.Type.INTEGER).value == 5
    with pytest.raises(InvalidParameterTypeException):
        node.declare_parameter("wrong", Parameter.Type.INTEGER)


@pytest.mark.parametrize(
    ("value", "accepted"), [(0, True), (10, True), (4, True), (5, False), (12, False), (-2, False)]
)
def test_integer_range_and_step(make_node: Callable, value: int, accepted: bool) -> None:
    node = make_node()
    limits = IntegerRange(from_value=0, to_value=10, step=2)
    node.declare_parameter("x", 2, ParameterDescriptor(integer_range=[limits]))
    assert node.set_parameters([Parameter("x", value=value)])[0].successful is accepted


@pytest.mark.parametrize(("value", "accepted"), [(0.0, True), (0.3, True), (0.25, False), (1.1, False)])
def test_floating_point_range_and_step(make_node: Callable, value: float, accepted: bool) -> None:
    node = make_node()
    limits = FloatingPointRange(from_value=0.0, to_value=1.0, step=0.1)
    node.declare_parameter("x", 0.5, ParameterDescriptor(floating_point_range=[limits]))
    assert node.set_parameters([Parameter("x", value=value)])[0].successful is accepted


def test_default_out_of_range_is_refused(make_node: Callable) -> None:
    descriptor = ParameterDescriptor(integer_range=[IntegerRange(from_value=0, to_value=1)])
    with pytest.raises(InvalidParameterValueException):
        make_node().declare_parameter("x", 2, descriptor)


def test_read_only_parameter_stays(make_node: Callable) -> None:
    node = make_node()
    node.declare_parameter("x", 1, ParameterDescriptor(read_only=True))
    assert not node.set_parameters([Parameter("x", value=2)])[0].successful
    with pytest.raises(ParameterImmutableException):
        node.undeclare_parameter("x")
    assert node.get_parameter("x").value == 1


def test_undeclared_parameter_is_refused_unless_allowed(make_node: Callable) -> None:
    strict, lenient = make_node("strict"), make_node("lenient", allow_undeclared_parameters=True)
    for use in (strict.get_parameter, strict.undeclare_parameter, strict.describe_parameter):
        with pytest.raises(ParameterNotDeclaredException):
            use("x")
    with pytest.raises(ParameterNotDeclaredException):
        strict.set_parameters([Parameter("x", value=1)])
    assert lenient.get_parameter("x").type_ == Parameter.Type.NOT_SET
    assert lenient.set_parameters([Parameter("x", value=1)])[0].successful
    assert lenient.get_parameter("x").value == 1


def test_callback_refuses_all_of_a_set(make_node: Callable) -> None:
    node = make_node()
    node.declare_parameters("", [("a", 1), ("b", 2)])

    def small(parameters: list[Parameter]) -> SetParametersResult:
        return SetParametersResult(successful=all(p.value < 10 for p in parameters), reason="too big")

    node.add_on_set_parameters_callback(small)
    assert node.set_parameters_atomically([Parameter("a", value=3), Parameter("b", value=4)]).successful
    refused = node.set_parameters_atomically([Parameter("a", value=1), Parameter("b", value=10)])
    assert (refused.successful, refused.reason) == (False, "too big")
    assert [p.value for p in node.get_parameters(["a", "b"])] == [3, 4]


def test_file_and_command_line_give_initial_values(make_node: Callable, tmp_path: Path) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text(FILE)
    arguments = ["--ros-args", "--params-file", str(path), "-p", "everywhere:=2", "-p", "late:=[1.0, 2.0]"]
    node = make_node(
        "configured", namespace="/ns", cli_args=arguments, automatically_declare_parameters_from_overrides=True
    )
    expected = {
        "everywhere": 2,
        "shared": "mine",
        "nested.deep.gain": 0.0015,
        "nested.deep.on": True,
        "names": ["a", "b"],
        "sizes": [1, 2, 3],
        "weights": [1.0, 2.5],
        "late": [1.0, 2.0],
    }
    assert {name: node.get_parameter(name).value for name in expected} == expected
    assert not node.has_parameter("stranger")
    assert set(node.get_parameters_by_prefix("nested")) == {"deep.gain", "deep.on"}


@pytest.mark.parametrize(
    ("prefixes", "depth", "expected"),
    [
        ([], 0, {"a.b.c", "a.d", "e"}),
        (["a"], 0, {"a.b.c", "a.d"}),
        (["a"], 1, {"a.d"}),
        ([], 1, {"e"}),
        (["a.b"], 0, {"a.b.c"}),
    ],
)
def test_parameters_are_listed_by_prefix_and_depth(
    make_node: Callable, prefixes: list[str], depth: int, expected: set[str]
) -> None:
    node = make_node()
    node.declare_parameters("", [("a.b.c", 1), ("a.d", 1), ("e", 1)])
    own = {"use_sim_time", "start_type_description_service"}
    assert set(node.list_parameters(prefixes, depth).names) - own == expected


def test_another_node_reads_and_sets_parameters(make_node: Callable, call: Callable) -> None:
    server = make_node("server", namespace="/ns")
    server.declare_parameter("x", 1, ParameterDescriptor(description="an x"))
    client = make_node("client")

    def ask(service: type, name: str, **request: Any) -> Any:
        return call(client.create_client(service, f"/ns/server/{name}"), service.Request(**request))

    x, y, again, text = (Parameter(*each).to_parameter_msg() for each in (
        ("x", Parameter.Type.INTEGER, 7), ("y", Parameter.Type.INTEGER, 1),
        ("x", Parameter.Type.INTEGER, 8), ("x", Parameter.Type.STRING, "s"),
    ))  # fmt: skip
    results = ask(srv.SetParameters, "set_parameters", parameters=[x, y]).results
    assert [result.successful for result in results] == [True, False]
    refused = ask(srv.SetParametersAtomically, "set_parameters_atomically", parameters=[again, text])
    assert not refused.result.successful
    assert ask(srv.GetParameters, "get_parameters", names=["x"]).values[0].integer_value == 7
    assert ask(srv.DescribeParameters, "describe_parameters", names=["x"]).descriptors[0].description == "an x"
    assert list(ask(srv.GetParameterTypes, "get_parameter_types", names=["x"]).types) == [2]
    assert ask(srv.ListParameters, "list_parameters", prefixes=["x"], depth=1).result.names == ["x"]


def test_changes_are_published_as_events(make_node: Callable, spin_until: Callable) -> None:
    node, watcher = make_node("node"), make_node("watcher")
    events: list[ParameterEvent] = []
    watcher.create_subscription(ParameterEvent, "/parameter_events", events.append, qos_profile_parameter_events)
    assert spin_until(lambda: watcher.count_publishers("/parameter_events") == 2)
    spin_until(lambda: False, timeout_s=0.3)  # until the subscription has matched both publishers
    node.declare_parameter("x", 1, ParameterDescriptor(dynamic_typing=True))
    node.set_parameters([Parameter("x", value=2)])
    node.set_parameters([Parameter("x")])
    assert spin_until(lambda: len(events) == 3)
    kinds = [(len(e.new_parameters), len(e.changed_parameters), len(e.deleted_parameters)) for e in events]
    assert kinds == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert {event.node for event in events} == {"/node"}


def test_malformed_arguments_are_refused(make_node: Callable) -> None:
    with pytest.raises(RCLInvalidROSArgsError, match="Failed to parse ROS arguments"):
        make_node("refused", cli_args=["--ros-args", "-r", "not-a-rule"])
    with pytest.raises(UnicodeEncodeError):
        rclpy.init(context=rclpy.context.Context(), args=["node.py", "\udcc3\udcb6"])


def test_undeclared_parameter_is_gone(make_node: Callable) -> None:
    node = make_node()
    node.declare_parameter("x", 1)
    assert node.get_parameter_type("x") == Parameter.Type.INTEGER.value
    node.undeclare_parameter("x")
    assert not node.has_parameter("x")


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1), ("1.5", 1.5), ("true", True), ("[1, 2]", [1, 2]), ("plain", "plain"), ("'7'", "7")]
)
def test_value_is_read_from_text(text: str, value: Any) -> None:
    read = parameter_value_to_python(get_parameter_value(string_value=text))
    assert (list(read) if isinstance(value, list) else read) == value


def test_flags_and_level_come_from_the_command_line(make_node: Callable) -> None:
    flags = ["--log-level", "named:=debug", "--disable-stdout-logs", "--enable-rosout-logs"]
    node = make_node("node", cli_args=["--ros-args", *flags, "-p", "x:=1", "--", "own"])
    assert node.declare_parameter("x", 0).value == 1
