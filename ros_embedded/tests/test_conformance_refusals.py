"""What is wrong is refused with the same exceptions in ros_embedded and rclpy."""

import gc
from collections.abc import Callable
from typing import Any

import pytest
from example_interfaces.action import Fibonacci
from rclpy._rclpy_pybind11 import RCLError, RCLInvalidROSArgsError, UnknownROSArgsError
from rclpy.action import ActionClient
from rclpy.clock import ClockType
from rclpy.context import Context
from rclpy.exceptions import InvalidParameterException, NotInitializedException, ParameterNotDeclaredException
from rclpy.executors import Executor
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import HistoryPolicy, InvalidQoSProfileException, QoSProfile
from rclpy.time import Time
from rclpy.validate_node_name import validate_node_name
from rclpy.validate_parameter_name import validate_parameter_name
from rclpy.validate_topic_name import validate_topic_name
from std_msgs.msg import String
from std_srvs.srv import SetBool

VALUES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "time before zero": (lambda: Time(seconds=-1), ValueError, "Seconds value must not be negative"),
    "time too late": (lambda: Time(nanoseconds=2**63), OverflowError, "too large"),
    "times of two clocks": (
        lambda: Time(clock_type=ClockType.ROS_TIME) - Time(clock_type=ClockType.STEADY_TIME),
        TypeError,
        "different clock types",
    ),
    "history without depth": (
        lambda: QoSProfile(history=HistoryPolicy.KEEP_LAST),
        InvalidQoSProfileException,
        "without a depth",
    ),
    "profile of nothing": (lambda: QoSProfile(), InvalidQoSProfileException, "History and/or depth"),
    "node name that starts with a digit": (lambda: validate_node_name("1a"), Exception, "must not start with a number"),
    "empty topic": (lambda: validate_topic_name(""), Exception, "must not be empty"),
    "empty parameter name": (lambda: validate_parameter_name(""), InvalidParameterException, "Invalid parameter name"),
    "parameter of an odd value": (lambda: Parameter("x", value={}), TypeError, "not one of the allowed types"),
    "parameter of another type": (
        lambda: Parameter("x", type_=Parameter.Type.STRING, value=3),
        ValueError,
        "do not agree",
    ),
    "domain below zero": (lambda: Context().init(args=[], domain_id=-1), RuntimeError, "lower than zero"),
    "argument that is none of ROS's": (lambda: _init("--bogus"), UnknownROSArgsError, "--bogus"),
    "flag without its value": (lambda: _init("-p"), RCLError, ""),
    "remapping without a target": (lambda: _init("-r", "chatter"), RCLError, "remap rule"),
    "node without a context": (lambda: Node("n", context=Context()), NotInitializedException, ""),
    "message that is no text": (lambda: get_logger("a").info(3), TypeError, ""),
}


def _init(*arguments: str) -> None:
    Context().init(args=["--ros-args", *arguments])


@pytest.mark.parametrize("case", VALUES)
def test_wrong_value_is_refused(case: str) -> None:
    call, kind, words = VALUES[case]
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_executor_without_a_context_is_refused() -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - of other kinds there and here
        Executor(context=Context())
    gc.collect()  # rclpy's half-made executor complains, here and in no other test


NODE: dict[str, tuple[Callable[[Node], Any], type[Exception], str]] = {
    "timer of a negative period": (lambda n: n.create_timer(-1.0, print), RCLError, "must be non-negative"),
    "parameter that is none": (lambda n: n.set_parameters(["x"]), TypeError, "Parameter"),
    "removal of what is not declared": (
        lambda n: n.undeclare_parameter("nobody"),
        ParameterNotDeclaredException,
        "nobody",
    ),
    "request of another kind": (lambda n: n.create_client(SetBool, "s").call_async(String()), TypeError, ""),
    "message class that is none": (lambda n: n.create_publisher(int, "t", 1), Exception, ""),
    "goal of another kind": (
        lambda n: ActionClient(n, Fibonacci, "f").send_goal_async(String()),
        TypeError,
        "",
    ),
}


@pytest.mark.parametrize("case", NODE)
def test_wrong_use_of_a_node_is_refused(case: str, make_node: Callable) -> None:
    call, kind, words = NODE[case]
    with pytest.raises(kind) as caught:
        call(make_node())
    assert words in str(caught.value)


def test_file_that_is_missing_is_refused(make_node: Callable, tmp_path: Any) -> None:
    with pytest.raises(RCLInvalidROSArgsError):
        make_node("n", cli_args=["--ros-args", "--params-file", str(tmp_path / "none.yaml")])
