"""Starting nodes, and what holds for all nodes that follow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from ros_embedded.executables import executable_command
from ros_embedded.launch.actions import Action, ExecuteProcess
from ros_embedded.launch.launch_context import LaunchContext
from ros_embedded.launch.substitutions import SomeSubstitutionsType, perform_substitutions
from ros_embedded.launch_ros.parameter_descriptions import ParameterFile, evaluate_parameter


class Node(ExecuteProcess):
    """An executable of a package with its name, namespace, parameters and remappings."""

    def __init__(
        self,
        *,
        executable: SomeSubstitutionsType,
        package: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        namespace: SomeSubstitutionsType | None = None,
        exec_name: SomeSubstitutionsType | None = None,
        parameters: Iterable[Any] | None = None,
        remappings: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        ros_arguments: Iterable[SomeSubstitutionsType] | None = None,
        arguments: Iterable[SomeSubstitutionsType] | None = None,
        **process: Any,
    ) -> None:
        super().__init__(cmd=[], name=exec_name or executable, **process)
        self.executable, self.package, self.node_name, self.namespace = executable, package, name, namespace
        self.parameters, self.remappings = list(parameters or ()), list(remappings or ())
        self.ros_arguments, self.arguments = list(ros_arguments or ()), list(arguments or ())

    def execute(self, context: LaunchContext) -> None:
        ros_arguments = [perform_substitutions(context, argument) for argument in self.ros_arguments]
        if self.node_name is not None:
            ros_arguments += ["-r", f"__node:={perform_substitutions(context, self.node_name)}"]
        namespace = self._full_namespace(context)
        if namespace:
            ros_arguments += ["-r", f"__ns:={namespace}"]
        for source, target in self.remappings:
            rule = f"{perform_substitutions(context, source)}:={perform_substitutions(context, target)}"
            ros_arguments += ["-r", rule]
        for parameters in (
            [context.global_parameters, *self.parameters] if context.global_parameters else self.parameters
        ):
            ros_arguments += ["--params-file", _parameter_file(context, parameters)]
        arguments = [perform_substitutions(context, argument) for argument in self.arguments]
        command = [*self._program(context), *arguments, "--ros-args", *ros_arguments]
        context.processes.append(self.describe(context, command))

    def _full_namespace(self, context: LaunchContext) -> str:
        own = "" if self.namespace is None else perform_substitutions(context, self.namespace)
        joined = own if own.startswith("/") else "/".join(filter(None, (context.ros_namespace, own)))
        return f"/{joined.strip('/')}" if joined else ""

    def _program(self, context: LaunchContext) -> list[str]:
        executable = perform_substitutions(context, self.executable)
        if self.package is None:
            return [executable]
        return executable_command(perform_substitutions(context, self.package), executable, context.environment)


class PushRosNamespace(Action):
    """Puts the nodes that follow, in the same group, below a namespace."""

    def __init__(self, namespace: SomeSubstitutionsType, *, condition: Any = None) -> None:
        super().__init__(condition=condition)
        self.namespace = namespace

    def execute(self, context: LaunchContext) -> None:
        pushed = perform_substitutions(context, self.namespace)
        parts = (pushed,) if pushed.startswith("/") else (context.ros_namespace, pushed)
        context.ros_namespace = "/".join(filter(None, parts))


class SetParameter(Action):
    """Gives a parameter of all nodes that follow, in the same group, a value."""

    def __init__(self, name: SomeSubstitutionsType, value: Any, *, condition: Any = None) -> None:
        super().__init__(condition=condition)
        self.name, self.value = name, value

    def execute(self, context: LaunchContext) -> None:
        name = perform_substitutions(context, self.name)
        context.global_parameters[name] = evaluate_parameter(context, self.value)


def _parameter_file(context: LaunchContext, parameters: Any) -> str:
    """The path of a YAML file: the one given, or one written from a dict for the time of the launch."""
    if isinstance(parameters, ParameterFile):
        return perform_substitutions(context, parameters.param_file)
    if not isinstance(parameters, dict):
        return perform_substitutions(context, parameters)
    text = yaml.safe_dump({"/**": {"ros__parameters": evaluate_parameter(context, parameters)}})
    path = context.temporary_folder / f"parameters_{len(list(context.temporary_folder.iterdir()))}.yaml"
    path.write_text(text, "utf-8")
    return str(path)
