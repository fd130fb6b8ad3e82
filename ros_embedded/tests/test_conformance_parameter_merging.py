"""Parameter files and `-p` rules are put together as rcl does it.

The rules, from rcl_yaml_param_parser, rcl's arguments.c and rclpy's node.cpp:

1. Files and rules of one command line are read in their order into blocks, one for each spelling of a node name
   (a rule without a node's name: `/**`). Blocks are kept in the order of their first appearance.
2. In a block, the last value of a name counts; a group (`g: {x: 1}`) is written `g.x`.
3. A node takes all blocks whose names match its own, in their order; the last value of a name counts. `*` stands for
   one part of a name, `**` for any number.
4. A node's own arguments make blocks of their own, which come after those of the program.
"""

from pathlib import Path
from typing import Any

import pytest
from rclpy._rclpy_pybind11 import RCLError
from rclpy.context import Context
from rclpy.node import Node

OF_EVERY_NODE = {"use_sim_time", "start_type_description_service"}
TYPES_IN_ORDER = (bool, int, float, str)
QUIET = {"start_parameter_services": False, "enable_rosout": False}
DECLARED = {"automatically_declare_parameters_from_overrides": True}


def parameters_of(arguments: list[str], own: list[str], namespace: str) -> dict[str, Any]:
    """The values that a node `n` gets from a program's arguments and its own."""
    context = Context()
    context.init(args=arguments)
    try:
        node = Node("n", namespace=namespace, context=context, cli_args=own, **QUIET, **DECLARED)
        found = {name: each.value for name, each in node.get_parameters_by_prefix("").items()}
        node.destroy_node()
    finally:
        context.try_shutdown()
    plain = {name: value if isinstance(value, TYPES_IN_ORDER) else list(value) for name, value in found.items()}
    return {name: value for name, value in plain.items() if name not in OF_EVERY_NODE}


def typed(values: dict[str, Any]) -> dict[str, tuple[type, Any]]:
    """1, 1.0 and True are equal, but are not the same value of a parameter."""
    return {name: (type(value[0]) if isinstance(value, list) else type(value), value) for name, value in values.items()}


def given(folder: Path, words: tuple[str, ...]) -> list[str]:
    """A command line of files, told by their text, and `-p` rules."""
    arguments = ["--ros-args"]
    for number, word in enumerate(words):
        if ":=" in word:
            arguments += ["-p", word]
        else:
            path = folder / f"{number}.yaml"
            path.write_text(word)
            arguments += ["--params-file", str(path)]
    return arguments


ALL_FIRST = "/**: {ros__parameters: {a: 0}}\n/**/n: {ros__parameters: {x: apartment}}"
ALL_LAST = "/**/n: {ros__parameters: {x: apartment}}\n/**: {ros__parameters: {a: 0}}"


@pytest.mark.parametrize(
    ("words", "values"),
    [
        # a rule goes into the block `/**` of the file, which comes before the node's own
        ((ALL_FIRST, "x:=studio"), {"a": 0, "x": "apartment"}),
        ((ALL_FIRST, "/**: {ros__parameters: {x: studio}}"), {"a": 0, "x": "apartment"}),
        ((ALL_LAST, "x:=studio"), {"a": 0, "x": "studio"}),
        (("/**/n: {ros__parameters: {x: apartment}}", "x:=studio"), {"x": "studio"}),
        (("/**/n: {ros__parameters: {x: 1}}", "/ns/n: {ros__parameters: {x: 2}}", "/**/n: {ros__parameters: {x: 3}}"),
         {"x": 2}),
        (("x:=1", "/**/n: {ros__parameters: {x: 2}}"), {"x": 2}),
        (("n:x:=1",), {}),  # `n` is `/n`
        # groups
        (("/**: {ros__parameters: {g: {x: 1, y: 2}}}", "g.x:=3"), {"g.x": 3, "g.y": 2}),
        # lists
        (("x:=[1]", "x:=[]"), {"x": [1]}),
        # words
        (("/**:\n  ros__parameters:\n    x: >-\n      12\n",), {"x": 12}),
        (("/**:\n  ros__parameters:\n    x: |\n      12\n",), {"x": "12\n"}),
        (("x:=0x1p-1", "y:=1e-400"), {"x": 0.5, "y": "1e-400"}),
        (("x:=07777777777777777777777",), {"x": 7777777777777777777777.0}),
        (("/**:\n  ros__parameters:\n    x:\t1",), {"x": 1}),
        # spellings
        (("a/b: {c: {d: {ros__parameters: {x: 1}}}, n: {ros__parameters: {x: 2}}}",), {}),
        (("word",), {}),
        (("[word]",), None),
        (("/ns//n: {ros__parameters: {x: 1}}",), None),
        (("/ns: {/n: {ros__parameters: {x: 1}}}",), None),
        (("/ns/: {n: {ros__parameters: {x: 1}}}",), {"x": 1}),
        (("1n: {ros__parameters: {x: 1}}",), None),
        (("/n**: {ros__parameters: {x: 1}}",), None),
    ],
)  # fmt: skip
def test_files_and_rules_give_what_they_give_to_rcl(
    tmp_path: Path, words: tuple[str, ...], values: dict[str, Any] | None
) -> None:
    arguments = given(tmp_path, words)
    if values is None:
        with pytest.raises(RCLError):
            parameters_of(arguments, [], "/ns")
    else:
        assert typed(parameters_of(arguments, [], "/ns")) == typed(values)


def test_arguments_of_the_node_itself_win(tmp_path: Path) -> None:
    program = given(tmp_path, ("/ns/n: {ros__parameters: {x: 1, y: 2}}",))
    assert typed(parameters_of(program, ["--ros-args", "-p", "x:=3"], "/ns")) == typed({"x": 3, "y": 2})


@pytest.mark.parametrize("words", [("x:=[]",), ("x:= ",), ("x:=# nothing",), ("/**: {ros__parameters: {x: []}}",)])
def test_no_value_leaves_a_declared_parameter_without_one(tmp_path: Path, words: tuple[str, ...]) -> None:
    context = Context()
    context.init(args=given(tmp_path, words))
    try:
        node = Node("n", context=context, **QUIET)
        node.declare_parameter("x", 1)
        assert node.get_parameter_or("x").value is None
        node.destroy_node()
    finally:
        context.try_shutdown()
