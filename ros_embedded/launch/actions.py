"""What a launch description can do. Actions are carried out in order; processes start once all have been."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ros_embedded.launch.launch_context import LaunchContext
from ros_embedded.launch.launch_description import LaunchDescription
from ros_embedded.launch.launch_description_sources import LaunchDescriptionSource
from ros_embedded.launch.substitutions import SomeSubstitutionsType, perform_substitutions


class LaunchArgumentError(RuntimeError):
    """A launch argument is missing or has a value that is not allowed."""


class Action:
    """One step, carried out if its condition holds."""

    def __init__(self, *, condition: Any = None) -> None:
        self.condition = condition

    def visit(self, context: LaunchContext) -> None:
        """Carry it out unless its condition says no."""
        if self.condition is None or self.condition.evaluate(context):
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
        condition: Any = None,
    ) -> None:
        super().__init__(condition=condition)
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


class SetLaunchConfiguration(Action):
    """Gives a launch configuration a value."""

    def __init__(self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, *, condition: Any = None) -> None:
        super().__init__(condition=condition)
        self.name, self.value = name, value

    def execute(self, context: LaunchContext) -> None:
        value = perform_substitutions(context, self.value)
        context.launch_configurations[perform_substitutions(context, self.name)] = value


class SetEnvironmentVariable(SetLaunchConfiguration):
    """Gives an environment variable a value for the processes that follow."""

    def execute(self, context: LaunchContext) -> None:
        value = perform_substitutions(context, self.value)
        context.environment[perform_substitutions(context, self.name)] = value


class UnsetEnvironmentVariable(Action):
    """Removes an environment variable for the processes that follow."""

    def __init__(self, name: SomeSubstitutionsType, *, condition: Any = None) -> None:
        super().__init__(condition=condition)
        self.name = name

    def execute(self, context: LaunchContext) -> None:
        context.environment.pop(perform_substitutions(context, self.name), None)


class GroupAction(Action):
    """Several actions; what they set holds among them only, unless scoped is False."""

    def __init__(self, actions: Iterable[Any], *, scoped: bool = True, condition: Any = None) -> None:
        super().__init__(condition=condition)
        self.actions, self.scoped = list(actions), scoped

    def execute(self, context: LaunchContext) -> None:
        if self.scoped:
            with context.scope():
                LaunchDescription(self.actions).visit(context)
        else:
            LaunchDescription(self.actions).visit(context)


class IncludeLaunchDescription(Action):
    """Another launch description, with arguments for it."""

    def __init__(
        self,
        launch_description_source: LaunchDescriptionSource,
        *,
        launch_arguments: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        condition: Any = None,
    ) -> None:
        super().__init__(condition=condition)
        self.launch_description_source = launch_description_source
        self.launch_arguments = list(launch_arguments or ())

    def execute(self, context: LaunchContext) -> None:
        """Carry out the included description; as in launch, what it sets holds afterwards too."""
        for name, value in self.launch_arguments:
            SetLaunchConfiguration(name, value).execute(context)
        description = self.launch_description_source.get_launch_description(context)
        outer, context.launch_file = context.launch_file, self.launch_description_source.path(context)
        try:
            description.visit(context)
        finally:
            context.launch_file = outer


class OpaqueFunction(Action):
    """A Python function that is given the context and may return further actions."""

    def __init__(
        self,
        *,
        function: Callable[..., Any],
        args: Iterable[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
        condition: Any = None,
    ) -> None:
        super().__init__(condition=condition)
        self.function, self.args, self.kwargs = function, tuple(args or ()), kwargs or {}

    def execute(self, context: LaunchContext) -> None:
        LaunchDescription(self.function(context, *self.args, **self.kwargs)).visit(context)


class LogInfo(Action):
    """Prints a line."""

    def __init__(self, *, msg: SomeSubstitutionsType, condition: Any = None) -> None:
        super().__init__(condition=condition)
        self.msg = msg

    def execute(self, context: LaunchContext) -> None:
        print(f"[INFO] [launch.user]: {perform_substitutions(context, self.msg)}", flush=True)


class TimerAction(Action):
    """Actions whose processes start a period, in seconds, after the others."""

    def __init__(self, *, period: float, actions: Iterable[Any], condition: Any = None) -> None:
        super().__init__(condition=condition)
        self.period, self.actions = period, list(actions)

    def execute(self, context: LaunchContext) -> None:
        earlier_s, context.delay_s = context.delay_s, context.delay_s + self.period
        LaunchDescription(self.actions).visit(context)
        context.delay_s = earlier_s


class Shutdown(Action):
    """As `on_exit` of a process: when it ends, everything is stopped."""

    def __init__(self, *, reason: str = "reason not given", condition: Any = None) -> None:
        super().__init__(condition=condition)
        self.reason = reason


@dataclass(frozen=True)
class ProcessDescription:
    """A process to start: its command, environment, and what happens when it ends."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str]
    cwd: str | None = None
    shows_output: bool = True
    delay_s: float = 0.0
    respawn_delay_s: float | None = None
    ends_launch: bool = False


class ExecuteProcess(Action):
    """Starts a program."""

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        name: SomeSubstitutionsType | None = None,
        cwd: SomeSubstitutionsType | None = None,
        env: dict[Any, Any] | None = None,
        additional_env: dict[Any, Any] | None = None,
        output: SomeSubstitutionsType = "log",
        emulate_tty: bool | None = None,
        respawn: bool = False,
        respawn_delay: float | None = None,
        on_exit: Any = None,
        condition: Any = None,
    ) -> None:
        super().__init__(condition=condition)
        self.cmd, self.name, self.cwd, self.output = list(cmd), name, cwd, output
        self.env, self.additional_env = env, additional_env or {}
        self.respawn, self.respawn_delay, self.on_exit = respawn, respawn_delay, on_exit

    def execute(self, context: LaunchContext) -> None:
        context.processes.append(self.describe(context, [perform_substitutions(context, part) for part in self.cmd]))

    def describe(self, context: LaunchContext, command: Sequence[str]) -> ProcessDescription:
        base = context.environment if self.env is None else self.env
        variables = [*base.items(), *self.additional_env.items()]
        name = command[0].rpartition("/")[2] if self.name is None else perform_substitutions(context, self.name)
        return ProcessDescription(
            name=f"{name}-{len(context.processes) + 1}",
            command=tuple(command),
            environment={
                perform_substitutions(context, key): perform_substitutions(context, value) for key, value in variables
            },
            cwd=None if self.cwd is None else perform_substitutions(context, self.cwd),
            shows_output=perform_substitutions(context, self.output) in ("screen", "both", "own_log"),
            delay_s=context.delay_s,
            respawn_delay_s=(self.respawn_delay or 0.0) if self.respawn else None,
            ends_launch=isinstance(self.on_exit, Shutdown),
        )
