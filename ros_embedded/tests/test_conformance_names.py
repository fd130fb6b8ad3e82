"""Names of topics, services, nodes and namespaces are judged and expanded alike in ros_embedded and rclpy."""

from collections.abc import Callable

import pytest
from rclpy._rclpy_pybind11 import RCLError
from rclpy.exceptions import InvalidServiceNameException, InvalidTopicNameException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.validate_topic_name import validate_topic_name

FAULTS = [
    ("", "must not be empty", 0),
    ("1a", "token must not start with a number", 0),
    ("a/1b", "token must not start with a number", 2),
    ("a/", "must not end with a forward slash", 1),
    ("a/~b", "must not have tilde '~' unless it is the first", 2),
    ("~a/b", "tilde '~' that is not followed by a forward slash", 1),
    ("a b", "must not contain characters other than", 1),
    ("a{b c}~", "substitution name must not contain", 3),
    ("a{b{c}}", "substitution name must not contain", 3),
    ("a{b/c}", "substitution name must not contain", 3),
    ("a{~}", "must not have tilde '~'", 2),
    ("a{1b}", "substitution name must not start with a number", 2),
    ("a{b", "unmatched (unbalanced) curly braces", 1),
    ("a}b", "unmatched (unbalanced) curly braces", 1),
]


@pytest.mark.parametrize(("name", "words", "place"), FAULTS)
def test_first_fault_of_a_name_is_pointed_at(name: str, words: str, place: int) -> None:
    for is_service, error in ((False, InvalidTopicNameException), (True, InvalidServiceNameException)):
        with pytest.raises(error) as caught:
            validate_topic_name(name, is_service=is_service)
        lines = str(caught.value).splitlines()
        assert words in lines[0]
        assert lines[1:3] == [f"  '{name}'", f"   {' ' * place}^"]
    with pytest.raises(ValueError, match="is invalid"):
        expand_topic_name(name, "n", "/ns")


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("a", "/ns/a"),
        ("/a", "/a"),
        ("a//b", "/ns/a//b"),
        ("~", "/ns/n"),
        ("~/a", "/ns/n/a"),
        ("{node}/a", "/ns/n/a"),
        ("a{node}_{node}", "/ns/an_n"),
        ("{ns}/a", "/ns/a"),
        ("{namespace}/{node}", "/ns/n"),
    ],
)
def test_name_is_expanded(name: str, full: str) -> None:
    assert validate_topic_name(name)
    assert expand_topic_name(name, "n", "/ns") == full


def test_root_namespace_adds_nothing() -> None:
    assert expand_topic_name("a", "n", "/") == "/a"
    assert expand_topic_name("~", "n", "/") == "/n"


@pytest.mark.parametrize("name", ["", "/", "1x", "a//b", "a b", "{x}", "{node", "a~", "a/"])
def test_node_resolves_no_faulty_name(make_node: Callable, name: str) -> None:
    node = make_node()
    for resolve in (node.resolve_topic_name, node.resolve_service_name):
        for only_expand in (False, True):
            with pytest.raises(RCLError, match="failed to resolve name: "):
                resolve(name, only_expand=only_expand)


def test_name_that_only_its_expansion_spoils_counts_nothing(make_node: Callable) -> None:
    node = make_node()
    for count in (node.count_publishers, node.count_subscribers, node.get_publishers_info_by_topic):
        with pytest.raises(InvalidTopicNameException):
            count("a//b")
    for count in (node.count_services, node.count_clients):
        with pytest.raises(InvalidServiceNameException):
            count("a//b")
