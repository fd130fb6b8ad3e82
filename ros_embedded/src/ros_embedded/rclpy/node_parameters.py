"""The parameters of a node: declared, set, described, listed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.exceptions import (
    InvalidParameterTypeException,
    InvalidParameterValueException,
    ParameterAlreadyDeclaredException,
    ParameterImmutableException,
    ParameterNotDeclaredException,
    ParameterUninitializedException,
)
from ros_embedded.rclpy.names import validate_parameter_name
from ros_embedded.rclpy.parameter import PARAMETER_SEPARATOR_STRING, Parameter

NOT_SET = Parameter.Type.NOT_SET


def _result(reason: str = "") -> Any:
    return get_message("rcl_interfaces/msg/SetParametersResult")(successful=not reason, reason=reason)


def _descriptor(**fields: Any) -> Any:
    return get_message("rcl_interfaces/msg/ParameterDescriptor")(**fields)


def _checked_names(names: list[str]) -> list[str]:
    if not all(isinstance(name, str) for name in names):
        raise TypeError("All names must be instances of type str")
    return names


class ParametersMixin:
    """Node's methods about parameters."""

    PARAM_REL_TOL = 1e-6

    get_fully_qualified_name: Any
    _clock: Any
    _parameter_event_publisher: Any

    def __init__(self, overrides: dict[str, Parameter], allow_undeclared: bool) -> None:
        self._parameters: dict[str, Parameter] = {}
        self._descriptors: dict[str, Any] = {}
        self._parameter_overrides = overrides
        self._allow_undeclared_parameters = allow_undeclared
        self._on_set_parameters_callbacks: list[Callable[[list[Parameter]], Any]] = []

    def declare_parameter(
        self, name: str, value: Any = None, descriptor: Any = None, ignore_override: bool = False
    ) -> Parameter:
        """Declare one parameter; see declare_parameters. `value` may be a Parameter.Type, to fix the type alone."""
        if value is None and descriptor is None:
            arguments: tuple[Any, ...] = (name,)
        else:
            arguments = (name, value, _descriptor() if descriptor is None else descriptor)
        return self.declare_parameters("", [arguments], ignore_override)[0]

    def declare_parameters(
        self, namespace: str, parameters: list[tuple[Any, ...]], ignore_override: bool = False
    ) -> list[Parameter]:
        """Declare (name, value or type, descriptor) tuples; overrides of the command line win over the values.

        Raises ParameterAlreadyDeclaredException, InvalidParameterException, InvalidParameterValueException,
        InvalidParameterTypeException, or TypeError for a malformed tuple.
        """
        declared: list[Parameter] = []
        descriptors: dict[str, Any] = {}
        for position, given in enumerate(parameters):
            parameter, descriptor = self.__read_declaration(namespace, position, given, ignore_override)
            validate_parameter_name(parameter.name)
            declared.append(parameter)
            descriptors[parameter.name] = descriptor
        known = [parameter.name for parameter in declared if parameter.name in self._parameters]
        if known:
            raise ParameterAlreadyDeclaredException(known)
        for parameter in declared:
            result = self.__set_together([parameter], descriptors, keep_unset=True)
            if not result.successful:
                if result.reason.startswith("Wrong parameter type"):
                    expected = Parameter.Type(descriptors[parameter.name].type).name
                    raise InvalidParameterTypeException(parameter, expected)
                raise InvalidParameterValueException(parameter.name, parameter.value, result.reason)
        return [self._parameters[parameter.name] for parameter in declared]

    def __read_declaration(
        self, namespace: str, position: int, given: tuple[Any, ...], ignore_override: bool
    ) -> tuple[Parameter, Any]:
        descriptor = _descriptor_of(given, f"at index {position} in parameters list")
        name = f"{namespace}{PARAMETER_SEPARATOR_STRING}{given[0]}" if namespace else given[0]
        value: Any = given[1] if len(given) > 1 else None
        if len(given) == 1:
            warnings.warn(
                f"when declaring parameter named '{name}', declaring a parameter only providing its name is "
                "deprecated: pass a default value, a type, or a descriptor with dynamic_typing=True",
                stacklevel=4,
            )
            descriptor.dynamic_typing = True
        if isinstance(value, Parameter.Type):
            _check_fixed_type(name, value, descriptor)
            descriptor.type, value = value.value, None
        elif not descriptor.dynamic_typing:
            descriptor.type = _type_of(value)
        if not ignore_override and name in self._parameter_overrides:
            value = self._parameter_overrides[name].value
        return Parameter(name, value=value), descriptor

    def undeclare_parameter(self, name: str) -> None:
        """Forget a parameter. Raises ParameterNotDeclaredException or ParameterImmutableException."""
        if name not in self._parameters:
            raise ParameterNotDeclaredException(name)
        if self.describe_parameter(name).read_only:
            raise ParameterImmutableException(name)
        del self._parameters[name], self._descriptors[name]

    def has_parameter(self, name: str) -> bool:
        return name in self._parameters

    def get_parameter_types(self, names: list[str]) -> list[int | Parameter.Type]:
        return [self.get_parameter_type(name) for name in _checked_names(names)]

    def get_parameter_type(self, name: str) -> int | Parameter.Type:
        """The type of a parameter; NOT_SET for an allowed undeclared one. Raises ParameterNotDeclaredException."""
        if self.has_parameter(name):
            return self._parameters[name].type_.value
        if self._allow_undeclared_parameters:
            return NOT_SET
        raise ParameterNotDeclaredException(name)

    def get_parameters(self, names: list[str]) -> list[Parameter]:
        return [self.get_parameter(name) for name in _checked_names(names)]

    def get_parameter(self, name: str) -> Parameter:
        """A parameter. Raises ParameterNotDeclaredException, or ParameterUninitializedException if it has no value."""
        if self.has_parameter(name):
            parameter = self._parameters[name]
            if parameter.type_ is not NOT_SET or self._descriptors[name].dynamic_typing:
                return parameter
            raise ParameterUninitializedException(name)
        if self._allow_undeclared_parameters:
            return Parameter(name)
        raise ParameterNotDeclaredException(name)

    def get_parameter_or(self, name: str, alternative_value: Parameter | None = None) -> Parameter:
        """A parameter, or the alternative if it is not declared or not set."""
        if alternative_value is None:
            alternative_value = Parameter(name)
        parameter = self._parameters.get(name, alternative_value)
        return alternative_value if parameter.type_ is NOT_SET else parameter

    def get_parameters_by_prefix(self, prefix: str) -> dict[str, Parameter]:
        """The parameters below `prefix`, without it in their names."""
        start = f"{prefix}{PARAMETER_SEPARATOR_STRING}" if prefix else ""
        return {name[len(start) :]: value for name, value in self._parameters.items() if name.startswith(start)}

    def set_parameters(self, parameter_list: list[Parameter]) -> list[Any]:
        """Set one after the other; a SetParametersResult for each. Raises ParameterNotDeclaredException."""
        results = []
        for parameter in parameter_list:
            if not isinstance(parameter, Parameter):
                raise TypeError(f"parameter must be instance of type '{Parameter!r}'")
            self.__check_undeclared([parameter])
            results.append(self.__set_together([parameter]))
        return results

    def set_parameters_atomically(self, parameter_list: list[Parameter]) -> Any:
        """Set all or none; one result. Raises ParameterNotDeclaredException."""
        self.__check_undeclared(parameter_list)
        return self.__set_together(parameter_list)

    def __check_undeclared(self, parameter_list: list[Parameter]) -> None:
        if not all(isinstance(parameter, Parameter) for parameter in parameter_list):
            raise TypeError(f"parameter must be instance of type '{Parameter!r}'")
        unknown = [parameter.name for parameter in parameter_list if parameter.name not in self._parameters]
        if unknown and not self._allow_undeclared_parameters:
            raise ParameterNotDeclaredException(unknown)

    def __set_together(
        self, parameter_list: list[Parameter], descriptors: dict[str, Any] | None = None, keep_unset: bool = False
    ) -> Any:
        """Check all against their descriptors and callbacks, then set them and publish one event."""
        for parameter in parameter_list:
            descriptor = (self._descriptors if descriptors is None else descriptors).get(parameter.name)
            if descriptor is not None:
                result = self.__apply_descriptor(parameter, descriptor, check_read_only=descriptors is None)
                if not result.successful:
                    return result
        for callback in self._on_set_parameters_callbacks:
            result = callback(parameter_list)
            if not result.successful:
                return result
        event = get_message("rcl_interfaces/msg/ParameterEvent")(node=self.get_fully_qualified_name())
        for parameter in parameter_list:
            self.__store(parameter, descriptors, keep_unset, event)
        event.stamp = self._clock.now().to_msg()
        self._parameter_event_publisher.publish(event)
        return _result()

    def __store(self, parameter: Parameter, descriptors: dict[str, Any] | None, keep_unset: bool, event: Any) -> None:
        name, message = parameter.name, parameter.to_parameter_msg()
        if parameter.type_ is NOT_SET and not keep_unset:
            event.deleted_parameters.append(message)
            self._parameters.pop(name, None)
            self._descriptors.pop(name, None)
            return
        if descriptors is not None:
            self._descriptors[name] = descriptors[name]
        elif name not in self._descriptors:
            self._descriptors[name] = _descriptor(name=name, dynamic_typing=True, type=parameter.type_.value)
        is_new = self.get_parameter_or(name).type_ is NOT_SET
        (event.new_parameters if is_new else event.changed_parameters).append(message)
        self._parameters[name] = parameter

    def __apply_descriptor(self, parameter: Parameter, descriptor: Any, check_read_only: bool = True) -> Any:
        descriptor.name = parameter.name
        if check_read_only and descriptor.read_only:
            return _result(f"Trying to set a read-only parameter: {parameter.name}.")
        if descriptor.dynamic_typing:
            descriptor.type = parameter.type_.value
        elif self.has_parameter(parameter.name) and parameter.type_ is NOT_SET:
            return _result("Static parameter cannot be undeclared")
        elif parameter.type_ is not NOT_SET and parameter.type_.value != descriptor.type:
            expected = Parameter.Type(descriptor.type)
            return _result(f"Wrong parameter type, expected '{expected}' got '{parameter.type_}'")
        if parameter.type_ is Parameter.Type.INTEGER and descriptor.integer_range:
            return self.__check_range(parameter, descriptor.integer_range[0], 0)
        if parameter.type_ is Parameter.Type.DOUBLE and descriptor.floating_point_range:
            return self.__check_range(parameter, descriptor.floating_point_range[0], self.PARAM_REL_TOL)
        return _result()

    def __check_range(self, parameter: Parameter, limits: Any, tolerance: float) -> Any:
        value, name = parameter.value, parameter.name
        least, greatest = sorted((limits.from_value, limits.to_value))
        if math.isclose(value, least, rel_tol=tolerance) or math.isclose(value, greatest, rel_tol=tolerance):
            return _result()
        dot = "" if tolerance else "."
        if not least < value < greatest:
            return _result(f"Parameter {name} out of range{dot} Min: {least}, Max: {greatest}, value: {value}")
        if limits.step:
            nearest = least + round((value - least) / limits.step) * limits.step
            if not math.isclose(nearest, value, rel_tol=tolerance):
                kind = "close enough to a valid step" if tolerance else "a valid step"
                return _result(
                    f"The parameter value for {name} is not {kind}. "
                    f"Min: {least}, max: {greatest}, value: {value}, step: {limits.step}"
                )
        return _result()

    def list_parameters(self, prefixes: list[str], depth: int) -> Any:
        """ListParametersResult of the parameters below `prefixes`, at most `depth` levels deep (0: all)."""
        if not isinstance(prefixes, list):
            raise TypeError("The prefixes argument must be a list")
        if not all(isinstance(prefix, str) for prefix in prefixes):
            raise TypeError("All prefixes must be instances of type str")
        if not isinstance(depth, int):
            raise TypeError("The depth must be instance of type int")
        if depth < 0:
            raise ValueError("The depth must be greater than or equal to zero")

        def is_listed(name: str) -> bool:
            rests = [name] if not prefixes else [name[len(p) + 1 :] for p in prefixes if name.startswith(f"{p}.")]
            return name in prefixes or any(depth == 0 or rest.count(".") < depth for rest in rests)

        result = get_message("rcl_interfaces/msg/ListParametersResult")()
        for name in self._parameters:
            if is_listed(name):
                result.names.append(name)
                prefix = name.rpartition(PARAMETER_SEPARATOR_STRING)[0]
                if prefix and prefix not in result.prefixes:
                    result.prefixes.append(prefix)
        return result

    def describe_parameter(self, name: str) -> Any:
        """The rcl_interfaces/msg/ParameterDescriptor of a parameter. Raises ParameterNotDeclaredException."""
        if name in self._descriptors:
            return self._descriptors[name]
        if self._allow_undeclared_parameters:
            return _descriptor()
        raise ParameterNotDeclaredException(name)

    def describe_parameters(self, names: list[str]) -> list[Any]:
        return [self.describe_parameter(name) for name in names]

    # the latest added is called first; removing raises ValueError if it was not added
    def add_on_set_parameters_callback(self, callback: Callable[[list[Parameter]], Any]) -> None:
        """Call `callback` to accept or reject changes with a SetParametersResult."""
        self._on_set_parameters_callbacks.insert(0, callback)

    def remove_on_set_parameters_callback(self, callback: Callable[[list[Parameter]], Any]) -> None:
        self._on_set_parameters_callbacks.remove(callback)


def _descriptor_of(given: tuple[Any, ...], where: str) -> Any:
    """The descriptor of a (name, value or type, descriptor) tuple. Raises TypeError for a malformed one."""
    if len(given) not in (1, 2, 3):
        raise TypeError(f"Invalid parameter tuple length {where}: {given}; expecting length between 1 and 3")
    if not isinstance(given[0], str):
        raise TypeError(f"First element {given[0]} {where} is not a str.")
    descriptor = given[2] if len(given) > 2 else _descriptor()
    if not isinstance(descriptor, get_message("rcl_interfaces/msg/ParameterDescriptor")):
        raise TypeError(f"Third element {descriptor} {where} is not a ParameterDescriptor.")
    return descriptor


def _check_fixed_type(name: str, fixed: Parameter.Type, descriptor: Any) -> None:
    """Raise ValueError where a parameter cannot be declared by this type alone."""
    if fixed is NOT_SET:
        raise ValueError(f"Cannot declare parameter {{{name}}} as statically typed of type NOT_SET")
    if descriptor.dynamic_typing:
        raise ValueError(
            f"When declaring parameter {{{name}}} passing a descriptor with`dynamic_typing=True` is not "
            "allowed when the parameter type is provided"
        )


def _type_of(value: Any) -> int:
    """The parameter type of a default value. Raises ValueError for None."""
    is_message = isinstance(value, get_message("rcl_interfaces/msg/ParameterValue"))
    kind: int = value.type if is_message else Parameter.Type.from_parameter_value(value).value
    if kind == NOT_SET.value:
        raise ValueError("Cannot declare a statically typed parameter with default value of type PARAMETER_NOT_SET")
    return kind
