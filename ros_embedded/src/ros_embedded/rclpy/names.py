"""Rules for names of nodes, namespaces, topics, services and parameters."""

from __future__ import annotations

import re
from collections.abc import Callable

from ros_embedded.rclpy.exceptions import (
    InvalidNamespaceException,
    InvalidNodeNameException,
    InvalidParameterException,
    InvalidServiceNameException,
    InvalidTopicNameException,
)

TOPIC_SEPARATOR_STRING = "/"
HIDDEN_TOPIC_PREFIX = "_"
_MAX_NODE_NAME, _MAX_TOPIC, _MAX_NAMESPACE = 255, 247, 245
_SUBSTITUTION = re.compile(r"\{([^{}]*)\}")
_NUMBER_AT_START = re.compile(r"(?<=/)\d|^\d")
_UNBALANCED = "topic name must not have unmatched (unbalanced) curly braces '{}'"

Problem = tuple[str, int]


def _checked_text(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a name must be of type str, not {type(name).__name__}: {name!r}")
    return name


def _node_name_problem(name: str) -> Problem | None:
    if not _checked_text(name):
        return "node name must not be empty", 0
    if match := re.search(r"[^A-Za-z0-9_]", name):
        return "node name must not contain characters other than alphanumerics or '_'", match.start()
    if name[0].isdigit():
        return "node name must not start with a number", 0
    if len(name) > _MAX_NODE_NAME:
        return f"node name length should not exceed '{_MAX_NODE_NAME}'", _MAX_NODE_NAME - 1
    return None


def _full_name_problem(name: str, what: str) -> Problem | None:
    if not _checked_text(name):
        return f"{what} must not be empty", 0
    if not name.startswith("/"):
        return f"{what} must be absolute, it must lead with a '/'", 0
    if name.endswith("/"):
        return f"{what} must not end with a '/'", len(name) - 1
    if match := re.search(r"[^A-Za-z0-9_/]", name):
        return f"{what} must not contain characters other than alphanumerics, '_', or '/'", match.start()
    if "//" in name:
        return f"{what} must not contain repeated '/'", name.index("//") + 1
    if match := _NUMBER_AT_START.search(name):
        return f"{what} must not have a token that starts with a number", match.start()
    return None


def _full_topic_problem(name: str) -> Problem | None:
    too_long = ("topic length should not exceed '255U - 8U'", _MAX_TOPIC - 1) if len(name) > _MAX_TOPIC else None
    return _full_name_problem(name, "topic name") or too_long


def _namespace_problem(name: str) -> Problem | None:
    if name == "/":
        return None
    problem = _full_name_problem(name, "namespace")
    if problem and problem[0].endswith("end with a '/'"):
        return f"{problem[0]}, unless only a '/'", problem[1]
    if problem is None and len(name) > _MAX_NAMESPACE:
        return "namespace should not exceed 'RMW_NAMESPACE_MAX_NAME_LENGTH'", _MAX_NAMESPACE - 1
    return problem


def _topic_problem(name: str) -> Problem | None:
    """The first fault of a topic name before expansion."""
    if not _checked_text(name):
        return "topic name must not be empty string", 0
    if name[0].isdigit():
        return "topic name token must not start with a number", 0
    if name.endswith("/"):
        return "topic name must not end with a forward slash", len(name) - 1
    if problem := _character_problem(name):
        return problem
    if name[0] == "~" and len(name) > 2 and name[1] != "/":  # rcl accepts ~a
        return "topic name must not have a tilde '~' that is not followed by a forward slash '/'", 1
    match = re.search(r"/\d", name)
    return ("topic name token must not start with a number", match.start() + 1) if match else None


def _character_problem(name: str) -> Problem | None:
    opened: int | None = None  # start of an open substitution
    for place, letter in enumerate(name):
        if message := _letter_problem(letter, place, opened):
            return message, place
        if letter in "{}":
            opened = place if letter == "{" else None
    return None if opened is None else (_UNBALANCED, opened)


def _letter_problem(letter: str, place: int, opened: int | None) -> str:
    """What is wrong with a letter at a place, "" for nothing; opened: where the substitution around it starts."""
    if letter.isascii() and (letter.isalnum() or letter == "_"):
        is_first = opened == place - 1
        return "substitution name must not start with a number" if is_first and letter.isdigit() else ""
    if letter == "~":
        return "topic name must not have tilde '~' unless it is the first character" if place else ""
    if letter == "}":
        return _UNBALANCED if opened is None else ""
    if opened is not None:
        return "substitution name must not contain characters other than alphanumerics or '_'"
    if letter in "{/":
        return ""
    return "topic name must not contain characters other than alphanumerics, '_', '~', '{', or '}'"


_TOPIC_ERRORS = (InvalidTopicNameException, InvalidServiceNameException)


def _checked(name: str, problem: Problem | None, error: Callable[[str, str, int], Exception]) -> bool:
    if problem:
        raise error(name, *problem)
    return True


def validate_node_name(node_name: str) -> bool:
    """Return True. Raises InvalidNodeNameException."""
    return _checked(node_name, _node_name_problem(node_name), InvalidNodeNameException)


def validate_namespace(namespace: str) -> bool:
    """Return True. Raises InvalidNamespaceException."""
    return _checked(namespace, _namespace_problem(namespace), InvalidNamespaceException)


def validate_full_topic_name(name: str, *, is_service: bool = False) -> bool:
    """Return True. Raises InvalidTopicNameException or InvalidServiceNameException."""
    return _checked(name, _full_topic_problem(name), _TOPIC_ERRORS[is_service])


def validate_topic_name(name: str, *, is_service: bool = False) -> bool:
    """Check a name not yet expanded. Return True. Raises InvalidTopicNameException or InvalidServiceNameException."""
    return _checked(name, _topic_problem(name), _TOPIC_ERRORS[is_service])


def validate_parameter_name(name: str) -> bool:
    """Return True. Raises InvalidParameterException."""
    if not isinstance(name, str) or not name:
        raise InvalidParameterException(name)
    return True


def expand_topic_name(topic_name: str, node_name: str, node_namespace: str) -> str:
    """The full name of `topic_name` as used by a node: `~`, `{node}`, `{ns}` and relative names resolved.

    Raises ValueError if one of the three is no such name.
    """
    for what, name, problem in (
        ("topic name", topic_name, _topic_problem(topic_name)),
        ("node name", node_name, _node_name_problem(node_name)),
        ("node namespace", node_namespace, _namespace_problem(node_namespace)),
    ):
        if problem:
            raise ValueError(f"{what} '{name}' is invalid: {problem[0]}")
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
