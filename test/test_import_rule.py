"""The import rule of the architecture: each layer imports only from those to its left."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAYERS = (
    {"domain"},
    {"catalogue", "llm"},
    {"world"},
    {"perception", "scene_graph", "short_term", "experience", "knowledge", "search", "store"},
    {"context"},
    {"intake", "questions", "memory_config"},
    {"upkeep"},
    {"memory"},
    {"opening"},
    {"planner", "sim", "view"},
    {"nodes", "inspector", "app", "cli"},
)
NEIGHBOURS_MAY_MEET = ({"nodes", "inspector", "app", "cli"},)
RANK = {package: rank for rank, packages in enumerate(LAYERS) for package in packages}
ROS_PACKAGES = {"rclpy", "tf2_ros", "message_filters", "robot_memory", "builtin_interfaces", "launch", "launch_ros"}
MODULES = sorted((ROOT / "memory_node").rglob("*.py"))


def imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            if node.module == "memory_node":
                yield from (f"memory_node.{alias.name}" for alias in node.names)


def part_of(path: Path) -> str:
    relative = path.relative_to(ROOT / "memory_node")
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def breaks_the_rule(importer: str, imported: str) -> bool:
    if importer == imported or importer not in RANK or imported not in RANK:
        return False
    same_layer_allowed = any(importer in layer for layer in NEIGHBOURS_MAY_MEET)
    return RANK[imported] > RANK[importer] or (RANK[imported] == RANK[importer] and not same_layer_allowed)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_layer_imports_only_from_those_to_its_left(path: Path) -> None:
    importer = part_of(path)
    for module in imported_modules(path):
        parts = module.split(".")
        if parts[0] == "memory_node" and len(parts) > 1:
            assert not breaks_the_rule(importer, parts[1]), f"{importer} must not import {module}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_nodes_and_app_know_ros_and_nothing_knows_torch(path: Path) -> None:
    importer = part_of(path)
    for module in imported_modules(path):
        top = module.split(".")[0]
        is_ros = top in ROS_PACKAGES or top.endswith("_msgs")
        assert not (is_ros and importer not in ("nodes", "app")), f"{importer} must not import {module}"
        assert top not in ("torch", "benchmarks", "training"), f"{importer} must not import {module}"


def test_ros_embedded_knows_nothing_of_robot_memory() -> None:
    ours = {"memory_node", "robot_memory", "benchmarks", "training"}
    paths = [path for folder in ("src", "tests") for path in (ROOT / "ros_embedded" / folder).rglob("*.py")]
    assert len(paths) > 100
    for path in paths:
        assert not ours & {module.split(".")[0] for module in imported_modules(path)}, path


def reached_from(path: Path) -> set[Path]:
    """Return the modules of the package that a module imports, and those that they import, and so on."""
    reached, waiting = set(), [path]
    while waiting:
        module = waiting.pop()
        reached.add(module)
        for name in imported_modules(module):
            for found in (ROOT / f"{name.replace('.', '/')}.py", ROOT / name.replace(".", "/") / "__init__.py"):
                if name.startswith("memory_node") and found.is_file() and found not in reached:
                    waiting.append(found)
    return reached


def test_bridge_to_a_real_robot_needs_no_simulator() -> None:
    reached = reached_from(ROOT / "memory_node/nodes/skills.py")
    assert ROOT / "memory_node/nodes/skill_bridge/performer.py" in reached
    assert ROOT / "memory_node/catalogue/object_catalogue.py" in reached
    assert [path for path in reached if part_of(path) == "sim"] == []


def test_parameters_of_a_memory_need_none_of_its_machinery() -> None:
    reached = reached_from(ROOT / "memory_node/memory_config.py")
    assert ROOT / "memory_node/store/config.py" in reached
    assert not {ROOT / f"memory_node/{name}.py" for name in ("opening", "store/store", "scene_graph/graph")} & reached


@pytest.mark.parametrize("node", ["home", "skills", "detector"])
def test_only_memory_and_planner_need_a_database(node: str) -> None:
    reached = reached_from(ROOT / f"memory_node/nodes/{node}.py")
    assert ROOT / "memory_node/nodes/node_parameters.py" in reached or node == "skills"
    assert not {ROOT / "memory_node/opening.py", ROOT / "memory_node/store/store.py"} & reached


def test_every_part_has_its_layer() -> None:
    assert {part_of(path) for path in MODULES} - {"__init__"} <= set(RANK)


def test_the_rule_refuses_an_import_to_the_right() -> None:
    assert breaks_the_rule("scene_graph", "planner")
    assert breaks_the_rule("short_term", "search")
    assert breaks_the_rule("questions", "intake")
    assert breaks_the_rule("intake", "memory")
    assert not breaks_the_rule("planner", "domain")
