"""Parameter files and `-p` rules are put together as rcl does it, held against a model of its rules.

The rules, from rcl_yaml_param_parser, rcl's arguments.c and rclpy's node.cpp:

1. Files and rules of one command line are read in their order into blocks, one for each spelling of a node name
   (a rule without a node's name: `/**`). Blocks are kept in the order of their first appearance.
2. In a block, `name: value` goes to the first parameter of that name, or to a new one at the end. A value replaces
   one of its own type. Where a parameter has values of several types, the first of bool, integer, double, string and
   their arrays counts.
3. In a group (`g: {x: 1}`), each key takes the first parameter that has the group's name, or a new one, and renames
   it to `g.x`. So values in groups are added at the end, whatever `g.x` there is.
4. A node takes all blocks whose names match its own, in their order, and in a block all parameters in theirs; the last
   value of a name counts. `*` stands for one part of a name, `**` for any number.
5. A node's own arguments make blocks of their own, which come after those of the program.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rclpy._rclpy_pybind11 import RCLError
from rclpy.context import Context
from rclpy.node import Node

CASES = 200
OF_EVERY_NODE = {"use_sim_time", "start_type_description_service"}
WORDS = {
    "1": 1, "-2": -2, "2.5": 2.5, "1e3": 1000.0, "true": True, "off": False, "w": "w", "'7'": "7",
    "[1, 2]": [1, 2], "[0.5]": [0.5], "[a, b]": ["a", "b"], "[yes]": [True],
}  # fmt: skip
TYPES_IN_ORDER = (bool, int, float, str)
QUIET = {"start_parameter_services": False, "enable_rosout": False}
DECLARED = {"automatically_declare_parameters_from_overrides": True}

Values = dict[str, "str | Values"]


def type_rank(value: Any) -> int:
    element = value[0] if isinstance(value, list) else value
    return TYPES_IN_ORDER.index(type(element)) + (len(TYPES_IN_ORDER) if isinstance(value, list) else 0)


@dataclass
class ModelParameter:
    name: str
    values: dict[int, Any] = field(default_factory=dict)


class Model:
    """What a command line gives to nodes, by the rules above."""

    def __init__(self) -> None:
        self.blocks: list[tuple[str, list[ModelParameter]]] = []

    def add(self, node_name: str, values: Values) -> None:
        names = [name for name, _ in self.blocks]
        if node_name not in names:
            self.blocks.append((node_name, []))
            names.append(node_name)
        parameters = self.blocks[names.index(node_name)][1]
        for name, value in values.items():
            self._give(self._first(parameters, name), parameters, value)

    def _first(self, parameters: list[ModelParameter], name: str) -> ModelParameter:
        for parameter in parameters:
            if parameter.name == name:
                return parameter
        parameters.append(ModelParameter(name))
        return parameters[-1]

    def _give(self, parameter: ModelParameter, parameters: list[ModelParameter], value: str | Values) -> None:
        if isinstance(value, str):
            parameter.values[type_rank(WORDS[value])] = WORDS[value]
            return
        group = parameter.name
        for key, inner in value.items():
            member = self._first(parameters, group)
            member.name = f"{group}.{key}"
            self._give(member, parameters, inner)

    def values_of(self, full_name: str) -> dict[str, Any]:
        found = {}
        for node_name, parameters in self.blocks:
            if stands_for(node_name.strip("/").split("/"), full_name.strip("/").split("/")):
                found |= {parameter.name: parameter.values[min(parameter.values)] for parameter in parameters}
        return found


def stands_for(pattern: list[str], name: list[str]) -> bool:
    if not pattern or not name:
        return not name and all(part == "**" for part in pattern)
    if pattern[0] == "**":
        return stands_for(pattern[1:], name) or stands_for(pattern, name[1:])
    return pattern[0] in ("*", name[0]) and stands_for(pattern[1:], name[1:])


class Generator:
    """Random command lines, written to files and told to the model."""

    NODE_NAMES = (
        "/**", "/**", "/*", "n", "/n", "/ns/n", "ns/n", "/**/n", "/*/n", "/ns/*", "/ns/**", "/ns/deep/n", "/*/*/n",
        "/**/deep/**", "other", "**", "*/n",
    )  # fmt: skip
    GROUPS = ("g", "k")
    NAMES = ("a", "b", "g.x", "g.y", "k.x", "c")

    def __init__(self, seed: int, folder: Path) -> None:
        self._random = random.Random(seed)
        self._folder = folder
        self.namespace = self._random.choice(("/", "/ns", "/ns/deep"))

    def command_line(self) -> tuple[list[str], Model]:
        model, arguments = Model(), ["--ros-args"]
        for _ in range(self._random.randint(1, 4)):
            if self._random.random() < 0.6:
                arguments += ["--params-file", self._file(model)]
            else:
                arguments += ["-p", self._rule(model)]
        return arguments, model

    def _file(self, model: Model) -> str:
        lines: list[str] = []
        for _ in range(self._random.randint(1, 4)):
            name, values = self._random.choice(self.NODE_NAMES), self._values()
            model.add(name, values)
            lines += self._section(name, values)
        path = self._folder / f"{len(list(self._folder.iterdir()))}.yaml"
        path.write_text("\n".join(lines))
        return str(path)

    def _section(self, name: str, values: Values) -> Iterator[str]:
        parts = [name]
        if self._random.random() < 0.3 and "/" in name[1:]:  # a namespace as a map of its own
            parts = list(name.rpartition("/")[::2])
        for depth, part in enumerate(parts):
            yield f"{'  ' * depth}{part!r}:"
        yield f"{'  ' * len(parts)}ros__parameters:"
        yield from self._lines(values, len(parts) + 1)

    def _lines(self, values: Values, depth: int) -> Iterator[str]:
        for name, value in values.items():
            yield f"{'  ' * depth}{name}: {value if isinstance(value, str) else ''}"
            if not isinstance(value, str):
                yield from self._lines(value, depth + 1)

    def _values(self) -> Values:
        values: Values = {}
        for _ in range(self._random.randint(1, 4)):
            if self._random.random() < 0.3:
                values[self._random.choice(self.GROUPS)] = self._group()
            else:
                values[self._random.choice(self.NAMES)] = self._word()
        return values

    def _group(self) -> Values:
        members: Values = {
            name: self._word() for name in self._random.sample(("x", "y", "z"), self._random.randint(1, 3))
        }
        if self._random.random() < 0.2:
            members["in"] = {name: self._word() for name in ("x", "y")}
        return members

    def _rule(self, model: Model) -> str:
        node = self._random.choice(("", "", "n", "other"))
        name, word = self._random.choice(self.NAMES), self._word()
        model.add(node or "/**", {name: word})
        return f"{node}{':' if node else ''}{name}:={word}"

    def _word(self) -> str:
        return self._random.choice(list(WORDS))


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


@pytest.mark.parametrize("seed", range(CASES))
def test_command_line_gives_what_the_rules_say(tmp_path: Path, seed: int) -> None:
    generator = Generator(seed, tmp_path)
    arguments, model = generator.command_line()
    own, own_model = generator.command_line()
    full_name = f"{generator.namespace.rstrip('/')}/n"
    expected = model.values_of(full_name) | own_model.values_of(full_name)
    assert typed(parameters_of(arguments, own, generator.namespace)) == typed(expected)


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
        # values of several types
        (("x:=1", "x:=2.5"), {"x": 1}),
        (("x:=word", "x:=true"), {"x": True}),
        (("x:=[1]", "x:=[a]", "x:=[2, 3]"), {"x": [2, 3]}),
        (("x:=[1]", "x:=1.5"), {"x": 1.5}),
        # groups
        (("/**: {ros__parameters: {g: {x: 1, y: 2}}}", "g.x:=3"), {"g.x": 3, "g.y": 2}),
        (("/**: {ros__parameters: {g: {x: 1}}}", "/**: {ros__parameters: {g: {x: 2}}}", "g.x:=3"), {"g.x": 2}),
        (("g.x:=3", "/**: {ros__parameters: {g: {x: 2}}}", "g.x:=4"), {"g.x": 2}),
        (("g:=3", "/**: {ros__parameters: {g: {x: word}}}"), {"g.x": 3}),
        (("/**: {ros__parameters: {g: {x.y: {z: 1}, w: 2}}}",), {"g.x.y.z": 1, "g.x.w": 2}),
        # lists
        (("x:=[1]", "x:=[]"), {"x": [1]}),
        (("x:=[[1, 2], [3]]",), {"x": [3]}),
        (("/**: {ros__parameters: {x: [{a: 1}]}}",), {"x.a": [1]}),
        # words
        (("/**:\n  ros__parameters:\n    x: >-\n      12\n",), {"x": 12}),
        (("/**:\n  ros__parameters:\n    x: |\n      12\n",), {"x": "12\n"}),
        (("x:=0x1p-1", "y:=1e-400"), {"x": 0.5, "y": "1e-400"}),
        (("x:=07777777777777777777777",), {"x": 7777777777777777777777.0}),
        (("/**:\n  ros__parameters:\n    x:\t1",), {"x": 1}),
        # spellings
        (("/ns: {n: {ros__parameters: {x: 1}, ros__parameters_too: {y: 2}}}",), None),
        (("/ns: {n: {ros__parameters_too: {x: 1}}}",), {"x": 1}),
        (("a/b: {c: {d: {ros__parameters: {x: 1}}}, n: {ros__parameters: {x: 2}}}",), {}),
        (("word",), {}),
        (("[word]",), None),
        (("/ns//n: {ros__parameters: {x: 1}}",), None),
        (("/ns: {/n: {ros__parameters: {x: 1}}}",), None),
        (("/ns/: {n: {ros__parameters: {x: 1}}}",), {"x": 1}),
        (("1n: {ros__parameters: {x: 1}}",), None),
        (("/n**: {ros__parameters: {x: 1}}",), None),
        (("n: {ros__parameters: {x: 1}, m: {ros__parameters: {y: 1}}}",), None),
        (("/**: {ros__parameters: {x: {}, y: 1}}",), None),
    ],
)  # fmt: skip
def test_rules_of_rcl_that_surprise(tmp_path: Path, words: tuple[str, ...], values: dict[str, Any] | None) -> None:
    arguments = given(tmp_path, words)
    if values is None:
        with pytest.raises(RCLError):
            parameters_of(arguments, [], "/ns")
    else:
        assert typed(parameters_of(arguments, [], "/ns")) == typed(values)


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
