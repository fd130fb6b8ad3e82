"""Rules for names of nodes, namespaces, topics, services and parameters."""

from __future__ import annotations

import re

from ros_embedded.rclpy.exceptions import (
    InvalidNamespaceException,
    InvalidNodeNameException,
    InvalidParameterException,
    InvalidServiceNameException,
    InvalidTopicNameException,
)

TOPIC_SEPARATOR_STRING = "/"
HIDDEN_TOPIC_PREFIX = "_"
_MAX_LENGTH = 255
_SUBSTITUTION = re.compile(r"\{([^{}]*)\}")

Problem = tuple[str, int]


def _path_problem(name: str, what: str) -> Problem | None:
    """The first fault of a slash-separated name whose characters are already known to be legal."""
    if "//" in name:
        return f"{what} must not contain repeated '/'", name.index("//") + 1
    if match := re.search(r"(?<=/)\d|^\d", name):
        return f"{what} must not have a token that starts with a number", match.start()
    return None


def validate_node_name(node_name: str) -> bool:
    """Return True. Raises InvalidNodeNameException."""
    if not node_name:
        raise InvalidNodeNameException(node_name, "node name must not be empty", 0)
    if match := re.search(r"[^A-Za-z0-9_]", node_name):
        text = "node name must not contain characters other than alphanumerics or '_'"
        raise InvalidNodeNameException(node_name, text, match.start())
    if node_name[0].isdigit():
        raise InvalidNodeNameException(node_name, "node name must not start with a number", 0)
    if len(node_name) > _MAX_LENGTH:
        raise InvalidNodeNameException(node_name, "node name length should not exceed '255'", _MAX_LENGTH - 1)
    return True


def validate_namespace(namespace: str) -> bool:
    """Return True. Raises InvalidNamespaceException."""
    problem = _full_name_problem(namespace, "namespace", allow_root=True)
    if problem:
        raise InvalidNamespaceException(namespace, *problem)
    return True


def _full_name_problem(name: str, what: str, allow_root: bool = False) -> Problem | None:
    if not name:
        return f"{what} must not be empty", 0
    if not name.startswith("/"):
        return f"{what} must be absolute, it must lead with a '/'", 0
    if name == "/" and allow_root:
        return None
    if name.endswith("/"):
        return f"{what} must not end with a '/'" + (", unless only a '/'" if allow_root else ""), len(name) - 1
    if match := re.search(r"[^A-Za-z0-9_/]", name):
        return f"{what} must not contain characters other than alphanumerics, '_', or '/'", match.start()
    if len(name) > _MAX_LENGTH:
        return f"{what} is too long", _MAX_LENGTH
    return _path_problem(name, what)


def validate_full_topic_name(name: str, *, is_service: bool = False) -> bool:
    """Return True. Raises InvalidTopicNameException or InvalidServiceNameException."""
    problem = _full_name_problem(name, "topic name")
    if problem:
        raise (InvalidServiceNameException if is_service else InvalidTopicNameException)(name, *problem)
    return True


def validate_topic_name(name: str, *, is_service: bool = False) -> bool:
    """Check a name not yet expanded. Return True. Raises InvalidTopicNameException or InvalidServiceNameException."""
    problem = _topic_problem(name)
    if problem:
        raise (InvalidServiceNameException if is_service else InvalidTopicNameException)(name, *problem)
    return True


def _topic_problem(name: str, allow_repeated: bool = False) -> Problem | None:
    if not name:
        return "topic name must not be empty string", 0
    if name.endswith("/"):
        return "topic name must not end with a forward slash", len(name) - 1
    if (tilde := name.find("~", 1)) > 0:
        return "tilde, '~', is only allowed at the beginning of topic names", tilde
    if name.startswith("~") and len(name) > 1 and name[1] != "/":
        return "tilde, '~', must be followed by a forward slash", 1
    rest = _SUBSTITUTION.sub(lambda match: "x" * len(match[0]), name)
    if match := re.search(r"[{}]", rest):
        return "topic name has unbalanced (open or close) curly braces '{}'", match.start()
    if match := re.search(r"[^A-Za-z0-9_/~]", rest):
        text = "topic name must not contain characters other than alphanumerics, '_', '~', '{', or '}'"
        return text, match.start()
    for match in _SUBSTITUTION.finditer(name):
        if not re.fullmatch(r"[A-Za-z_]\w*", match[1]):
            return (
                "topic name substitution must contain alphanumerics or '_' and not start with a number",
                match.start(),
            )
    return _path_problem(re.sub("/+", "/", rest) if allow_repeated else rest, "topic name")


def validate_parameter_name(name: str) -> bool:
    """Return True. Raises InvalidParameterException."""
    if not isinstance(name, str) or not name:
        raise InvalidParameterException(name)
    return True


def expand_topic_name(topic_name: str, node_name: str, node_namespace: str) -> str:
    """The full name of `topic_name` as used by a node: `~`, `{node}`, `{ns}` and relative names resolved.

    Raises ValueError if it cannot be expanded, InvalidNodeNameException or InvalidNamespaceException.
    """
    problem = _topic_problem(topic_name, allow_repeated=True)
    if problem:
        raise ValueError(f"topic name '{topic_name}' is invalid: {problem[0]}")
    validate_node_name(node_name)
    validate_namespace(node_namespace)
    root = node_namespace.rstrip("/")
    values = {"node": node_name, "ns": root or "/", "namespace": root or "/"}

    def substituted(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise ValueError(f"topic name '{topic_name}' is invalid: unknown substitution: {match[0]}")
        return values[match[1]]

    name = f"{root}/{node_name}{topic_name[1:]}" if topic_name.startswith("~") else topic_name
    name = _SUBSTITUTION.sub(substituted, name)
    return name if name.startswith("/") else f"{root}/{name}"


def topic_or_service_is_hidden(name: str) -> bool:
    """True if a token of the name starts with an underscore."""
    return any(token.startswith(HIDDEN_TOPIC_PREFIX) for token in name.split("/") if token)
