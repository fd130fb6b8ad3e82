"""YAML in files and on command lines gives parameters of the same types in ros_embedded and rclpy."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rclpy._rclpy_pybind11 import RCLError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1), ("-1", -1), ("+1", 1), ("010", 8), ("0x10", 16), ("08", 8.0), ("0b1", "0b1"), ("1_000", "1_000"),
        ("1.", 1.0), (".5", 0.5), ("-.5", -0.5), ("1e3", 1000.0), ("1e", "1e"), ("1e400", "1e400"),
        (".inf", math.inf), ("-.inf", -math.inf), ("inf", math.inf), ("Infinity", math.inf), (".INf", ".INf"),
        ("9" * 5000, "9" * 5000),
        ("9223372036854775807", 2**63 - 1), ("9223372036854775808", 2.0**63),
        ("true", True), ("Yes", True), ("y", True), ("ON", True), ("off", False), ("n", False), ("tRUE", "tRUE"),
        ("~", "~"), ("null", "null"), ("12:30", "12:30"), ("2020-01-01", "2020-01-01"), ("=", "="), ("<<", "<<"),
        ("'1'", "1"), ('"true"', "true"), ("''", ""), ("!!str 1", "1"), ("!!int '3'", "3"), ("!!binary aGk=", "aGk="),
        ("a b", "a b"), ("1 # comment", 1), ("[1, 2]", [1, 2]), ("[.5]", [0.5]), ("[a, 'b c']", ["a", "b c"]),
        ("[yes, no]", [True, False]), ("[~]", ["~"]), ("- 1\n- 2", [1, 2]),
    ],
)  # fmt: skip
def test_word_of_the_command_line_gets_the_type_that_rcl_gives_it(make_node: Callable, text: str, value: Any) -> None:
    node = make_node(cli_args=["--ros-args", "-p", f"x:={text}"], automatically_declare_parameters_from_overrides=True)
    got = node.get_parameter("x").value
    got = list(got) if isinstance(value, list) else got
    assert (type(got), got) == (type(value), value)


@pytest.mark.parametrize(
    "text", ["", "{a: 1}", "a: 1", "[1, 2.0]", "[true, 1]", "[1, a]", "{", "[,]", "-", "@", "&", "*a"]
)
def test_word_that_is_no_value_is_refused(make_node: Callable, text: str) -> None:
    with pytest.raises(RCLError):
        make_node(cli_args=["--ros-args", "-p", f"x:={text}"])


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("/**: {ros__parameters: {a: {b: 12:30, c: {d: [x]}}, 1: w, on: z, e.f: 2}}",
         {"a.b": "12:30", "a.c.d": ["x"], "1": "w", "on": "z", "e.f": 2}),
        ("/ns/n: {ros__parameters: {a: 1}}\n/ns: {n: {ros__parameters: {b: 2}}}\nn: {ros__parameters: {c: 3}}",
         {"a": 1, "b": 2}),
        ("/*: {ros__parameters: {a: 1}}\n/*/n: {ros__parameters: {b: 1}}\n/**/n: {ros__parameters: {c: 1}}\n"
         "/ns/*: {ros__parameters: {d: 1}}\n/ns/**: {ros__parameters: {e: 1}}", {"b": 1, "c": 1, "d": 1, "e": 1}),
        ("/**: {ros__parameters: {a: 1}}\n/ns/n: {ros__parameters: {a: 2}}\n/**: {ros__parameters: {a: 3}}", {"a": 2}),
        ("/**: {ros__parameters: {a: 1, a: 2}}", {"a": 2}),
        ("/**:\n  ros__parameters:\n    a: |\n      two\n      lines\n    b: >-\n      one\n      line",
         {"a": "two\nlines\n", "b": "one line"}),
        ("/**: {ros__parameters: {a: 1}}\n---\n/**: {ros__parameters: {b: 1}}", {"a": 1, "b": 1}),
        ("", {}),
    ],
)  # fmt: skip
def test_file_gives_what_it_gives_to_rcl(make_node: Callable, tmp_path: Path, text: str, values: dict) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text(text)
    arguments = ["--ros-args", "--params-file", str(path)]
    node = make_node("n", namespace="/ns", cli_args=arguments, automatically_declare_parameters_from_overrides=True)
    own = {"use_sim_time", "start_type_description_service"}
    assert {name: node.get_parameter(name).value for name in node._parameters if name not in own} == values


@pytest.mark.parametrize(
    "text",
    [
        "/**: {ros__parameters: {a: }}",
        "/**: {ros__parameters: {a: &x 1, b: *x}}",
        "ros__parameters: {a: 1}",
        "n: {a: 1}",
        "/**: {ros__parameters: {[a]: 1}}",
        "n: {ros__parameters: [1]}",
        "a: [1, 2.5]",
        "- a\n- list",
        "a: {",
    ],
)
def test_file_that_rcl_refuses_is_refused(make_node: Callable, tmp_path: Path, text: str) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text(text)
    with pytest.raises(RCLError):
        make_node("n", cli_args=["--ros-args", "--params-file", str(path)])
