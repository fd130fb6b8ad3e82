"""What a command line says to ROS means the same to ros_embedded and rclpy."""

import pytest
from rclpy._rclpy_pybind11 import RCLError, RCLInvalidROSArgsError, UnknownROSArgsError
from rclpy.context import Context
from rclpy.node import Node
from rclpy.utilities import remove_ros_args


def names_of(arguments: list[str]) -> tuple[str, str, str, str]:
    """A node's full name, its topics `a` and `~/p` and its service `s`, of `n` in `/ns`."""
    context = Context()
    context.init(args=arguments)
    try:
        node = Node("n", namespace="/ns", context=context, start_parameter_services=False)
        topics = [node.resolve_topic_name(topic) for topic in ("a", "~/p")]
        found = (node.get_fully_qualified_name(), *topics, node.resolve_service_name("s"))
        node.destroy_node()
        return found
    finally:
        context.try_shutdown()


@pytest.mark.parametrize(
    ("rules", "changed"),
    [
        (["a:=b"], {1: "/ns/b"}),
        (["a:=/b"], {1: "/b"}),
        (["/ns/a:=b"], {1: "/ns/b"}),
        (["/a:=b"], {}),
        (["~/p:=q"], {2: "/ns/q"}),
        (["/ns/n/p:=~/z_"], {2: "/ns/n/z_"}),
        (["n:a:=b"], {1: "/ns/b"}),
        (["m:a:=b"], {}),
        (["rostopic://a:=b", "rostopic://s:=t"], {1: "/ns/b"}),
        (["rosservice:///ns/s:=/t"], {3: "/t"}),
        (["s:=t", "s:=u"], {3: "/ns/t"}),
        (["a:=b", "b:=c"], {1: "/ns/b"}),
        (["__node:=zz"], {0: "/ns/zz", 2: "/ns/zz/p"}),
        (["n:__name:=zz", "zz:a:=b"], {0: "/ns/zz", 1: "/ns/b", 2: "/ns/zz/p"}),
        (["m:__node:=zz"], {}),
        (["__ns:=/y", "/y/a:=/q"], {0: "/y/n", 1: "/q", 2: "/y/n/p", 3: "/y/s"}),
        (["__ns:=/"], {0: "/n", 1: "/a", 2: "/n/p", 3: "/s"}),
    ],
)
def test_rules_rename(rules: list[str], changed: dict[int, str]) -> None:
    expected = ["/ns/n", "/ns/a", "/ns/n/p", "/ns/s"]
    for index, name in changed.items():
        expected[index] = name
    flags = [word for rule in rules for word in ("-r", rule)]
    assert names_of(["--ros-args", *flags]) == tuple(expected)
    assert names_of(["own", *rules]) == tuple(expected)  # as before there was --ros-args


@pytest.mark.parametrize(
    "rule",
    ["a:=", ":=a", "a", "a:b", "a:=b:=c", "a:=b/", "a:=1b", "a:=b//c", "a:=~", "~:=a", "~p:=q", "a:={node}/b", "/*:=/x",
     "a:=b__c", "a__b:=c", "a:=b c", "a.b:=c", "a:=b-c", "é:=b", "/n:a:=b", "__ns:=y", "__ns:=~/a",
     "__node:=a/b", "__node:=1a", "__name:=", "__nodes:=a"],
)  # fmt: skip
def test_rule_that_is_none_is_refused(rule: str) -> None:
    with pytest.raises(RCLError):
        names_of(["--ros-args", "-r", rule])
    assert remove_ros_args(["own", rule]) == ["own", rule]


@pytest.mark.parametrize("name", ["a__b", "/a", "a/b.c", "_a", "a9", "n:a.b", "m:a"])
def test_parameter_is_named_with_dots_and_slashes(name: str) -> None:
    names_of(["--ros-args", "-p", f"{name}:=1"])


@pytest.mark.parametrize(
    "name",
    ["", " x", "x ", "1x", ".a", "a.", "a..b", "__a", "~a", "~/a", "a-b", "é", "*:x", "/ns/n:x", "n__m:x", "a:b:x"],
)
def test_name_that_no_parameter_has_is_refused(name: str) -> None:
    with pytest.raises(RCLError):
        names_of(["--ros-args", "-p", f"{name}:=1"])


def test_own_arguments_are_what_is_left() -> None:
    words = ["prog", "x", "--ros-args", "-r", "a:=b", "--", "y", "a:=b", "--flag", "--ros-args", "-p", "z:=1"]
    assert remove_ros_args(words) == ["prog", "x", "y", "--flag"]
    with pytest.raises(UnknownROSArgsError):
        remove_ros_args(["--ros-args", "-r", "a:=b", "extra"])
    with pytest.raises(RCLInvalidROSArgsError):
        remove_ros_args(["--ros-args", "-p", "x"])


@pytest.mark.parametrize(
    "words", [["-e", "/a/b"], ["--enclave", "/"], ["--log-level", "INFO"], ["--log-level", "a.b:=warn"]]
)
def test_further_flags_are_taken(words: list[str]) -> None:
    names_of(["--ros-args", *words])


@pytest.mark.parametrize(
    "words", [["-e", "a"], ["-e", "/a/"], ["--log-level", ":=info"], ["--log-level", "10"], ["-e"]]
)
def test_further_flags_without_sense_are_refused(words: list[str]) -> None:
    with pytest.raises(RCLError):
        names_of(["--ros-args", *words])
