"""Launch files written for `launch` and `launch_ros` run without ROS; what a launch does while it runs."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import ros_embedded.import_hook as hook
from ros_embedded.launch.actions import DeclareLaunchArgument, LaunchArgumentError
from ros_embedded.launch.launch_description import LaunchContext
from ros_embedded.launch.substitutions import (
    LaunchConfiguration,
    PathJoinSubstitution,
    SubstitutionFailure,
    perform_substitutions,
)
from ros_embedded.launch_ros.parameter_descriptions import ParameterValue, evaluate_parameters
from ros_embedded.launch_runner import run_launch_file, show_arguments

# a node that writes down how it was started
EXECUTABLE = f"""#!{sys.executable}
import json, os, sys
print(json.dumps([sys.argv[1:], os.environ.get("COLOUR", "")]))
for index, word in enumerate(sys.argv):
    if word == "--params-file":
        print("FILE", open(sys.argv[index + 1]).read().replace(chr(10), "|"))
"""
OUTER = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, SetEnvironmentVariable
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    inner = PathJoinSubstitution([FindPackageShare("toy"), "launch", "inner.launch.py"])
    return LaunchDescription([
        DeclareLaunchArgument("speed", default_value="1.5", description="how fast"),
        DeclareLaunchArgument("mode", description="which way", choices=["left", "right"]),
        SetEnvironmentVariable("COLOUR", "red"),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(inner), launch_arguments={"who": LaunchConfiguration("mode")}.items()
        ),
        Node(package="toy", executable="show", name="plain", output="screen"),
    ])
"""
INNER = """
from launch import LaunchDescription
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description():
    return LaunchDescription([
        Node(
            package="toy", executable="show", name=LaunchConfiguration("who"), namespace="room", output="screen",
            parameters=[{"speed": LaunchConfiguration("speed"), "names": ["a", "b"]}],
            remappings=[("in", "out")], arguments=["--loud"],
        )
    ])
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package installed as colcon would; returns its launch folder."""
    hook.install()
    program = tmp_path / "lib" / "toy" / "show"
    launch = tmp_path / "share" / "toy" / "launch"
    for folder in (program.parent, launch):
        folder.mkdir(parents=True)
    program.write_text(EXECUTABLE)
    program.chmod(0o755)
    (launch / "outer.launch.py").write_text(OUTER)
    (launch / "inner.launch.py").write_text(INNER)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    return launch


def test_nodes_get_names_parameters_and_environment(toy, capfd):
    assert run_launch_file(toy / "outer.launch.py", ["mode:=left", "speed:=3"]) == 0
    lines = capfd.readouterr().out.splitlines()
    inner = next(line for line in lines if line.startswith("[show-1] [["))
    assert '"--loud", "--ros-args", "-r", "__node:=left", "-r", "__ns:=/room", "--params-file"' in inner
    assert '"-r", "in:=out"' in inner
    assert inner.endswith('"red"]')
    written = next(line for line in lines if "FILE" in line).partition("FILE ")[2].replace("|", "\n")
    assert yaml.safe_load(written) == {"/room/left": {"ros__parameters": {"speed": 3, "names": ["a", "b"]}}}
    plain = [line for line in lines if line.startswith("[show-2] [[")]
    assert plain == ['[show-2] [["--ros-args", "-r", "__node:=plain"], "red"]']
    assert any("[show-2]: process has finished cleanly" in line for line in lines)


def test_arguments_are_shown_and_checked(toy):
    text = show_arguments(toy / "outer.launch.py")
    assert "    'speed':\n        how fast\n        (default: '1.5')" in text
    assert "(valid choices are: ['left', 'right'])" in text
    with pytest.raises(LaunchArgumentError, match=r"'mode' .*was not provided"):
        run_launch_file(toy / "outer.launch.py", [])
    with pytest.raises(LaunchArgumentError, match="valid options"):
        run_launch_file(toy / "outer.launch.py", ["mode:=up"])
    with pytest.raises(LaunchArgumentError, match="malformed launch argument 'wrong'"):
        run_launch_file(toy / "outer.launch.py", ["wrong"])


def write_launch_file(folder: Path, actions: str, before: str = "") -> Path:
    """Write a launch file of some actions, with more lines before its description."""
    path = folder / "test.launch.py"
    path.write_text(
        "import sys\nfrom launch import LaunchDescription\nfrom launch.actions import *\n"
        f"from launch.substitutions import *\n{textwrap.dedent(before)}\n"
        f"def generate_launch_description():\n    return LaunchDescription([{actions}])\n"
    )
    return path


def test_interrupt_stops_all_processes(tmp_path):
    child = "import time, os; print('child', os.getpid(), flush=True); time.sleep(60)"
    body = f"ExecuteProcess(cmd=[sys.executable, '-c', {child!r}], output='screen')"
    path = write_launch_file(tmp_path, body)
    code = (
        "import sys; from ros_embedded import import_hook; import_hook.install();"
        f"from ros_embedded.launch_runner import run_launch_file; sys.exit(run_launch_file({str(path)!r}))"
    )
    launch = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    line = next(line for line in launch.stdout if "child" in line)
    launch.send_signal(signal.SIGTERM)
    assert launch.wait(timeout=20) == 0
    launch.stdout.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(line.split()[-1]), 0)


@pytest.fixture
def context(tmp_path: Path) -> LaunchContext:
    made = LaunchContext(tmp_path)
    made.launch_configurations["name"] = "cup"
    return made


@pytest.mark.parametrize(
    ("substitution", "text"),
    [
        (LaunchConfiguration("name"), "cup"),
        (LaunchConfiguration("none", default="d"), "d"),
        (["a-", LaunchConfiguration("name")], "a-cup"),
        (PathJoinSubstitution(["/a", LaunchConfiguration("name"), "b.yaml"]), "/a/cup/b.yaml"),
    ],
)
def test_substitution_becomes_text(context, substitution, text):
    assert perform_substitutions(context, substitution) == text


def test_substitution_without_value_is_an_error(context):
    with pytest.raises(SubstitutionFailure, match="'none' does not exist"):
        LaunchConfiguration("none").perform(context)


def test_given_argument_wins_over_default(context):
    DeclareLaunchArgument("name", default_value="plate").execute(context)
    assert context.launch_configurations["name"] == "cup"


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("true", "true"),
        (LaunchConfiguration("none", default="true"), True),
        (LaunchConfiguration("name"), "cup"),
        ("2.5", "2.5"),
        (LaunchConfiguration("none", default="2.5"), 2.5),
        (LaunchConfiguration("none", default=""), ""),
        ("", ""),
        (["1", "2"], ["1", "2"]),
        ([1, 2.5], [1.0, 2.5]),
        (LaunchConfiguration("none", default="[1, 2]"), [1, 2]),
        (["cup-", LaunchConfiguration("name")], "cup-cup"),
        (ParameterValue("2.5", value_type=str), "2.5"),
        (ParameterValue(LaunchConfiguration("none", default="[1, 2]"), value_type=list[float]), [1.0, 2.0]),
        (3, 3),
    ],
)
def test_text_of_substitutions_is_read_as_yaml(context, given, value):
    assert evaluate_parameters(context, {"a": {"b": given}}) == {"a.b": value}


@pytest.mark.parametrize("given", [None, [], [1, "a"], [True, 1], LaunchConfiguration("none", default="{a: 1}")])
def test_what_no_parameter_can_be_is_refused(context, given):
    with pytest.raises(SubstitutionFailure, match=r"'a\.b'"):
        evaluate_parameters(context, {"a": {"b": given}})


@pytest.mark.parametrize(
    ("options", "name", "block"),
    [
        ({"name": "n"}, "__node:=n", "/**"),
        ({"name": "n", "namespace": ""}, "__node:=n -r __ns:=/", "/n"),
        ({"namespace": "a"}, "__ns:=/a", "/**"),
        ({"name": "n", "namespace": "/b/c"}, "__node:=n -r __ns:=/b/c", "/b/c/n"),
    ],
)
def test_values_are_written_for_the_full_name_where_it_is_known(toy, launch, options, name, block):
    node = f"Node(package='toy', executable='show', output='screen', parameters=[{{'x': {{'y': 1}}}}], **{options})"
    status, out, _ = launch(node, before="from launch_ros.actions import *")
    assert status == 0
    assert f'"-r", "{name}", "--params-file"'.replace(" -r ", '", "-r", "') in out
    assert yaml.safe_load(out.partition("FILE ")[2].splitlines()[0].replace("|", "\n")) == {
        block: {"ros__parameters": {"x.y": 1}}
    }


@pytest.fixture
def launch(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a description, given as the actions of a launch file; returns its status, output and errors."""
    hook.install()

    def run(actions: str, *arguments: str, before: str = "") -> tuple[int, str, str]:
        status = run_launch_file(write_launch_file(tmp_path, actions, before), arguments)
        return status, *capfd.readouterr()

    return run


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ("ExecuteProcess(cmd=[sys.executable, '-c', 'import sys; sys.exit(3)'])", ["exit code 3"]),
        ("ExecuteProcess(cmd=['/no/such/program'])", ["cannot be started"]),
        (
            "ExecuteProcess(cmd=[sys.executable, '-c', 'import time; time.sleep(60)'], name='long'),"
            "ExecuteProcess(cmd=['/no/such/program'])",
            ["[INFO] [long-1]: sending signal 'SIGINT' to process[long-1]", "[ERROR] [long-1]: process has died"],
        ),
    ],
    ids=["dies", "is not there", "is not there, beside another"],
)
def test_process_that_fails_fails_the_launch_and_stops_the_others(launch, actions, said):
    status, *shown = launch(actions)
    assert status == 1
    assert [words for words in said if words not in "".join(shown)] == []


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
    words = 'cmd=["echo", LaunchConfiguration("word", default="plate")]'
    status, out, _ = launch(f'ExecuteProcess({words}, output="screen")', "word:=cup")
    assert status == 0
    assert "[WARNING] [launch]: the launch file declares no argument 'word'" in out
    assert "[echo-1] cup" in out


def test_function_at_the_end_of_a_process_keeps_it_away(launch, tmp_path):
    before = """
    from launch.events import matches_action
    from launch.events.process import ShutdownProcess

    def leave(event, context):
        if event.returncode == 78:
            return [EmitEvent(event=ShutdownProcess(process_matcher=matches_action(event.action)))]
    """
    count = f"echo x >> {tmp_path}/runs; [ $(wc -l < {tmp_path}/runs) -lt 3 ] && exit 1; exit 78"
    words = f"cmd=['bash', '-c', {count!r}], on_exit=leave, respawn=True"
    status, _, err = launch(f"ExecuteProcess({words}), ExecuteProcess(cmd=['true'], on_exit=leave)", before=before)
    assert status == 1
    assert (len(lines_of(err, "exit code 1,")), len(lines_of(err, "exit code 78,"))) == (2, 1)


def test_process_is_respawned_until_the_launch_ends(tmp_path):
    count = (
        f"echo x >> {tmp_path}/runs; [ $(wc -l < {tmp_path}/runs) -lt 3 ] && exit 1; kill -INT $PPID; exec sleep 1000"
    )
    again = f"ExecuteProcess(cmd=['bash', '-c', {count!r}], name='again', respawn=True, respawn_delay=0.1)"
    path = write_launch_file(tmp_path, again)
    command = [sys.executable, "-m", "ros_embedded", "launch", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(lines_of(done.stdout, "[again-1]: process started")) == 3
    assert len(lines_of(done.stderr, "exit code 1,")) == 2
