"""The part of a command line after `--ros-args`: remapping, parameters, log levels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ros_embedded.rclpy.exceptions import RCLInvalidROSArgsError, UnknownROSArgsError
from ros_embedded.rclpy.impl.parameter_table import EVERY_NODE, ParameterTable
from ros_embedded.rclpy.names import expand_topic_name


@dataclass(frozen=True)
class Remapping:
    """`[node:]source:=target`; kind is "topic", "service" or "" for both."""

    node: str
    kind: str
    source: str
    target: str


@dataclass(frozen=True)
class RosArguments:
    """The ROS arguments of a command line; or of two, the program's and then a node's own."""

    remappings: tuple[Remapping, ...] = ()
    parameters: tuple[ParameterTable, ...] = ()
    log_level: str | None = None
    logger_levels: dict[str, str] = field(default_factory=dict)
    rosout: bool = True
    stdout: bool = True

    def followed_by(self, later: RosArguments) -> RosArguments:
        """These and `later`, a node's own arguments: their remappings come first, and their parameters win."""
        return replace(
            self,
            remappings=later.remappings + self.remappings,
            parameters=self.parameters + later.parameters,
            rosout=self.rosout and later.rosout,
        )

    def node_name(self, name: str) -> str:
        """The name of the node that the program calls `name`."""
        return self._special("__node", name) or self._special("__name", name) or name

    def node_namespace(self, name: str, namespace: str) -> str:
        return self._special("__ns", name) or namespace

    def _special(self, source: str, node: str) -> str | None:
        for rule in self.remappings:
            if rule.source == source and rule.node in ("", node):
                return rule.target
        return None

    def remapped(self, full_name: str, kind: str, node: str, namespace: str) -> str:
        for rule in self.remappings:
            if rule.source.startswith("__") or rule.kind not in ("", kind) or rule.node not in ("", node):
                continue
            if expand_topic_name(rule.source, node, namespace) == full_name:
                return expand_topic_name(rule.target, node, namespace)
        return full_name

    def parameters_of(self, node: str, namespace: str) -> dict[str, Any]:
        full_name = f"{namespace.rstrip('/')}/{node}"
        values: dict[str, Any] = {}
        for table in self.parameters:
            values.update(table.values_of(full_name))
        return values


_TOKEN = r"(?!\d)(?=\w)(?:_?[A-Za-z0-9])*_?"  # no two underscores
_PATH = rf"{_TOKEN}(?:/{_TOKEN})*"
_NAME = rf"(?:~/|/)?{_PATH}"
_REMAP_RULE = re.compile(
    rf"(?:(?P<node>{_TOKEN}):)?(?:(?P<own>__ns(?=:=/)|__(?:node|name)(?=:=[^/])):=(?P<new>/(?:{_PATH})?|{_TOKEN})"
    rf"|(?:ros(?P<kind>topic|service)://)?(?P<source>{_NAME}):=(?P<target>{_NAME}))",
    re.ASCII,
)
_PARAMETER_RULE = re.compile(
    rf"(?:(?P<node>{_TOKEN}):(?!=))?(?P<name>(?!__|\d)[\w/]+(?:\.(?!\d)[\w/]+)*):=(?P<value>.+)", re.ASCII | re.DOTALL
)
_FLAGS = {"rosout-logs": "rosout", "stdout-logs": "stdout", "external-lib-logs": ""}
_VALUED = {
    "-r": "remap", "--remap": "remap", "-p": "param", "--param": "param", "--params-file": "params-file",
    "--log-level": "log-level", "--log-config-file": "ignored", "--log-file-name": "ignored",
    "-e": "enclave", "--enclave": "enclave",
}  # fmt: skip


def split_arguments(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """The program's own arguments, and those between `--ros-args` and `--`; bare remap rules are ROS's too."""
    own: list[str] = []
    ros: list[str] = []
    in_ros = False
    for arg in args:
        if arg == "--ros-args":
            in_ros = True
        elif in_ros and arg == "--":
            in_ros = False
        elif not in_ros and _REMAP_RULE.fullmatch(arg):  # the form from before --ros-args, which rcl still accepts
            ros += ["--remap", arg]
        else:
            (ros if in_ros else own).append(arg)
    return own, ros


def parse_arguments(args: Sequence[str]) -> RosArguments:
    """Read the ROS arguments of a command line.

    Raises RCLInvalidROSArgsError, UnknownROSArgsError, or UnicodeEncodeError for what is no text.
    """
    for word in args:
        word.encode()
    try:
        return _parsed(split_arguments(args)[1])
    except RCLInvalidROSArgsError as error:
        raise RCLInvalidROSArgsError(f"Failed to parse ROS arguments: {error}") from error


def _parsed(ros_arguments: list[str]) -> RosArguments:
    words = iter(ros_arguments)
    remappings: list[Remapping] = []
    parameters = ParameterTable()
    levels: dict[str, str] = {}
    changes: dict[str, Any] = {}
    for word in words:
        switch = re.fullmatch(r"--(enable|disable)-(.+)", word)
        if switch and switch[2] in _FLAGS:
            changes[_FLAGS[switch[2]]] = switch[1] == "enable"
            continue
        if word not in _VALUED:
            raise UnknownROSArgsError([word])
        value = next(words, None)
        if value is None:
            raise RCLInvalidROSArgsError(f"Couldn't parse trailing {word} flag. No value found.")
        kind = _VALUED[word]
        if kind == "remap":
            remappings.append(_remapping(value))
        elif kind == "param":
            _read_parameter(value, parameters)
        elif kind == "params-file":
            parameters.read_file(value)
        elif kind == "enclave" and not re.fullmatch(rf"/(?:{_PATH})?", value):  # enclaves are not supported
            raise RCLInvalidROSArgsError(f"Couldn't parse enclave name: '{value}'")
        elif kind == "log-level":
            logger, assigned, level = value.rpartition(":=")
            if assigned and not logger:
                raise RCLInvalidROSArgsError(f"Couldn't parse log level: '{value}'")
            levels[logger] = level
    changes.pop("", None)
    return RosArguments(tuple(remappings), (parameters,), levels.pop("", None), levels, **changes)


def _remapping(text: str) -> Remapping:
    match = _REMAP_RULE.fullmatch(text)
    if match is None:
        raise RCLInvalidROSArgsError(f"Couldn't parse remap rule: '{text}'")
    return Remapping(
        match["node"] or "", match["kind"] or "", match["own"] or match["source"], match["new"] or match["target"]
    )


def _read_parameter(text: str, table: ParameterTable) -> None:
    match = _PARAMETER_RULE.fullmatch(text)
    if match is None:
        raise RCLInvalidROSArgsError(f"Couldn't parse parameter override rule: '{text}'")
    table.read_rule(match["node"] or EVERY_NODE, match["name"], match["value"])
