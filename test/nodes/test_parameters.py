"""Every key of every parameter file reaches its node; what is no parameter, or does not fit, is refused by name."""

from __future__ import annotations

import importlib
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import rclpy
import yaml
from rcl_interfaces.msg import LoggerLevel, SetParametersResult
from rcl_interfaces.srv import SetLoggerLevels, SetParameters
from rclpy.context import Context
from rclpy.logging import LoggingSeverity
from rclpy.node import Node
from rclpy.parameter import Parameter
from refusal import line_of
from ros_peer import RosPeer
from running_memory import running_memory

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.parameter_file import parameter_page, parameter_text
from memory_node.domain.parameters import ParameterField, flattened, parameter_fields
from memory_node.domain.parameters import Parameters as Config
from memory_node.memory_config import MemoryConfig
from memory_node.nodes.node_parameters import NODE_PARAMETERS
from memory_node.nodes.parameters import declare
from memory_node.nodes.run import NODES

ROOT = Path(__file__).resolve().parents[2]
FIELDS = {(node, field.name): field for node, kind in NODE_PARAMETERS.items() for field in parameter_fields(kind)}


def shipped(node: str) -> dict[str, Any]:
    """The keys of a shipped file with their values, as plain YAML."""
    content = yaml.safe_load((ROOT / "config" / f"{node}.yaml").read_text())
    return flattened(content[f"/**/{node}"]["ros__parameters"])


@pytest.fixture(scope="module")
def context(domain_id: int) -> Iterator[Context]:
    made = Context()
    rclpy.init(context=made, domain_id=domain_id)
    yield made
    rclpy.shutdown(context=made)


@pytest.fixture
def make_node(context: Context) -> Iterator[Callable[..., Node]]:
    nodes: list[Node] = []

    def make(name: str, *words: str) -> Node:
        made = Node(
            name,
            context=context,
            cli_args=["--ros-args", *words],
            start_parameter_services=False,
            automatically_declare_parameters_from_overrides=True,
        )
        nodes.append(made)
        return made

    yield make
    for node in nodes:
        node.destroy_node()


def other_value(field: ParameterField) -> Any:
    """A value that the parameter takes and that is not its default."""
    if field.is_list:
        return field.default[:1] if field.length is None else [0.5 * item for item in field.default]
    if field.choices:
        return next(choice for choice in field.choices if choice != field.default)
    if field.kind is bool:
        return not field.default
    if field.name == "time_zone":
        return "Europe/Berlin"
    if field.kind is str:
        return "joint=0.5" if field.name == "arm.carry" else f"{field.default}x"
    assert field.low is not None
    assert field.high is not None
    if field.kind is int:
        return int(field.default) + (1 if field.default < field.high else -1)
    # close to the default: some parameters must stay below or above another one
    nearer = field.default * 1.01 if field.default else 0.01 * field.high
    return nearer if nearer <= field.high else field.default * 0.99


@pytest.mark.parametrize("node_name", NODE_PARAMETERS)
def test_shipped_file_as_it_is_gives_the_defaults(node_name: str, make_node: Callable[..., Node]) -> None:
    node = make_node(node_name, "--params-file", str(ROOT / "config" / f"{node_name}.yaml"))
    assert declare(node, NODE_PARAMETERS[node_name]) == NODE_PARAMETERS[node_name]()


@pytest.mark.parametrize("node_name", NODE_PARAMETERS)
def test_each_parameter_of_a_file_reaches_its_node(
    node_name: str, make_node: Callable[..., Node], tmp_path: Path
) -> None:
    kind = NODE_PARAMETERS[node_name]
    fields = {field.name: field for field in parameter_fields(kind)}
    assert set(shipped(node_name)) <= set(fields)
    given = {name: other_value(field) for name, field in fields.items()}
    path = tmp_path / "changed.yaml"
    path.write_text(yaml.safe_dump({f"/**/{node_name}": {"ros__parameters": given}}))
    node = make_node(node_name, "--params-file", str(path))
    config = declare(node, kind)
    for name, field in fields.items():
        told = node.get_parameter(name).value
        for seen in (field.value_in(config), list(told) if field.is_list else told):
            assert seen == (pytest.approx(given[name]) if isinstance(given[name], float) else given[name]), name
            assert seen != field.default, name
        assert field.value_in(type(config).of({name: given[name]})) == field.value_in(config), name
    assert kind.of({name: field.default for name, field in fields.items()}) == kind()


@pytest.mark.parametrize("node", NODE_PARAMETERS)
def test_shipped_file_is_what_the_command_writes(node: str) -> None:
    file = f"config/{node}.yaml"
    written = parameter_text(NODE_PARAMETERS[node], node)
    assert (ROOT / file).read_text() == written, f"write it anew: memory-node parameters {node} > {file}"


def test_page_of_parameters_is_what_the_command_writes() -> None:
    page = (ROOT / "docs" / "parameters.md").read_text()
    _, _, tables = page.partition("<!-- memory-node parameters --markdown -->\n")
    assert tables == parameter_page(NODE_PARAMETERS), "write it anew: memory-node parameters --markdown"


def test_page_of_experiments_names_what_is_there() -> None:
    page = (ROOT / "docs" / "parameters_expert.md").read_text()
    cells = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    named = {name for cell in cells for name in re.findall(r"`(.*?)`", cell)}
    known = parameter_page(NODE_PARAMETERS, expert=True)
    assert len(named) > 10
    assert {name for name in named if f"`expert.{name}`" not in known} == set()


def test_users_page_stays_short() -> None:
    rows = [line for line in parameter_page(NODE_PARAMETERS).splitlines() if line.startswith("| `")]
    assert len(rows) <= 120, "what only experiments set is Expert, what nobody sets is a ClassVar"


def test_every_node_has_parameters_and_every_parameter_a_meaning_and_a_range() -> None:
    assert set(NODE_PARAMETERS) == set(NODES)
    for (node, name), field in FIELDS.items():
        assert len(field.description) > 5, (node, name)
        if field.kind in (int, float):
            assert field.low is not None, (node, name)
            assert field.high is not None, (node, name)
            defaults = field.default if field.is_list else [field.default]
            assert all(field.low <= value <= field.high for value in defaults), (node, name)
            assert math.isfinite(field.low), (node, name)
            assert math.isfinite(field.high), (node, name)


def test_every_parameter_is_read_somewhere() -> None:
    read = {word for path in (ROOT / "memory_node").rglob("*.py") for word in re.findall(r"\.(\w+)", path.read_text())}
    # the keys of `actions` are skills, which forwarding.py goes through by name
    names = {name for _, name in FIELDS if not name.startswith("actions.")}
    assert {name for name in names if name.rpartition(".")[2] not in read} == set()


def test_ros_is_told_type_range_and_meaning(make_node: Callable[..., Node]) -> None:
    node = make_node("memory")
    declare(node, NODE_PARAMETERS["memory"])
    capacity, near, policy = node.describe_parameters(
        ["short_term.capacity", "expert.scene_graph.near_m", "short_term.policy"]
    )
    assert [(one.from_value, one.to_value) for one in capacity.integer_range] == [(1, 10_000_000)]
    assert [(one.from_value, one.to_value) for one in near.floating_point_range] == [(0.01, 10.0)]
    assert policy.additional_constraints.startswith("one of lru, ")
    assert capacity.description.endswith("; read when the node starts")
    assert near.description.endswith("centre to centre")


def set_parameter(node: Node, name: str, value: Any) -> SetParametersResult:
    return node.set_parameters([Parameter(name, value=value)])[0]


@pytest.mark.parametrize("node_name", NODE_PARAMETERS)
def test_live_parameter_follows_while_the_node_runs_and_others_need_a_restart(
    node_name: str, make_node: Callable[..., Node]
) -> None:
    node, kind = make_node(node_name), NODE_PARAMETERS[node_name]
    config = declare(node, kind)
    fields = [field for field in parameter_fields(kind) if not field.taken_from]
    assert any(field.live for field in fields) or node_name == "body"
    for field in fields:
        value, before = other_value(field), field.value_in(config)
        result = set_parameter(node, field.name, value)
        assert result.successful == field.live, field.name
        assert field.value_in(config) == (value if field.live else before), field.name
        assert field.live or f"{field.name}: read when the node starts" in result.reason


def test_live_parameter_takes_no_value_out_of_its_range(make_node: Callable[..., Node]) -> None:
    node = make_node("detector")
    config = declare(node, NODE_PARAMETERS["detector"])
    assert not set_parameter(node, "min_score", 1.5).successful
    assert (config.values()["min_score"], node.get_parameter("min_score").value) == (0.3, 0.3)


def test_parts_of_a_running_memory_see_what_was_set(
    configurations: list[Config], peer: RosPeer, tmp_path: Path
) -> None:
    changed = {"expert.experience.top_k": 4, "expert.knowledge.hops": 3, "expert.perception.min_pixels": 77}
    with running_memory(peer.domain_id, str(tmp_path / "memory.db")) as node:
        for name, value in changed.items():
            message = Parameter(name, value=value).to_parameter_msg()
            assert peer.call(SetParameters, "memory/set_parameters", parameters=[message]).results[0].successful
            _, section, last = name.split(".")
            given = [one for one in configurations if type(one) is type(getattr(node.config, section))]
            assert [getattr(one, last) for one in given] == [value] * len(given) != [], name


def test_whole_number_is_taken_for_a_number(make_node: Callable[..., Node]) -> None:
    node = make_node("home", "-p", "speed:=8")
    assert declare(node, NODE_PARAMETERS["home"]).values()["speed"] == 8.0
    assert node.get_parameter("speed").value == 8.0


def test_command_line_wins_over_the_shipped_file(make_node: Callable[..., Node]) -> None:
    shipped_file = str(ROOT / "config" / "home.yaml")
    node = make_node("home", "--params-file", shipped_file, "-p", "home:=studio", "-p", "expert.noise.min_pixels:=7")
    values = declare(node, NODE_PARAMETERS["home"]).values()
    assert (values["home"], values["expert.noise.min_pixels"], values["speed"]) == ("studio", 7, 4.0)


def test_parameter_of_another_node_is_left_aside_and_ros_has_its_own(make_node: Callable[..., Node]) -> None:
    node = make_node("planner", "-p", "detections:=segment", "-p", "use_sim_time:=true")
    assert declare(node, NODE_PARAMETERS["planner"]) == NODE_PARAMETERS["planner"]()
    assert not node.has_parameter("detections")
    assert node.get_parameter("use_sim_time").value is True


@pytest.mark.parametrize(
    ("node", "given", "said"),
    [
        ("memory", "dettections:=segment", "dettections: no such parameter; did you mean detections?"),
        (
            "planner",
            "settings.llm.basse_url:=x",
            "settings.llm.basse_url: no such parameter; did you mean llm.base_url?",
        ),
        ("memory", "short_term_capacity:=64", "did you mean short_term.capacity?"),
        ("memory", "area_spacing_m:=1.0", "did you mean expert.scene_graph.area_spacing_m?"),
        ("memory", "expert.queue_size:=many", "expert.queue_size: expected a whole number from 1 to 10000, got 'many'"),
        ("home", "speed:=1000.0", "speed: expected a number from 0.1 to 100, got 1000.0"),
        ("skills", "stand_off.reach_m:=[0.5, 0.4, 0.9]", "reach_m: expected 0 <= least <= best <= most"),
        ("planner", "planner:=oracle", "planner: expected one of offline, llm, got 'oracle'"),
    ],
)
def test_what_is_no_parameter_or_does_not_fit_is_refused(
    node: str, given: str, said: str, make_node: Callable[..., Node]
) -> None:
    with pytest.raises(InvalidValueError) as caught:
        declare(make_node(node, "-p", given), NODE_PARAMETERS[node])
    assert said in str(caught.value)


@pytest.fixture
def configurations(monkeypatch: pytest.MonkeyPatch) -> list[Config]:
    """What the parts of a memory are given when it is built."""
    given: list[Config] = []

    def record(module: str, name: str) -> None:
        made = getattr(importlib.import_module(module), name)

        def recording(*args: Any, **kwargs: Any) -> Any:
            given.extend(value for value in (*args, *kwargs.values()) if isinstance(value, Config))
            return made(*args, **kwargs)

        monkeypatch.setattr(f"{module}.{name}", recording)

    for name in ("build_embedder", "open_store", "ObjectCache", "Experience", "Ranker", "KnowledgeGraph"):
        record("memory_node.opening", name)
    for name in ("open_memory", "PerceptionPipeline", "FollowedSegments"):
        record("memory_node.nodes.memory", name)
    return given


def test_node_hands_each_section_to_the_part_that_it_is_for(
    configurations: list[Config], peer: RosPeer, tmp_path: Path
) -> None:
    changed: dict[str, Any] = {
        "detections": "segment", "expert.scene_graph.near_m": 0.7, "short_term.capacity": 5,
        "expert.search.abstain_below": 0.2,
        "expert.experience.window": 7, "expert.store.max_batch": 9, "expert.perception.min_pixels": 61,
        "expert.segmentation.min_object_pixels": 99,
    }  # fmt: skip
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), **changed) as node:
        assert {name: node.config.values()[name] for name in changed} == changed
        sections = ("short_term", "search", "experience", "store", "perception", "segmentation")
        for section in sections:
            wanted = getattr(node.config, section)
            same = [one for one in configurations if type(one) is type(wanted)]
            assert same, section
            for one in same:
                # beside the database, where the node keeps pictures
                assert one == (wanted if section != "short_term" else wanted.changed(crop_folder=one.crop_folder))
        (config,) = [one for one in configurations if isinstance(one, MemoryConfig)]
        assert config.scene_graph.near_m == 0.7


def test_logging_changes_while_a_node_runs(peer: RosPeer, tmp_path: Path) -> None:
    with running_memory(peer.domain_id, str(tmp_path / "memory.db")) as node:
        assert node.get_logger().get_effective_level() == LoggingSeverity.INFO
        level = LoggerLevel(name=node.get_logger().name, level=int(LoggingSeverity.DEBUG))
        response = peer.call(SetLoggerLevels, "memory/set_logger_levels", levels=[level])
        assert [one.successful for one in response.results] == [True]
        assert node.get_logger().get_effective_level() == LoggingSeverity.DEBUG
        level.level = int(LoggingSeverity.INFO)
        peer.call(SetLoggerLevels, "memory/set_logger_levels", levels=[level])


def test_executable_ends_with_one_line_and_the_status_of_a_wrong_configuration() -> None:
    command = [sys.executable, "-m", "memory_node.nodes.run", "home", "--ros-args", "-p", "unheard_of:=1"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == os.EX_CONFIG
    assert line_of(ended.stderr).startswith("home cannot start: parameters: unheard_of: no such parameter")


@pytest.mark.parametrize("node", NODES)
def test_node_refuses_an_unknown_parameter_in_one_line(node: str, refused: Callable[..., str]) -> None:
    if node == "body" and find_spec("mujoco") is None:
        pytest.skip("the extra `physics` is not installed")
    line = line_of(refused(node, "-p", "unheard_of:=1"))
    assert line.startswith(f"{node} cannot start: parameters: unheard_of: no such parameter")


@pytest.mark.parametrize(
    ("content", "said"), [(None, "No such file"), ("home: {speed: 2.0}", "ros__parameters"), ("a: [", "is no YAML")]
)
def test_node_refuses_a_missing_or_broken_file_in_one_line(
    content: str | None, said: str, tmp_path: Path, refused: Callable[..., str]
) -> None:
    path = tmp_path / "parameters.yaml"
    if content is not None:
        path.write_text(content)
    line = line_of(refused("home", "--params-file", str(path)))
    assert line.startswith(f"home cannot start: {path}")
    assert said in line


def test_node_refuses_wrong_ros_arguments_in_one_line(refused: Callable[..., str]) -> None:
    assert "cannot start" in line_of(refused("home", "-p", "speed"))
