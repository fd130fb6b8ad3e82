"""The part of a command line after `--ros-args`: remapping, parameters, log levels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from ros_embedded.rclpy.exceptions import RCLInvalidROSArgsError, UnknownROSArgsError
from ros_embedded.rclpy.names import expand_topic_name


class _ParameterLoader(yaml.SafeLoader):
    """YAML as rcl reads it: 1e-3 is a number, and a key is the text that is written, even `on` or `1`."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping by the text of its keys; what is said of one key in several places is put together."""
        mapping: dict[Any, Any] = {}
        for key, value_node in node.value:
            value = self.construct_object(value_node, deep=True)
            mapping[key.value] = _merged(mapping.get(key.value), value)
        return mapping


def _merged(earlier: Any, later: Any) -> Any:
    if not (isinstance(earlier, dict) and isinstance(later, dict)):
        return later
    return {**earlier, **{key: _merged(earlier.get(key), value) for key, value in later.items()}}


_ParameterLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


@dataclass(frozen=True)
class Remapping:
    """`[node:]source:=target`; kind is "topic", "service" or "" for both."""

    node: str
    kind: str
    source: str
    target: str


@dataclass(frozen=True)
class RosArguments:
    """What a command line asks of the nodes; parameters are (node pattern, {name: value}) in the order given."""

    remappings: tuple[Remapping, ...] = ()
    parameters: tuple[tuple[str, dict[str, Any]], ...] = ()
    log_level: str | None = None
    logger_levels: dict[str, str] = field(default_factory=dict)
    rosout: bool = True
    stdout: bool = True

    def followed_by(self, later: RosArguments) -> RosArguments:
        """Both; `later`, a node's own arguments, are looked at first for names and win for parameters."""
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
        for pattern, given in self.parameters:
            if _matches(pattern, full_name):
                values.update(given)
        return values


def _matches(pattern: str, full_name: str) -> bool:
    if not pattern.startswith("/"):
        pattern = f"/{pattern}"
    expression = "".join(
        {"/**": r"(/\w+)*", "/*": r"/\w+"}.get(part, re.escape(part)) for part in re.split(r"(/\*\*?)", pattern)
    )
    return re.fullmatch(expression, full_name) is not None


def parse_value(text: str) -> Any:
    """A parameter's value as written on a command line or in YAML. Raises RCLInvalidROSArgsError."""
    try:
        return yaml.load(text, Loader=_ParameterLoader)
    except yaml.YAMLError as error:
        raise RCLInvalidROSArgsError(f"Couldn't parse parameter value {text!r}: {error}") from error


def read_parameter_file(path: str) -> list[tuple[str, dict[str, Any]]]:
    """(node pattern, {name: value}) for each `ros__parameters` of a file. Raises RCLInvalidROSArgsError."""
    try:
        content = parse_value(Path(path).read_text())
    except OSError as error:
        raise RCLInvalidROSArgsError(f"Couldn't read params file: {error}") from error
    if not isinstance(content, dict):
        raise RCLInvalidROSArgsError(f"Couldn't parse params file {path!r}: expected a mapping of node names")
    return list(_sections(content, ""))


def _sections(content: dict[str, Any], prefix: str) -> Any:
    for key, value in content.items():
        if key == "ros__parameters" and isinstance(value, (dict, type(None))):
            yield prefix, flatten(value or {})
        elif isinstance(value, dict):
            yield from _sections(value, f"{prefix}/{str(key).lstrip('/')}")
        else:
            raise RCLInvalidROSArgsError(f"Expected a mapping at {prefix}/{key}, got {value!r}")


def flatten(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """{"a": {"b": 1}} as {"a.b": 1}. Raises RCLInvalidROSArgsError for a list of several types, as ROS 2 does."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{key}."))
            continue
        if isinstance(value, list) and len({type(item) for item in value}) > 1:
            raise RCLInvalidROSArgsError(f"Sequence should be of same type: {prefix}{key}: {value}")
        flat[f"{prefix}{key}"] = value
    return flat


_FLAGS = {"rosout-logs": "rosout", "stdout-logs": "stdout", "external-lib-logs": ""}
_VALUED = {
    "-r": "remap", "--remap": "remap", "-p": "param", "--param": "param", "--params-file": "params-file",
    "--log-level": "log-level", "--log-config-file": "ignored", "--log-file-name": "ignored",
    "-e": "ignored", "--enclave": "ignored",
}  # fmt: skip


def split_arguments(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """The program's own arguments, and those between `--ros-args` and `--`."""
    own: list[str] = []
    ros: list[str] = []
    in_ros = False
    for arg in args:
        if arg == "--ros-args":
            in_ros = True
        elif in_ros and arg == "--":
            in_ros = False
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
    parameters: list[tuple[str, dict[str, Any]]] = []
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
            parameters.append(_parameter(value))
        elif kind == "params-file":
            parameters.extend(read_parameter_file(value))
        elif kind == "log-level":
            logger, _, level = value.rpartition(":=")
            levels[logger] = level
    changes.pop("", None)
    return RosArguments(tuple(remappings), tuple(parameters), levels.pop("", None), levels, **changes)


def _remapping(text: str) -> Remapping:
    match = re.fullmatch(r"(?:(\w+):(?!//))?(?:ros(topic|service)://)?([^:]+):=(.+)", text)
    if match is None:
        raise RCLInvalidROSArgsError(f"Couldn't parse remap rule: '{text}'")
    return Remapping(match[1] or "", match[2] or "", match[3], match[4])


def _parameter(text: str) -> tuple[str, dict[str, Any]]:
    match = re.fullmatch(r"(?:([^:=]+):(?!=))?([^:=]+):=(.+)", text, re.DOTALL)
    if match is None:
        raise RCLInvalidROSArgsError(f"Couldn't parse parameter override rule: '{text}'")
    return match[1] or "/**", flatten({match[2]: parse_value(match[3])})
