"""Runs a launch file: starts its processes, prints their output, and stops all of them together."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ros_embedded.launch import LaunchContext, LaunchDescription
from ros_embedded.launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    IncludeLaunchDescription,
    LaunchArgumentError,
)
from ros_embedded.launch.events import ProcessExited
from ros_embedded.launch.launch_description_sources import PythonLaunchDescriptionSource
from ros_embedded.launch.substitutions import perform_substitutions

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
_PATIENCE_S = 5.0


def run_launch_file(path: str | os.PathLike[str], arguments: Sequence[str] = ()) -> int:
    """Run a Python launch file, with arguments `name:=value`, until its processes end or this one is interrupted.

    Returns 0, or 1 if a process failed before anything asked it to stop. Raises LaunchArgumentError for an argument of
    another form, or a value that the file does not allow.
    """
    with tempfile.TemporaryDirectory(prefix="ros_embedded_launch_") as folder:
        context, description = _load(path, Path(folder))
        declared = {argument.name for argument in _declared_arguments(description, context)}
        for argument in arguments:
            name, separator, value = argument.partition(":=")
            if not separator:
                raise LaunchArgumentError(f"malformed launch argument '{argument}', expected format '<name>:=<value>'")
            if name not in declared:  # a function may declare it later, or it sets a configuration with a default
                _say("WARNING", "launch", f"the launch file declares no argument '{name}'")
            context.launch_configurations[name] = value
        description.visit(context)
        return _Processes(context).run()


def show_arguments(path: str | os.PathLike[str]) -> str:
    """The arguments of a launch file with their meanings and defaults, as `ros2 launch --show-args` prints them."""
    context, description = _load(path, Path(tempfile.gettempdir()))
    lines = ["Arguments (pass arguments as '<name>:=<value>'):"]
    for argument in _declared_arguments(description, context):
        lines += ["", f"    '{argument.name}':", f"        {argument.description}"]
        if argument.choices:
            lines.append(f"        (valid choices are: {argument.choices})")
        if argument.default_value is not None:
            try:
                text = perform_substitutions(context, argument.default_value)
            except (RuntimeError, LookupError) as error:
                text = f"<{error}>"
            lines.append(f"        (default: '{text}')")
    return "\n".join(lines)


def _load(path: str | os.PathLike[str], folder: Path) -> tuple[LaunchContext, LaunchDescription]:
    context, source = LaunchContext(folder), PythonLaunchDescriptionSource(str(path))
    context.launch_file = source.path(context)
    return context, source.get_launch_description(context)


def _declared_arguments(description: LaunchDescription, context: LaunchContext) -> list[DeclareLaunchArgument]:
    """The arguments that a description and those it includes declare; the first of a name counts."""
    found: dict[str, DeclareLaunchArgument] = {}
    for entity in description.entities:
        inner = entity if isinstance(entity, LaunchDescription) else LaunchDescription()
        if isinstance(entity, DeclareLaunchArgument):
            found.setdefault(entity.name, entity)
        elif isinstance(entity, IncludeLaunchDescription):
            inner = entity.launch_description_source.get_launch_description(context)
        for argument in _declared_arguments(inner, context):
            found.setdefault(argument.name, argument)
    return list(found.values())


class _Processes:
    """The processes of a launch; it is over when all have ended and none is to start again."""

    def __init__(self, context: LaunchContext) -> None:
        self._context = context
        self._respawning: list[tuple[float, ExecuteProcess]] = []  # when by time.monotonic()
        self._running: dict[ExecuteProcess, subprocess.Popen[str]] = {}
        self._ended: queue.SimpleQueue[ExecuteProcess] = queue.SimpleQueue()
        self._stops = 0
        self._next_stop_s = float("inf")
        self._has_failed = False

    def run(self) -> int:
        """Run all processes. SIGINT or SIGTERM stops them: SIGINT first, SIGTERM after 5 s, SIGKILL after 5 s more."""
        numbers = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
        earlier = {number: signal.signal(number, self._stop) for number in numbers}
        try:
            for action in self._context.processes:
                if not self._stops:
                    self._start(action)
            while self._running or (self._respawning and not self._stops):
                try:
                    self._settle(self._ended.get(timeout=0.1))
                except queue.Empty:
                    if time.monotonic() > self._next_stop_s:
                        self._stop()
                for each in [each for each in self._respawning if each[0] <= time.monotonic() and not self._stops]:
                    self._respawning.remove(each)
                    self._start(each[1])
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)
        return int(self._has_failed)

    def _start(self, action: ExecuteProcess) -> None:
        try:
            process = subprocess.Popen(
                action.command,
                stdout=subprocess.PIPE if action.shows_output else subprocess.DEVNULL,
                stderr=subprocess.STDOUT if action.shows_output else subprocess.PIPE,
                env=action.environment | {"PYTHONUNBUFFERED": "1"},
                cwd=action.folder,
                text=True,
                errors="replace",
                start_new_session=True,  # processes do not get the terminal's Ctrl-C; each is signalled once from here
            )
        except OSError as error:
            _say("ERROR", action.process_name, f"cannot be started: {error}")
            self._has_failed = True
            self._stop()
            return
        self._running[action] = process
        _say("INFO", action.process_name, f"process started with pid [{process.pid}]")
        threading.Thread(target=self._follow, args=(action, process), daemon=True).start()

    def _follow(self, action: ExecuteProcess, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or process.stderr or ():
            print(f"[{action.process_name}] {line}", end="", flush=True)
        process.wait()
        self._ended.put(action)

    def _settle(self, action: ExecuteProcess) -> None:
        process = self._running.pop(action)
        code = process.returncode
        if action.on_exit is not None:
            LaunchDescription(action.on_exit(ProcessExited(action, code), self._context)).visit(self._context)
        if code == 0:
            _say("INFO", action.process_name, f"process has finished cleanly [pid {process.pid}]")
        else:
            died = f"process has died [pid {process.pid}, exit code {code}, cmd '{' '.join(action.command)}']."
            _say("ERROR", action.process_name, died)
            self._has_failed |= not (self._stops or action.respawn)
        if action.respawn:
            self._respawning.append((time.monotonic() + action.respawn_delay_s, action))

    def _stop(self, *_signal: Any) -> None:
        with_signal = _SIGNALS[min(self._stops, len(_SIGNALS) - 1)]
        self._stops += 1
        self._next_stop_s = time.monotonic() + _PATIENCE_S
        for action, process in list(self._running.items()):
            _say("INFO", action.process_name, f"sending signal '{with_signal.name}' to process[{action.process_name}]")
            process.send_signal(with_signal)


def _say(level: str, name: str, text: str) -> None:
    stream = sys.stderr if level == "ERROR" else sys.stdout
    print(f"[{level}] [{name}]: {text}\n", end="", file=stream, flush=True)  # one write: others print there, too
