"""Text that is only known when a description is launched."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Union

from ros_embedded.launch.launch_context import LaunchContext


class SubstitutionFailure(RuntimeError):  # noqa: N818 - launch's name
    """A substitution has no value."""


class Substitution:
    """Something that becomes text."""

    def perform(self, context: LaunchContext) -> str:
        """The text in a context. Raises SubstitutionFailure."""
        raise NotImplementedError


SomeSubstitutionsType = Union[str, Substitution, Iterable[Union[str, Substitution]]]  # noqa: UP007 - evaluated


def perform_substitutions(context: LaunchContext, value: Any) -> str:
    """The text of a string, a substitution, or several of them in a row."""
    if isinstance(value, Substitution):
        return value.perform(context)
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    return "".join(perform_substitutions(context, part) for part in value)


class TextSubstitution(Substitution):
    """Itself."""

    def __init__(self, *, text: str) -> None:
        self.text = text

    def perform(self, context: LaunchContext) -> str:
        return self.text


class LaunchConfiguration(Substitution):
    """The value of a launch argument."""

    def __init__(self, variable_name: SomeSubstitutionsType, *, default: Any = None) -> None:
        self.variable_name = variable_name
        self.default = default

    def perform(self, context: LaunchContext) -> str:
        name = perform_substitutions(context, self.variable_name)
        if name in context.launch_configurations:
            return context.launch_configurations[name]
        if self.default is None:
            raise SubstitutionFailure(f"launch configuration '{name}' does not exist")
        return perform_substitutions(context, self.default)


class EnvironmentVariable(Substitution):
    """The value of an environment variable."""

    def __init__(self, name: SomeSubstitutionsType, *, default_value: Any = None) -> None:
        self.name = name
        self.default_value = default_value

    def perform(self, context: LaunchContext) -> str:
        name = perform_substitutions(context, self.name)
        if name in context.environment:
            return context.environment[name]
        if self.default_value is None:
            raise SubstitutionFailure(f"environment variable '{name}' does not exist")
        return perform_substitutions(context, self.default_value)


class PathJoinSubstitution(Substitution):
    """Parts of a path, joined."""

    def __init__(self, substitutions: Iterable[SomeSubstitutionsType]) -> None:
        self.substitutions = list(substitutions)

    def perform(self, context: LaunchContext) -> str:
        return os.path.join(*(perform_substitutions(context, part) for part in self.substitutions))


class ThisLaunchFile(Substitution):
    """The path of the launch file."""

    def perform(self, context: LaunchContext) -> str:
        if context.launch_file is None:
            raise SubstitutionFailure("ThisLaunchFile used outside of a launch file")
        return str(context.launch_file)


class ThisLaunchFileDir(ThisLaunchFile):
    """The folder of the launch file."""

    def perform(self, context: LaunchContext) -> str:
        return os.path.dirname(super().perform(context))


class EqualsSubstitution(Substitution):
    """`true` if two texts are equal, as text or as booleans or numbers; else `false`."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        self.left, self.right = left, right

    def perform(self, context: LaunchContext) -> str:
        """`true` or `false`."""
        left, right = (perform_substitutions(context, side).strip() for side in (self.left, self.right))
        return str(left == right or _number(left) == _number(right) is not None).lower()


class NotEqualsSubstitution(EqualsSubstitution):
    """The opposite of EqualsSubstitution."""

    def perform(self, context: LaunchContext) -> str:
        """`true` or `false`."""
        return "false" if super().perform(context) == "true" else "true"


class _Logical(Substitution):
    def __init__(self, *parts: SomeSubstitutionsType) -> None:
        self.parts = parts

    def _values(self, context: LaunchContext) -> list[bool]:
        return [as_boolean(perform_substitutions(context, part)) for part in self.parts]


class NotSubstitution(_Logical):
    """`true` if its part is false."""

    def perform(self, context: LaunchContext) -> str:
        """`true` or `false`."""
        return str(not self._values(context)[0]).lower()


class AndSubstitution(_Logical):
    """`true` if both parts are."""

    def perform(self, context: LaunchContext) -> str:
        """`true` or `false`."""
        return str(all(self._values(context))).lower()


class OrSubstitution(_Logical):
    """`true` if one of its parts is."""

    def perform(self, context: LaunchContext) -> str:
        """`true` or `false`."""
        return str(any(self._values(context))).lower()


def as_boolean(text: str) -> bool:
    """True for `true` and `1`, False for `false` and `0`. Raises SubstitutionFailure for anything else."""
    value = {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower())
    if value is None:
        raise SubstitutionFailure(f"expected one of true, 1, false, 0, got '{text}'")
    return value


def _number(text: str) -> float | None:
    try:
        return float({"true": "1", "false": "0"}.get(text.lower(), text))
    except ValueError:
        return None
