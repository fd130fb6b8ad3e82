"""Conditions of actions."""

from __future__ import annotations

from ros_embedded.launch.launch_description import LaunchContext
from ros_embedded.launch.substitutions import SomeSubstitutionsType, SubstitutionFailure, perform_substitutions

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class IfCondition:
    """True where the predicate is `true` or `1`; an error unless it is one of `true`, `1`, `false` and `0`."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        self.predicate_expression = predicate_expression

    def evaluate(self, context: LaunchContext) -> bool:
        """Return the condition's value. Raises SubstitutionFailure."""
        text = perform_substitutions(context, self.predicate_expression)
        if text.strip().lower() not in _BOOLEANS:
            raise SubstitutionFailure(f"expected one of true, 1, false, 0, got '{text}'")
        return _BOOLEANS[text.strip().lower()]


class UnlessCondition(IfCondition):
    """True where the predicate is `false` or `0`."""

    def evaluate(self, context: LaunchContext) -> bool:
        return not super().evaluate(context)
