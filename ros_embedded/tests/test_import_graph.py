"""The modules of ros_embedded import each other in one direction.

Imports within functions and below TYPE_CHECKING count. That Python imports a package's __init__ before its modules does
not count.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"
if not SOURCE.is_dir():
    pytest.skip("needs the sources", allow_module_level=True)

PATHS = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (SOURCE / "ros_embedded").rglob("*.py")
}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            assert node.module
            members = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (member if member in PATHS else node.module for member in members)


GRAPH = {name: set(imported(path)) & PATHS.keys() - {name} for name, path in PATHS.items()}


def reachable(start: str) -> set[str]:
    found, ahead = set(), [start]
    while ahead:
        new = GRAPH[ahead.pop()] - found
        found |= new
        ahead += new
    return found


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert len(GRAPH) > 100
    try:
        TopologicalSorter(GRAPH).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


@pytest.mark.parametrize("entity", ["publisher", "subscription", "service", "client", "timer", "guard_condition"])
def test_entities_know_neither_nodes_nor_executors(entity: str) -> None:
    assert not {"ros_embedded.rclpy.node", "ros_embedded.rclpy.executors"} & reachable(f"ros_embedded.rclpy.{entity}")


def test_executors_know_entities_but_not_nodes() -> None:
    known = reachable("ros_embedded.rclpy.executors")
    assert "ros_embedded.rclpy.impl.entity" in known
    assert "ros_embedded.rclpy.node" not in known
