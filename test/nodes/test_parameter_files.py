"""What is given beside a shipped parameter file wins over the file, as rcl merges them."""

from pathlib import Path
from typing import Any

import pytest
import rclpy
import yaml
from rclpy.context import Context
from rclpy.node import Node

from memory_node.domain.resources import resource_path

FILES = [resource_path(f"config/{name}.yaml") for name in ("memory", "skills")]
BLOCKS = [(path, block) for path in FILES for block in yaml.safe_load(path.read_text())]


def other_than(value: Any) -> Any:
    if isinstance(value, list):
        return [other_than(value[0])]
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, (int, float)) else f"{value}_too"


def values_of(name: str, arguments: list[str]) -> dict[str, Any]:
    context = Context()
    rclpy.init(context=context, args=["--ros-args", *arguments])
    try:
        node = Node(name, context=context, automatically_declare_parameters_from_overrides=True)
        found = {key: parameter.value for key, parameter in node.get_parameters_by_prefix("").items()}
        node.destroy_node()
    finally:
        context.try_shutdown()
    return {key: value if isinstance(value, (bool, int, float, str)) else list(value) for key, value in found.items()}


@pytest.mark.parametrize(("path", "block"), BLOCKS, ids=[f"{path.stem}{block}" for path, block in BLOCKS])
def test_given_value_wins_over_the_file(path: Path, block: str, tmp_path: Path) -> None:
    name = block.removeprefix("/**/")
    shipped = values_of(name, ["--params-file", str(path)])
    shipped = {key: value for key, value in shipped.items() if key not in ("use_sim_time",) and "service" not in key}
    assert shipped
    given = {key: other_than(value) for key, value in shipped.items()}
    launched = tmp_path / "launched.yaml"  # as launch_ros writes a node's parameters
    launched.write_text(yaml.safe_dump({"/**": {"ros__parameters": given}}))
    rules = [word for key, value in given.items() for word in ("-p", f"{key}:={yaml.safe_dump(value)}")]
    for more in (["--params-file", str(launched)], rules):
        values = values_of(name, ["--params-file", str(path), *more])
        assert {key: values[key] for key in given} == given
