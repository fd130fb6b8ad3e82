"""The actions of a launch description. They run in order; processes start after the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ros_embedded.launch.events import ProcessExited, ShutdownProcess
from ros_embedded.launch.launch_description import LaunchContext, LaunchDescription
from ros_embedded.launch.launch_description_sources import PythonLaunchDescriptionSource
from ros_embedded.launch.substitutions import SomeSubstitutionsType, perform_substitutions


class LaunchArgumentError(RuntimeError):
    """A launch argument is missing or has a value that is not allowed."""


class Action:
    """The base of all actions."""

    def visit(self, context: LaunchContext) -> None:
        self.execute(context)

    def execute(self, context: LaunchContext) -> None:
        raise NotImplementedError


class DeclareLaunchArgument(Action):
    """A launch argument: its name, default and meaning."""

    def __init__(
        self,
        name: str,
        *,
        default_value: SomeSubstitutionsType | None = None,
        description: str | None = None,
        choices: Iterable[str] | None = None,
    ) -> None:
        self.name, self.default_value, self.choices = name, default_value, list(choices) if choices else None
        self.description = description or "no description given"

    def execute(self, context: LaunchContext) -> None:
        """Take the default where no value is given. Raises LaunchArgumentError."""
        if self.name not in context.launch_configurations:
            if self.default_value is None:
                raise LaunchArgumentError(
                    f"Required launch argument '{self.name}' (description: '{self.description}') was not provided"
                )
            context.launch_configurations[self.name] = perform_substitutions(context, self.default_value)
        value = context.launch_configurations[self.name]
        if self.choices and value not in self.choices:
            raise LaunchArgumentError(f"Argument '{self.name}' has value '{value}', valid options are: {self.choices}")


class SetEnvironmentVariable(Action):
    """Gives an environment variable a value for the processes that follow."""

    def __init__(self, name: SomeSubstitutionsType, value: SomeSubstitutionsType) -> None:
        self.name, self.value = name, value

    def execute(self, context: LaunchContext) -> None:
        value = perform_substitutions(context, self.value)
        context.environment[perform_substitutions(context, self.name)] = value


class OpaqueFunction(Action):
    """Calls a function with the context, then runs the actions that it returns."""

    def __init__(
        self,
        *,
        function: Callable[..., Iterable[Any] | None],
        args: Iterable[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        self.function, self.args, self.kwargs = function, tuple(args), kwargs or {}

    def execute(self, context: LaunchContext) -> None:
        LaunchDescription(self.function(context, *self.args, **self.kwargs)).visit(context)


class IncludeLaunchDescription(Action):
    """Another launch description with its arguments; what it sets stays set afterwards, as in launch."""

    def __init__(
        self,
        launch_description_source: PythonLaunchDescriptionSource,
        *,
        launch_arguments: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
    ) -> None:
        self.launch_description_source = launch_description_source
        self.launch_arguments = list(launch_arguments or ())

    def execute(self, context: LaunchContext) -> None:
        for name, value in self.launch_arguments:
            text = perform_substitutions(context, value)
            context.launch_configurations[perform_substitutions(context, name)] = text
        description = self.launch_description_source.get_launch_description(context)
        outer, context.launch_file = context.launch_file, self.launch_description_source.path(context)
        description.visit(context)
        context.launch_file = outer


class EmitEvent(Action):
    """Tells the processes that an event is meant for."""

    def __init__(self, *, event: ShutdownProcess) -> None:
        self.event = event

    def execute(self, context: LaunchContext) -> None:
        for process in filter(self.event.process_matcher, context.processes):
            process.respawn = False


class ExecuteProcess(Action):
    """Starts a program. Python programs write line by line, with emulate_tty or without."""

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        name: SomeSubstitutionsType | None = None,
        additional_env: dict[Any, Any] | None = None,
        output: SomeSubstitutionsType = "log",
        cwd: SomeSubstitutionsType | None = None,
        emulate_tty: bool = False,
        on_exit: Callable[[ProcessExited, LaunchContext], Iterable[Any] | None] | None = None,
        respawn: bool = False,
        respawn_delay: float | None = None,
    ) -> None:
        self.cmd, self.name, self.output, self.additional_env = list(cmd), name, output, additional_env or {}
        self.cwd, self.on_exit, self.respawn, self.respawn_delay_s = cwd, on_exit, respawn, respawn_delay or 0.0

    def execute(self, context: LaunchContext) -> None:
        self.start(context, [perform_substitutions(context, part) for part in self.cmd])

    def start(self, context: LaunchContext, command: Sequence[str]) -> None:
        """Register the process; it starts when all actions have run."""
        name = command[0].rpartition("/")[2] if self.name is None else perform_substitutions(context, self.name)
        more = {
            perform_substitutions(context, key): perform_substitutions(context, value)
            for key, value in self.additional_env.items()
        }
        self.command, self.environment = tuple(command), context.environment | more
        self.shows_output = perform_substitutions(context, self.output) in ("screen", "both", "own_log")
        self.process_name = f"{name}-{len(context.processes) + 1}"
        self.folder = None if self.cwd is None else perform_substitutions(context, self.cwd)
        context.processes.append(self)
