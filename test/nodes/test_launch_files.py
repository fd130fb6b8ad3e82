"""What is given to a launch file or on a command line wins over files, by the rules that rcl merges parameters with."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import launch
import pytest
import yaml
from free_domain import free_domain

from memory_node.nodes.node_parameters import NODE_PARAMETERS
from memory_node.nodes.run import END_WITH_PARENT

if "ros_embedded" not in str(launch.__file__):
    pytest.skip("reads what ros_embedded starts", allow_module_level=True)

from ros_embedded.launch.launch_description import LaunchContext
from ros_embedded.launch.launch_description_sources import PythonLaunchDescriptionSource
from ros_embedded.launch.substitutions import SubstitutionFailure
from ros_embedded.launch_runner import run_launch_file

ROOT = Path(__file__).resolve().parents[2]
# Given a launch file and arguments: each node's parameters.
Launched = Callable[..., dict[str, dict[str, Any]]]


def merged_by_rcl(files: Sequence[Path], node: str) -> dict[str, Any]:
    """The parameters of a node as rcl and rclpy find them: blocks keep the place where their name came first, and are
    gone through in that order (rcl_yaml_param_parser find_node, rclpy node.cpp
    _populate_node_parameters_from_rcl_params)."""
    blocks: dict[str, dict[str, Any]] = {}
    for file in files:
        for name, content in yaml.safe_load(file.read_text()).items():
            blocks.setdefault(name, {}).update(flattened(content["ros__parameters"]))
    values: dict[str, Any] = {}
    for name, given in blocks.items():
        pattern = f"/{name.lstrip('/')}".replace("/*", r"(/\w+)")  # "/**" becomes "(/\w+)*"
        if re.fullmatch(pattern, node):
            values.update(given)
    return values


def flattened(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= flattened(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return flat


@pytest.fixture
def launched(tmp_path_factory: pytest.TempPathFactory) -> Launched:
    """Return a function that gives each node's parameters as a launch file with arguments starts it."""

    def parameters(launch_file: str, **arguments: str) -> dict[str, dict[str, Any]]:
        context = LaunchContext(tmp_path_factory.mktemp("launch"))
        source = PythonLaunchDescriptionSource(str(ROOT / "launch" / launch_file))
        context.launch_file = source.path(context)
        description = source.get_launch_description(context)
        context.launch_configurations.update(arguments)
        description.visit(context)
        found: dict[str, dict[str, Any]] = {}
        for process in context.processes:
            words = [str(word) for word in process.command]
            if "inspect" in words:
                options = words[words.index("inspect") + 1 :]
                found["inspector"] = dict(zip(options[::2], options[1::2]))
                continue
            name = next(word for word in words if word.startswith("__node:=")).removeprefix("__node:=")
            namespace = next((word for word in words if word.startswith("__ns:=")), "").removeprefix("__ns:=")
            files = [Path(file) for word, file in pairwise(words) if word == "--params-file"]
            found[name] = merged_by_rcl(files, f"{namespace.rstrip('/')}/{name}")
            if process.respawn:
                found[name]["respawns"] = True
            if "/tf:=tf" in words and "/tf_static:=tf_static" in words:
                found[name]["has_own_tf"] = True
        return found

    return parameters


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "user.yaml"
    path.write_text(text)
    return str(path)


def test_arguments_of_the_demo_win_over_the_shipped_file(launched: Launched) -> None:
    nodes = launched("demo.launch.py", home="studio", speed="1")
    assert set(nodes) == {"memory", "planner", "home"}
    assert (nodes["home"]["home"], nodes["home"]["speed"]) == ("studio", 1.0)
    assert nodes["memory"]["use_sim_time"] is nodes["planner"]["use_sim_time"] is True
    assert nodes["home"]["seed"] == 0


@pytest.mark.parametrize("block", ["/**/home", "/home", "home", "/**"])
def test_users_file_wins_over_the_shipped_one_and_arguments_over_both(
    block: str, launched: Launched, tmp_path: Path
) -> None:
    file = written(tmp_path, f"{block}: {{ros__parameters: {{home: apartment, seed: 3}}}}")
    home = launched("demo.launch.py", params_file=file, home="studio")["home"]
    assert (home["home"], home["seed"], home["speed"]) == ("studio", 3, 4.0)


def test_argument_that_is_not_given_leaves_its_parameter_to_the_file(launched: Launched, tmp_path: Path) -> None:
    file = written(tmp_path, "/**/memory: {ros__parameters: {database: my.db, detections: labels, use_sim_time: true}}")
    memory = launched("memory.launch.py", params_file=file)["memory"]
    assert (memory["database"], memory["detections"], memory["use_sim_time"]) == ("my.db", "labels", True)
    memory = launched("memory.launch.py", params_file=file, database="123", namespace="robot1")["memory"]
    assert (memory["database"], memory["detections"]) == ("123", "labels")


def test_detector_model_starts_the_detector_whose_rectangles_memory_takes(launched: Launched) -> None:
    nodes = launched("memory.launch.py", detector_model="a.onnx", class_names="names.txt", planner="llm", skills="true")
    assert nodes["memory"]["detections"] == "rectangles"
    assert (nodes["detector"]["model"], nodes["detector"]["class_names"]) == ("a.onnx", "names.txt")
    assert nodes["planner"]["planner"] == "llm"
    assert nodes["skills"]["base.action"] == "navigate_to_pose"


def test_label_space_is_given_to_every_node_that_knows_kinds(launched: Launched) -> None:
    nodes = launched("demo.launch.py", label_space="coco")
    assert {name: given["label_space"] for name, given in nodes.items()} == dict.fromkeys(nodes, "coco")
    assert set(nodes) == {"memory", "planner", "home"}
    assert launched("memory.launch.py", skills="true", label_space="coco")["skills"]["label_space"] == "coco"


def test_dead_node_starts_again_unless_it_is_not_to(launched: Launched) -> None:
    for arguments, respawns in (({}, True), ({"respawn": "false"}, False)):
        nodes = launched("memory.launch.py", skills="true", **arguments)
        assert ["respawns" in node for node in nodes.values()] == [respawns] * 3


def test_node_with_a_wrong_parameter_stays_away(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, "/**/memory: {ros__parameters: {unheard_of: 1}}")
    words = [f"params_file:={file}", "planner:=false", "respawn_delay:=0.1", f"domain_id:={free_domain()}"]
    assert run_launch_file(ROOT / "launch" / "memory.launch.py", words) == 1  # it ends: nothing is left to run
    out, err = capfd.readouterr()
    assert out.count("unheard_of: no such parameter") == 1
    assert err.count(f"exit code {os.EX_CONFIG}") == 1


def test_transforms_are_of_the_namespace_where_that_is_asked_for(launched: Launched) -> None:
    several = launched("memory.launch.py", skills="true", namespace="robot1", namespaced_tf="true")
    assert all("has_own_tf" in node for node in several.values())
    assert not any("has_own_tf" in node for node in launched("memory.launch.py", namespace="robot1").values())


def test_image_transport_is_given_to_those_who_look(launched: Launched) -> None:
    nodes = launched("memory.launch.py", image_transport="compressed", detector_model="a.onnx")
    assert nodes["memory"]["image_transport"] == nodes["detector"]["image_transport"] == "compressed"


def test_planner_may_be_left_out(launched: Launched) -> None:
    assert set(launched("memory.launch.py", planner="false")) == {"memory"}


def test_language_model_is_given_to_the_planner(launched: Launched) -> None:
    url = "http://localhost:8000/v1"
    planner = launched("memory.launch.py", planner="llm", llm_base_url=url, llm_model="qwen3", llm_mode="plan")[
        "planner"
    ]
    assert (planner["llm.base_url"], planner["llm.model"], planner["llm.mode"]) == (url, "qwen3", "plan")
    planner = launched("memory.launch.py", planner="llm", llm_model="my.gguf")["planner"]
    assert (planner["llm.model_path"], planner["llm.base_url"], planner["llm.mode"]) == ("my.gguf", "", "agent")


def test_missing_file_is_refused(launched: Launched) -> None:
    with pytest.raises(SubstitutionFailure, match=r"there is no parameter file /none\.yaml"):
        launched("memory.launch.py", params_file="/none.yaml")


@pytest.mark.parametrize("node", NODE_PARAMETERS)
def test_shipped_file_leaves_the_block_of_command_lines_free(node: str) -> None:
    # `-p` is put into the block `/**`: one that a file began with would lose against the file's later blocks.
    assert set(yaml.safe_load((ROOT / "config" / f"{node}.yaml").read_text())) == {f"/**/{node}"}


def test_body_comes_with_memory_planner_and_the_bridge_that_is_fitted_to_it(launched: Launched) -> None:
    nodes = launched("physics.launch.py", seed="3")
    assert set(nodes) == {"memory", "planner", "skills", "body"}
    assert (nodes["body"]["seed"], nodes["body"]["speed"]) == (3, 1.0)
    assert nodes["skills"]["arm.link"] == "tool_link"
    assert nodes["skills"]["gripper.open_position"] == 0.1
    assert all(nodes[name]["use_sim_time"] is True for name in ("memory", "planner", "skills"))


def test_foxglove_bridge_is_started_on_this_machine_alone(
    launched: Launched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert "foxglove_bridge" not in launched("memory.launch.py")
    with pytest.raises(SubstitutionFailure, match=r"sudo apt install ros-\$ROS_DISTRO-foxglove-bridge"):
        launched("memory.launch.py", foxglove="true")
    (tmp_path / "share/foxglove_bridge").mkdir(parents=True)
    (tmp_path / "share/foxglove_bridge/package.xml").write_text("<package/>")
    program = tmp_path / "lib/foxglove_bridge/foxglove_bridge"
    program.parent.mkdir(parents=True)
    program.touch(0o755)
    listed = tmp_path / "share/ament_index/resource_index/packages/foxglove_bridge"
    listed.parent.mkdir(parents=True)
    listed.touch()
    bridge = launched("demo.launch.py", foxglove="true", foxglove_port="9001")["foxglove_bridge"]
    assert bridge == {"address": "127.0.0.1", "port": 9001, "use_sim_time": True}


def test_inspector_is_started_for_the_node_of_the_namespace(launched: Launched) -> None:
    nodes = launched("memory.launch.py", inspector="true", namespace="robot1", label_space="coco")
    assert nodes["inspector"] == {"--node": "robot1/memory", "--port": "8780", "--label-space": "coco"}
    assert "inspector" not in launched("memory.launch.py")
    assert launched("demo.launch.py", inspector="true", inspector_port="9000")["inspector"]["--port"] == "9000"


@pytest.mark.parametrize("launch_file", ["memory.launch.py", "demo.launch.py", "physics.launch.py"])
def test_every_node_is_told_to_end_with_a_launch_that_is_killed(
    launch_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(END_WITH_PARENT, raising=False)
    context = LaunchContext(tmp_path)
    source = PythonLaunchDescriptionSource(str(ROOT / "launch" / launch_file))
    context.launch_file = source.path(context)
    source.get_launch_description(context).visit(context)
    assert context.processes
    assert {process.environment.get(END_WITH_PARENT) for process in context.processes} == {"1"}
