"""Files of ROS parameters are read without ROS, and written so that they read back as they were."""

from pathlib import Path

import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.parameter_file import parameter_text, read_parameters, yaml_value
from memory_node.domain.resources import read_yaml
from memory_node.nodes.node_parameters import NODE_PARAMETERS, MemoryParameters


def read(tmp_path: Path, text: str, node: str = "memory") -> MemoryParameters:
    path = tmp_path / "parameters.yaml"
    path.write_text(text)
    return read_parameters(MemoryParameters, path, node)


@pytest.mark.parametrize("block", ["/**", "/**/memory", "memory", "/memory", "/robot1/memory", "/*/memory", "/*"])
def test_block_that_names_the_node_is_read(block: str, tmp_path: Path) -> None:
    config = read(
        tmp_path, f"{block}: {{ros__parameters: {{short_term: {{capacity: 5}}, expert.search.abstain_below: 1e-1}}}}"
    )
    assert (config.short_term.capacity, config.search.abstain_below) == (5, 0.1)


def test_namespaces_may_be_nested_and_other_nodes_are_left_alone(tmp_path: Path) -> None:
    nested = "robot1: {memory: {ros__parameters: {site: ward}}, planner: {ros__parameters: {attempts: 3}}}"
    assert read(tmp_path, nested).site == "ward"
    for other in ("/planner: {ros__parameters: {anything: 1}}", "# nothing yet"):
        assert read(tmp_path, other) == MemoryParameters()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("memory: {ros__parameters: {dettections: boxes}}", "dettections: no such parameter; did you mean detections"),
        ("memory: {ros__parameters: {publish_period_s: many}}", "publish_period_s: expected a number from 0.1 to 60"),
        ("memory: {ros__parameters: {publish_period_s: 0}}", "from 0.1 to 60, got 0"),
        (
            "memory: {ros__parameters: {scene_graph: {robot_radius_m: }}}",
            "scene_graph.robot_radius_m: expected a number",
        ),
        ("memory: {publish_period_s: 5}", "expected `NODE: ros__parameters: ...` at /memory/publish_period_s, got 5"),
        ("memory: {ros__parameters: 5}", "expected parameters with values, got 5"),
        ("just words", "expected `NODE: ros__parameters: ...` at its top"),
        ("memory: {ros__parameters: {a: [}", "is no YAML"),
    ],
)
def test_file_that_does_not_fit_is_refused_in_one_line_with_its_name(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert str(tmp_path / "parameters.yaml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match=r"none\.yaml: No such file"):
        read_parameters(MemoryParameters, tmp_path / "none.yaml", "memory")


@pytest.mark.parametrize("node", NODE_PARAMETERS)
def test_written_file_reads_back_as_the_defaults(node: str, tmp_path: Path) -> None:
    kind, path = NODE_PARAMETERS[node], tmp_path / "written.yaml"
    path.write_text(parameter_text(kind, node))
    assert read_parameters(kind, path, node) == kind()
    assert len(read_yaml(path)[f"/**/{node}"]["ros__parameters"]) > 0


@pytest.mark.parametrize(
    "value", ["", "on", "no", "home", "5", "1e3", "a b", "x: y", "ä", True, 3, 0.001, 1e-7, ["a", "b c"], [1.0, 2.5]]
)
def test_value_is_written_as_it_is_read(value: object, tmp_path: Path) -> None:
    path = tmp_path / "value.yaml"
    path.write_text(f"key: {yaml_value(value)}\n")
    assert read_yaml(path) == {"key": value}
