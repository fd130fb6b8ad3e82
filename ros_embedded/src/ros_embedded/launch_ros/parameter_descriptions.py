"""Parameter values that are evaluated when a description is launched."""

from __future__ import annotations

from typing import Any, get_args, get_origin

import yaml

from ros_embedded.launch.launch_description import LaunchContext
from ros_embedded.launch.substitutions import Substitution, SubstitutionFailure, perform_substitutions


class ParameterValue:
    """A value with its type; str keeps text such as `1.0` from being read as a number."""

    def __init__(self, value: Any, *, value_type: Any = None) -> None:
        self.value, self.value_type = value, value_type

    def evaluate(self, context: LaunchContext) -> Any:
        is_text = isinstance(self.value, str) or _has_substitution(self.value)
        text = perform_substitutions(context, self.value) if is_text else str(self.value)
        if self.value_type is str:
            return text
        value = yaml.safe_load(text)
        if get_origin(self.value_type) is list:
            (element_type,) = get_args(self.value_type)
            return [element_type(element) for element in value]
        return value if self.value_type is None else self.value_type(value)


def evaluate_parameters(context: LaunchContext, values: dict[Any, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values by parameter name; nested dicts become names with dots.

    Plain text stays text. The text of a substitution is read as YAML: `true` becomes True. Raises SubstitutionFailure.
    """
    found: dict[str, Any] = {}
    for key, value in values.items():
        name = prefix + perform_substitutions(context, key)
        if isinstance(value, dict):
            found |= evaluate_parameters(context, value, f"{name}.")
        else:
            found[name] = _evaluated(context, name, value)
    return found


def _evaluated(context: LaunchContext, name: str, value: Any) -> Any:
    if isinstance(value, ParameterValue):
        return value.evaluate(context)
    if _has_substitution(value):
        value = yaml.safe_load(perform_substitutions(context, value) or "''")
    if not isinstance(value, (list, tuple)):
        _check(name, value, {type(value)})
        return value
    types = {type(item) for item in value}
    _check(name, value, types)
    return [float(item) for item in value] if types == {int, float} else list(value)


def _check(name: str, value: Any, types: set[type]) -> None:
    if (len(types) != 1 and types != {int, float}) or not types <= {bool, int, float, str}:
        raise SubstitutionFailure(f"parameter '{name}' cannot have the value {value!r}: neither one value nor a list")


def _has_substitution(value: Any) -> bool:
    """True for a substitution, or a sequence that has to be joined because it holds one."""
    if isinstance(value, (list, tuple)):
        return any(isinstance(part, Substitution) for part in value)
    return isinstance(value, Substitution)
