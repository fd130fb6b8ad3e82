"""What a launch does while it runs: timers, event handlers, respawning, functions of the launch file."""

import os
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import ros_embedded.import_hook as hook
from ros_embedded.launch.conditions import IfCondition
from ros_embedded.launch.launch_description import LaunchContext
from ros_embedded.launch.substitutions import (
    Command,
    FindExecutable,
    LaunchConfiguration,
    NotEqualsSubstitution,
    PythonExpression,
    SubstitutionFailure,
    ThisLaunchFileDir,
    perform_substitutions,
)
from ros_embedded.launch_ros.actions import Node, SetParameter
from ros_embedded.launch_runner import run_launch_file


@pytest.fixture
def launch(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a description, given as the actions of a launch file; returns its status, output and errors."""
    hook.install()

    def run(actions: str, *arguments: str, before: str = "") -> tuple[int, str, str]:
        path = tmp_path / "test.launch.py"
        path.write_text(
            "import sys\nfrom launch import LaunchDescription\nfrom launch.actions import *\n"
            "from launch import events\nfrom launch.event_handlers import *\nfrom launch.substitutions import *\n"
            f"{textwrap.dedent(before)}\n"
            f"def generate_launch_description():\n    return LaunchDescription([{actions}])\n"
        )
        status = run_launch_file(path, arguments)
        return status, *capfd.readouterr()

    return run


def lines_of(output, *wanted):
    """The lines of the output that hold one of some texts."""
    return [line for line in output.splitlines() if any(text in line for text in wanted)]


def test_function_of_the_launch_file_gives_actions(launch):
    before = """
    def several(context, word, times):
        times = int(context.perform_substitution(times))
        return [ExecuteProcess(cmd=["echo", word, str(index)], output="screen") for index in range(times)]
    """
    actions = (
        'DeclareLaunchArgument("times"),'
        'OpaqueFunction(function=several, args=["cup"], kwargs={"times": LaunchConfiguration("times")}),'
        "OpaqueFunction(function=lambda context: None)"
    )
    status, out, _ = launch(actions, "times:=2", before=before)
    assert status == 0
    assert sorted(lines_of(out, "cup")) == ["[echo-1] cup 0", "[echo-2] cup 1"]


def test_configuration_that_is_not_declared_can_be_given(launch):
    status, out, _ = launch('LogInfo(msg=LaunchConfiguration("word", default="plate"))', "word:=cup")
    assert status == 0
    assert "[WARNING] [launch]: the launch file declares no argument 'word'" in out
    assert "[launch.user]: cup" in out


def test_event_handlers_see_a_process_start_and_end(launch):
    before = """
    first = ExecuteProcess(cmd=["bash", "-c", "exit 3"], name="first")

    def tell(event, context):
        return LogInfo(msg=f"{event.process_name} gave {event.returncode}")
    """
    actions = (
        'RegisterEventHandler(OnProcessStart(target_action=first, on_start=[LogInfo(msg="begun")])), first,'
        "RegisterEventHandler(OnProcessExit(target_action=first, on_exit=tell)),"
        'RegisterEventHandler(OnProcessExit(target_action=first, on_exit=ExecuteProcess(cmd=["echo", "next"], '
        'output="screen")))'
    )
    _, out, _ = launch(actions, before=before)
    assert lines_of(out, "launch.user", "[echo-2] next") == [
        "[INFO] [launch.user]: begun",
        "[INFO] [launch.user]: first-1 gave 3",
        "[echo-2] next",
    ]


def test_timers_are_awaited_and_shutdown_drops_those_left(launch):
    actions = (
        'TimerAction(period=LaunchConfiguration("after", default="0.2"), actions=[LogInfo(msg="later"), Shutdown()]),'
        'TimerAction(period=1000.0, actions=[LogInfo(msg="never")]), LogInfo(msg="at once"),'
        'ExecuteProcess(cmd=["sleep", "1000"])'
    )
    status, out, _ = launch(actions)
    assert status == 0
    assert lines_of(out, "launch.user", "signal") == [
        "[INFO] [launch.user]: at once",
        "[INFO] [launch.user]: later",
        "[INFO] [sleep-1]: sending signal 'SIGINT' to process[sleep-1]",
    ]


def test_end_of_a_process_can_end_the_launch(launch):
    actions = 'ExecuteProcess(cmd=["true"], on_exit={end}), ExecuteProcess(cmd=["sleep", "1000"])'
    assert launch(actions.format(end="Shutdown()"))[0] == 0
    status, out, _ = launch(actions.format(end='[EmitEvent(event=events.Shutdown(reason="enough"))]'))
    assert status == 0
    assert "shutting down: enough" in out


def test_process_is_respawned_until_the_launch_ends(launch, tmp_path):
    count = f"echo x >> {tmp_path}/runs; [ $(wc -l < {tmp_path}/runs) -lt 3 ] && exit 1; exec sleep 1000"
    actions = (
        f'ExecuteProcess(cmd=["bash", "-c", {count!r}], name="again", respawn="true", respawn_delay=0.1),'
        'ExecuteProcess(cmd=["bash", "-c", "until [ $(wc -l < runs) = 3 ]; do sleep 0.1; done"],'
        f"cwd={str(tmp_path)!r}, on_exit=Shutdown())"
    )
    status, out, err = launch(actions)
    assert status == 0, err
    assert len(lines_of(out, "[again-1]: process started")) == 3
    assert len(lines_of(err, "exit code 1")) == 2


def test_fault_in_a_late_step_ends_the_launch(launch):
    actions = (
        'ExecuteProcess(cmd=["sleep", "1000"]),'
        "TimerAction(period=0.1, actions=[OpaqueFunction(function=lambda context: 1 / 0)])"
    )
    status, _, err = launch(actions)
    assert status == 1
    assert "[ERROR] [launch]: Caught exception in launch: division by zero" in err


def test_command_goes_through_prefix_and_shell(launch):
    actions = (
        'ExecuteProcess(cmd=["echo", "$WORD", "|", "tr", "a-z", "A-Z"], shell=True, output="screen"),'
        'ExecuteProcess(cmd=["printenv", "WORD"], prefix="env WORD=other", output="screen")'
    )
    out = launch('SetEnvironmentVariable("WORD", "cup"),' + actions)[1]
    assert "[echo-1] CUP" in out
    assert "[env-2] other" in out


def test_environment_variable_is_extended(launch):
    actions = (
        'SetEnvironmentVariable("PLACES", "b"), AppendEnvironmentVariable("PLACES", "c"),'
        'AppendEnvironmentVariable("PLACES", "a", prepend=True), AppendEnvironmentVariable("NEW_ONE", "d"),'
        'LogInfo(msg=[EnvironmentVariable("PLACES"), " ", EnvironmentVariable("NEW_ONE")])'
    )
    assert "[launch.user]: a:b:c d" in launch(actions)[1]


@pytest.fixture
def context(tmp_path: Path) -> LaunchContext:
    made = LaunchContext(tmp_path)
    made.launch_configurations["count"] = "2"
    made.launch_file = tmp_path / "test.launch.py"
    return made


@pytest.mark.parametrize(
    ("substitution", "text"),
    [
        (PythonExpression([LaunchConfiguration("count"), " * 3 > 5"]), "True"),
        (PythonExpression("cos(0) + math.sin(0)"), "1.0"),
        (PythonExpression("os.sep", ["os"]), "/"),
        (Command(["echo ", "'a  b' ", LaunchConfiguration("count")]), "a  b 2\n"),
        (Command("sh -c 'echo no >&2; echo yes'", on_stderr="ignore"), "yes\n"),
        (Command("sh -c 'echo no >&2'", on_stderr="capture"), "no\n"),
        (FindExecutable(name=os.path.basename(sys.executable)), sys.executable),
        (NotEqualsSubstitution(LaunchConfiguration("count"), "2.0"), "false"),
        (NotEqualsSubstitution("a", "b"), "true"),
    ],
)
def test_substitution_becomes_text(context, substitution, text):
    context.environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), context.environment["PATH"]])
    assert perform_substitutions(context, substitution) == text


def test_expression_can_be_a_condition(context, tmp_path):
    assert IfCondition(PythonExpression(["'", LaunchConfiguration("count"), "' == '2'"])).evaluate(context)
    assert perform_substitutions(context, [ThisLaunchFileDir(), "/x"]) == f"{tmp_path}/x"


@pytest.mark.parametrize("command", ["/no/such/program", "false", "sh -c 'echo no >&2'"])
def test_command_that_fails_is_an_error(context, command):
    with pytest.raises(SubstitutionFailure, match=command.split()[0]):
        Command(command).perform(context)
    with pytest.raises(SubstitutionFailure, match="'no_such_program' not found"):
        FindExecutable(name="no_such_program").perform(context)


def test_parameter_holds_for_the_nodes_of_its_group(context, tmp_path):
    program = tmp_path / "lib" / "toy" / "show"
    program.parent.mkdir(parents=True)
    program.write_text("")
    program.chmod(0o755)
    context.environment["AMENT_PREFIX_PATH"] = str(tmp_path)
    with context.scope():
        SetParameter("use_sim_time", LaunchConfiguration("count")).execute(context)
        Node(package="toy", executable="show", ros_arguments=["--log-level", "debug"]).execute(context)
    Node(package="toy", executable="show", emulate_tty=True).execute(context)
    inside, outside = (description.command[1:] for description in context.processes)
    assert inside == ("--ros-args", "--log-level", "debug", "-p", "use_sim_time:=2")
    assert outside == ("--ros-args",)
