"""rclpy's exceptions, and those of its C++ extension (served as `rclpy._rclpy_pybind11` too)."""
# ruff: noqa: N818 - rclpy's names

from __future__ import annotations

from typing import Any


class NotInitializedException(Exception):
    """rclpy is used before rclpy.init()."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__("rclpy.init() has not been called." + (f" msg:{message}" if message else ""))


class NoTypeSupportImportedException(Exception):
    """A class that is no ROS interface was given where one is needed."""

    def __init__(self) -> None:
        super().__init__("no type_support imported")


class InvalidHandle(Exception):
    """The entity has been destroyed."""


class RCLError(RuntimeError):
    """A call of the middleware failed."""


class RCLInvalidROSArgsError(RCLError):
    """A ROS argument does not parse."""


class UnknownROSArgsError(RCLError):
    """An argument after --ros-args is no ROS argument."""


class NodeNameNonExistentError(RCLError):
    """No such node in the graph."""


class UnsupportedEventTypeError(RCLError):
    """The middleware has no such event."""


class NameValidationException(Exception):
    """A topic name, node name, or namespace is invalid; the message points at the character."""

    def __init__(self, name_type: str, name: str, error_msg: str, invalid_index: int) -> None:
        super().__init__(f"Invalid {name_type}: {error_msg}:\n  '{name}'\n   {' ' * invalid_index}^")
        self.reason = error_msg


class _InvalidName(NameValidationException):
    _TYPE: str

    def __init__(self, name: str, error_msg: str, invalid_index: int) -> None:
        super().__init__(self._TYPE, name, error_msg, invalid_index)


class InvalidNamespaceException(_InvalidName):
    """A namespace is invalid."""

    _TYPE = "namespace"


class InvalidNodeNameException(_InvalidName):
    """A node name is invalid."""

    _TYPE = "node name"


class InvalidTopicNameException(_InvalidName):
    """A topic name is invalid."""

    _TYPE = "topic name"


class InvalidServiceNameException(_InvalidName):
    """A service name is invalid."""

    _TYPE = "service name"


class ParameterException(Exception):
    """Base of the errors about parameters."""

    def __init__(self, error_msg: str, parameters: str | list[str]) -> None:
        super().__init__(f"{error_msg}: {parameters}")


class ParameterNotDeclaredException(ParameterException):
    """An undeclared parameter is used where this is not allowed."""

    def __init__(self, parameters: str | list[str]) -> None:
        super().__init__("Invalid access to undeclared parameter(s)", parameters)


class ParameterAlreadyDeclaredException(ParameterException):
    """A parameter is declared twice."""

    def __init__(self, parameters: str | list[str]) -> None:
        super().__init__("Parameter(s) already declared", parameters)


class InvalidParameterException(ParameterException):
    """A parameter has an invalid name."""

    def __init__(self, parameter_name: str) -> None:
        super().__init__("Invalid parameter name", parameter_name)


class InvalidParameterTypeException(ParameterException):
    """A value has another type than the parameter."""

    def __init__(self, desired_parameter: Any, expected_type: Any) -> None:
        desired = f"'{desired_parameter.name}' to '{desired_parameter.value}' of type '{desired_parameter.type_.name}'"
        super().__init__(f"Trying to set parameter {desired}, expecting type '{expected_type}'", desired_parameter.name)


class InvalidParameterValueException(ParameterException):
    """A value is refused by a callback or the descriptor."""

    def __init__(self, parameter: str, value: Any, reason: str) -> None:
        super().__init__(f"Invalid parameter value ({value}) for parameter. Reason: {reason}", parameter)


class ParameterImmutableException(ParameterException):
    """A read-only parameter is modified."""

    def __init__(self, parameter_name: str) -> None:
        super().__init__("Attempted to modify read-only parameter", parameter_name)


class ParameterUninitializedException(ParameterException):
    """A parameter without a value is read."""

    def __init__(self, parameter_name: str) -> None:
        super().__init__(f"The parameter '{parameter_name}' is not initialized", parameter_name)
