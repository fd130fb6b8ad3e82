"""Substitutions: text that is evaluated when a description is launched."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Union

from ros_embedded.launch.launch_description import LaunchContext


class SubstitutionFailure(RuntimeError):  # noqa: N818 - launch's name
    """A substitution has no value."""


class Substitution:
    """The base of substitutions."""

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


@dataclass
class LaunchConfiguration(Substitution):
    """The value of a launch argument."""

    variable_name: SomeSubstitutionsType
    default: Any = field(default=None, kw_only=True)

    def perform(self, context: LaunchContext) -> str:
        name = perform_substitutions(context, self.variable_name)
        if name in context.launch_configurations:
            return context.launch_configurations[name]
        if self.default is None:
            raise SubstitutionFailure(f"launch configuration '{name}' does not exist")
        return perform_substitutions(context, self.default)


@dataclass
class PathJoinSubstitution(Substitution):
    """Parts of a path, joined."""

    substitutions: Iterable[SomeSubstitutionsType]

    def perform(self, context: LaunchContext) -> str:
        return os.path.join(*(perform_substitutions(context, part) for part in self.substitutions))
