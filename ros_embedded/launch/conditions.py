"""Whether an action is to be carried out."""

from __future__ import annotations

from ros_embedded.launch.launch_context import LaunchContext
from ros_embedded.launch.substitutions import SomeSubstitutionsType, as_boolean, perform_substitutions


class IfCondition:
    """Holds if its predicate is `true` or `1`; anything but these, `false` and `0` is an error."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        self.predicate_expression = predicate_expression

    def evaluate(self, context: LaunchContext) -> bool:
        return as_boolean(perform_substitutions(context, self.predicate_expression))


class UnlessCondition(IfCondition):
    """Holds if its predicate is `false` or `0`."""

    def evaluate(self, context: LaunchContext) -> bool:
        return not super().evaluate(context)
