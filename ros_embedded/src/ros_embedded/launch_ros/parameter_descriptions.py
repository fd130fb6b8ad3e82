"""Values of parameters that are only known when a description is launched."""

from __future__ import annotations

from typing import Any

import yaml

from ros_embedded.launch.launch_description import LaunchContext
from ros_embedded.launch.substitutions import Substitution, perform_substitutions


class ParameterValue:
    """A value with its type; str keeps text such as `1.0` from being read as a number."""

    def __init__(self, value: Any, *, value_type: Any = None) -> None:
        self.value, self.value_type = value, value_type

    def evaluate(self, context: LaunchContext) -> Any:
        text = perform_substitutions(context, self.value) if _is_text(self.value) else str(self.value)
        if self.value_type is str:
            return text
        value = yaml.safe_load(text)
        return value if self.value_type is None else self.value_type(value)


def evaluate_parameter(context: LaunchContext, value: Any) -> Any:
    """A parameter's value; text is read as YAML as launch_ros does, so that `true` becomes True."""
    if isinstance(value, ParameterValue):
        return value.evaluate(context)
    if isinstance(value, dict):
        return {perform_substitutions(context, key): evaluate_parameter(context, item) for key, item in value.items()}
    if _is_text(value):
        loaded = yaml.safe_load(perform_substitutions(context, value))
        return "" if loaded is None else loaded
    return list(value) if isinstance(value, (list, tuple)) else value


def _is_text(value: Any) -> bool:
    """True for a string, a substitution, or a sequence that has to be joined because it holds one."""
    if isinstance(value, (list, tuple)):
        return any(isinstance(part, Substitution) for part in value)
    return isinstance(value, (str, Substitution))
