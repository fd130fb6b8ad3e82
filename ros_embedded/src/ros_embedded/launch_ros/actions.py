"""The action that starts a node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from ros_embedded.executables import executable_command
from ros_embedded.launch.actions import ExecuteProcess
from ros_embedded.launch.launch_description import LaunchContext
from ros_embedded.launch.substitutions import SomeSubstitutionsType, perform_substitutions
from ros_embedded.launch_ros.parameter_descriptions import evaluate_parameters


class Node(ExecuteProcess):
    """An executable of a package with its name, namespace, parameters and remappings."""

    def __init__(
        self,
        *,
        executable: SomeSubstitutionsType,
        package: SomeSubstitutionsType,
        name: SomeSubstitutionsType | None = None,
        namespace: SomeSubstitutionsType | None = None,
        parameters: Iterable[Any] | None = None,
        remappings: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        arguments: Iterable[SomeSubstitutionsType] | None = None,
        ros_arguments: Iterable[SomeSubstitutionsType] | None = None,
        **process: Any,
    ) -> None:
        super().__init__(cmd=[], name=executable, **process)
        self.executable, self.package, self.node_name, self.namespace = executable, package, name, namespace
        self.parameters, self.remappings = list(parameters or ()), list(remappings or ())
        self.arguments, self.ros_arguments = list(arguments or ()), list(ros_arguments or ())

    def execute(self, context: LaunchContext) -> None:
        ros_arguments = [perform_substitutions(context, argument) for argument in self.ros_arguments]
        name = None if self.node_name is None else perform_substitutions(context, self.node_name)
        if name is not None:
            ros_arguments += ["-r", f"__node:={name}"]
        namespace = None
        if self.namespace is not None:
            namespace = f"/{perform_substitutions(context, self.namespace).strip('/')}"
            ros_arguments += ["-r", f"__ns:={namespace}"]
        block = "/**" if name is None or namespace is None else f"{namespace.rstrip('/')}/{name}"
        for parameters in self.parameters:
            ros_arguments += ["--params-file", _parameter_file(context, block, parameters)]
        for source, target in self.remappings:
            rule = f"{perform_substitutions(context, source)}:={perform_substitutions(context, target)}"
            ros_arguments += ["-r", rule]
        package, executable = (perform_substitutions(context, part) for part in (self.package, self.executable))
        program = executable_command(package, executable, context.environment)
        arguments = [perform_substitutions(context, argument) for argument in self.arguments]
        self.start(context, [*program, *arguments, "--ros-args", *ros_arguments])


def _parameter_file(context: LaunchContext, block: str, parameters: Any) -> str:
    """The path of a YAML file: the one given, or one written from a dict for the time of the launch.

    As launch_ros does, the dict is written below the node's full name where the description has it.
    """
    if not isinstance(parameters, dict):
        return perform_substitutions(context, parameters)
    text = yaml.safe_dump({block: {"ros__parameters": evaluate_parameters(context, parameters)}})
    path = context.temporary_folder / f"parameters_{len(list(context.temporary_folder.iterdir()))}.yaml"
    path.write_text(text, "utf-8")
    return str(path)
