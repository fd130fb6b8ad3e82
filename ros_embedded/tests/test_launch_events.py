"""What a launch does while it runs: respawning, functions of the launch file."""

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import ros_embedded.import_hook as hook
from ros_embedded.launch_runner import run_launch_file


@pytest.fixture
def launch(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a description, given as the actions of a launch file; returns its status, output and errors."""
    hook.install()

    def run(actions: str, *arguments: str, before: str = "") -> tuple[int, str, str]:
        path = tmp_path / "test.launch.py"
        path.write_text(
            "import sys\nfrom launch import LaunchDescription\nfrom launch.actions import *\n"
            "from launch.substitutions import *\n"
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
    path = tmp_path / "test.launch.py"
    path.write_text(
        "from launch import LaunchDescription\nfrom launch.actions import ExecuteProcess\n"
        "def generate_launch_description():\n"
        f"    command = ['bash', '-c', {count!r}]\n"
        "    again = ExecuteProcess(cmd=command, name='again', respawn=True, respawn_delay=0.1)\n"
        "    return LaunchDescription([again])\n"
    )
    command = [sys.executable, "-m", "ros_embedded", "launch", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(lines_of(done.stdout, "[again-1]: process started")) == 3
    assert len(lines_of(done.stderr, "exit code 1,")) == 2
