"""Substitutions: text that is evaluated when a description is launched."""

from __future__ import annotations

import importlib
import os
import shlex
import shutil
import subprocess
import sys
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
class TextSubstitution(Substitution):
    """Fixed text."""

    text: str = field(kw_only=True)

    def perform(self, context: LaunchContext) -> str:
        return self.text


@dataclass
class LaunchConfiguration(Substitution):
    """The value of a launch argument."""

    variable_name: SomeSubstitutionsType
    default: Any = field(default=None, kw_only=True)

    def perform(self, context: LaunchContext) -> str:
        name = perform_substitutions(context, self.variable_name)
        return _found(context, context.launch_configurations, name, self.default, "launch configuration")


@dataclass
class EnvironmentVariable(Substitution):
    """The value of an environment variable."""

    name: SomeSubstitutionsType
    default_value: Any = field(default=None, kw_only=True)

    def perform(self, context: LaunchContext) -> str:
        name = perform_substitutions(context, self.name)
        return _found(context, context.environment, name, self.default_value, "environment variable")


def _found(context: LaunchContext, values: dict[str, str], name: str, default: Any, what: str) -> str:
    if name in values:
        return values[name]
    if default is None:
        raise SubstitutionFailure(f"{what} '{name}' does not exist")
    return perform_substitutions(context, default)


@dataclass
class PathJoinSubstitution(Substitution):
    """Parts of a path, joined."""

    substitutions: Iterable[SomeSubstitutionsType]

    def perform(self, context: LaunchContext) -> str:
        return os.path.join(*(perform_substitutions(context, part) for part in self.substitutions))


@dataclass
class EqualsSubstitution(Substitution):
    """`true` if two texts are equal, as text or as booleans or numbers; else `false`."""

    left: SomeSubstitutionsType
    right: SomeSubstitutionsType

    def perform(self, context: LaunchContext) -> str:
        left, right = (perform_substitutions(context, side).strip() for side in (self.left, self.right))
        return str(left == right or _number(left) == _number(right) is not None).lower()


class NotEqualsSubstitution(EqualsSubstitution):
    """`false` if two texts are equal, else `true`."""

    def perform(self, context: LaunchContext) -> str:
        return str(super().perform(context) == "false").lower()


@dataclass
class PythonExpression(Substitution):
    """What a Python expression yields; `math` and its names can be used, and further modules by their names."""

    expression: SomeSubstitutionsType
    python_modules: Iterable[str] = ("math",)

    def perform(self, context: LaunchContext) -> str:
        modules = {name: importlib.import_module(name) for name in self.python_modules}
        names = {**(vars(modules["math"]) if "math" in modules else {}), **modules}
        return str(eval(perform_substitutions(context, self.expression), {}, names))  # trusted like the launch file


@dataclass
class FindExecutable(Substitution):
    """The path of a program on PATH."""

    name: SomeSubstitutionsType = field(kw_only=True)

    def perform(self, context: LaunchContext) -> str:
        name = perform_substitutions(context, self.name)
        path = shutil.which(name, path=context.environment.get("PATH"))
        if path is None:
            raise SubstitutionFailure(f"executable '{name}' not found on the PATH")
        return path


@dataclass
class Command(Substitution):
    """What a program such as xacro prints; by default a failure if it writes to standard error."""

    command: SomeSubstitutionsType
    on_stderr: SomeSubstitutionsType = field(default="fail", kw_only=True)

    def perform(self, context: LaunchContext) -> str:
        command, on_stderr = (perform_substitutions(context, part) for part in (self.command, self.on_stderr))
        errors = subprocess.STDOUT if on_stderr == "capture" else subprocess.PIPE
        words = shlex.split(command)
        try:
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=errors, text=True, env=context.environment)
        except OSError as error:
            raise SubstitutionFailure(f"cannot execute '{command}': {error}") from error
        if done.returncode != 0 or (done.stderr and on_stderr == "fail"):
            raise SubstitutionFailure(f"executed command failed. Command: {command}\n{done.stderr or done.stdout}")
        if on_stderr == "warn":
            sys.stderr.write(done.stderr)
        return done.stdout


@dataclass
class ThisLaunchFileDir(Substitution):
    """The folder of the launch file."""

    def perform(self, context: LaunchContext) -> str:
        return str(context.launch_file.parent) if context.launch_file else os.getcwd()


def _number(text: str) -> float | None:
    try:
        return float({"true": "1", "false": "0"}.get(text.lower(), text))
    except ValueError:
        return None
