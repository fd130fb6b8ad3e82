"""What is wrong is refused with the same exceptions in ros_embedded and rclpy."""

import gc
from collections.abc import Callable
from typing import Any

import pytest
import rclpy
from example_interfaces.action import Fibonacci
from rcl_interfaces.msg import ParameterValue
from rclpy._rclpy_pybind11 import RCLError, RCLInvalidROSArgsError, UnknownROSArgsError
from rclpy.action import ActionClient, ActionServer
from rclpy.clock import Clock, ClockType, JumpThreshold
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.exceptions import InvalidParameterException, NotInitializedException, ParameterNotDeclaredException
from rclpy.executors import Executor
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import DurabilityPolicy, HistoryPolicy, InvalidQoSProfileException, QoSProfile
from rclpy.time import Time
from rclpy.validate_node_name import validate_node_name
from rclpy.validate_parameter_name import validate_parameter_name
from rclpy.validate_topic_name import validate_topic_name
from std_msgs.msg import String
from std_srvs.srv import SetBool

VALUES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "time before zero": (lambda: Time(seconds=-1), ValueError, "Seconds value must not be negative"),
    "time too late": (lambda: Time(nanoseconds=2**63), OverflowError, "too large"),
    "time of no clock": (lambda: Time(clock_type="ros"), TypeError, "ClockType enum"),
    "times of two clocks": (
        lambda: Time(clock_type=ClockType.ROS_TIME) - Time(clock_type=ClockType.STEADY_TIME),
        TypeError,
        "different clock types",
    ),
    "time of no message": (lambda: Time.from_msg(String()), TypeError, "Must pass a"),
    "duration too long": (lambda: Duration(nanoseconds=2**63), OverflowError, "too large"),
    "duration of no message": (lambda: Duration.from_msg(String()), TypeError, "Must pass a"),
    "clock of no kind": (lambda: Clock(clock_type="ros"), TypeError, ""),
    "jump without a direction": (
        lambda: JumpThreshold(min_forward=None, min_backward=None, on_clock_change=False),
        ValueError,
        "At least one",
    ),
    "jump forward by nothing": (
        lambda: JumpThreshold(min_forward=Duration(), min_backward=None, on_clock_change=True),
        ValueError,
        "min_forward",
    ),
    "jump backward by nothing": (
        lambda: JumpThreshold(min_forward=None, min_backward=Duration(), on_clock_change=True),
        ValueError,
        "min_backward",
    ),
    "history without depth": (
        lambda: QoSProfile(history=HistoryPolicy.KEEP_LAST),
        InvalidQoSProfileException,
        "without a depth",
    ),
    "profile of nothing": (lambda: QoSProfile(), InvalidQoSProfileException, "History and/or depth"),
    "profile with a stranger": (lambda: QoSProfile(depth=1, colour="red"), AssertionError, ""),
    "policy without such a key": (lambda: DurabilityPolicy.get_from_short_key("always"), KeyError, ""),
    "node name that starts with a digit": (lambda: validate_node_name("1a"), Exception, "must not start with a number"),
    "node name that is too long": (lambda: validate_node_name("n" * 256), Exception, "length"),
    "empty topic": (lambda: validate_topic_name(""), Exception, "must not be empty"),
    "topic that ends with a slash": (lambda: validate_topic_name("a/"), Exception, "slash"),
    "topic with a tilde inside": (lambda: validate_topic_name("a/~b"), Exception, "~"),
    "substitution with a space": (lambda: validate_topic_name("{a b}"), Exception, "substitution"),
    "empty parameter name": (lambda: validate_parameter_name(""), InvalidParameterException, "Invalid parameter name"),
    "parameter of an odd value": (lambda: Parameter("x", value={}), TypeError, "not one of the allowed types"),
    "parameter of an odd list": (lambda: Parameter("x", value=[1, "a"]), TypeError, "list of one of the allowed types"),
    "parameter of no type": (lambda: Parameter("x", type_=3), TypeError, "must be an instance of"),
    "parameter of another type": (
        lambda: Parameter("x", type_=Parameter.Type.STRING, value=3),
        ValueError,
        "do not agree",
    ),
    "value of an unknown type": (lambda: parameter_value_to_python(ParameterValue(type=99)), RuntimeError, "99"),
    "context that was not initialised": (lambda: Context().shutdown(), RuntimeError, "must be initialized"),
    "domain of no context": (lambda: Context().get_domain_id(), RuntimeError, "must be initialized"),
    "domain below zero": (lambda: Context().init(args=[], domain_id=-1), RuntimeError, "lower than zero"),
    "argument that is none of ROS's": (lambda: _init("--bogus"), UnknownROSArgsError, "--bogus"),
    "flag without its value": (lambda: _init("-p"), RCLError, ""),
    "remapping without a target": (lambda: _init("-r", "chatter"), RCLError, "remap rule"),
    "parameter without a value": (lambda: _init("-p", "x"), RCLError, "parameter override rule"),
    "log level of no name": (lambda: _init("--log-level", "loud"), RCLError, ""),
    "node without a context": (lambda: Node("n", context=Context()), NotInitializedException, ""),
    "message that is no text": (lambda: get_logger("a").info(3), TypeError, ""),
    "severity of no name": (lambda: get_logger("a").log("text", 17), ValueError, "17"),
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
    "parameter asked for by number": (lambda n: n.get_parameters([1]), TypeError, ""),
    "type of a parameter that is not declared": (
        lambda n: n.get_parameter_type("nobody"),
        ParameterNotDeclaredException,
        "nobody",
    ),
    "parameter that is none": (lambda n: n.set_parameters(["x"]), TypeError, "Parameter"),
    "parameters that are none, at once": (lambda n: n.set_parameters_atomically(["x"]), TypeError, "Parameter"),
    "list below no list": (lambda n: n.list_parameters("x", 0), TypeError, "must be a list"),
    "list below a number": (lambda n: n.list_parameters([1], 0), TypeError, "instances of type str"),
    "list of half a depth": (lambda n: n.list_parameters([], 0.5), TypeError, "instance of type int"),
    "list of a depth below zero": (lambda n: n.list_parameters([], -1), ValueError, "greater than or equal to zero"),
    "description of what is not declared": (
        lambda n: n.describe_parameter("nobody"),
        ParameterNotDeclaredException,
        "nobody",
    ),
    "removal of what is not declared": (
        lambda n: n.undeclare_parameter("nobody"),
        ParameterNotDeclaredException,
        "nobody",
    ),
    "callback that was never added": (lambda n: n.remove_on_set_parameters_callback(print), ValueError, ""),
    "declaration without a name": (lambda n: n.declare_parameters("", [(1, 2)]), TypeError, "str"),
    "request of another kind": (lambda n: n.create_client(SetBool, "s").call_async(String()), TypeError, ""),
    "message class that is none": (lambda n: n.create_publisher(int, "t", 1), Exception, ""),
    "goal of another kind": (
        lambda n: ActionClient(n, Fibonacci, "f").send_goal_async(String()),
        TypeError,
        "",
    ),
    "result kept for less than no time": (
        lambda n: ActionServer(n, Fibonacci, "f", print, result_timeout=-1),
        ValueError,
        "timer period must be non-negative",
    ),
    "execution that is none": (lambda n: ActionServer(n, Fibonacci, "f", 3), TypeError, ""),
    "shutdown callback that is none": (lambda n: n.context.on_shutdown(3), TypeError, "callable"),
}


@pytest.mark.parametrize("case", NODE)
def test_wrong_use_of_a_node_is_refused(case: str, make_node: Callable) -> None:
    call, kind, words = NODE[case]
    with pytest.raises(kind) as caught:
        call(make_node())
    assert words in str(caught.value)


@pytest.mark.parametrize("content", ["a: [1, 2.5]", "- a\n- list", "n:\n  x: 1", "n: {ros__parameters: [1]}", "a: {"])
def test_file_that_holds_no_parameters_is_refused(content: str, tmp_path: Any) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text(content)
    with pytest.raises(RCLError):
        rclpy.init(args=["--ros-args", "--params-file", str(path)], context=Context())


def test_file_that_is_missing_is_refused(make_node: Callable, tmp_path: Any) -> None:
    with pytest.raises(RCLInvalidROSArgsError):
        make_node("n", cli_args=["--ros-args", "--params-file", str(tmp_path / "none.yaml")])
