"""robot_memory uses only what Humble, Jazzy and Kilted have: their Python APIs, as ros_apis/record.py read them from
their sources, and Humble's definitions of the actions that the bridge calls."""

import ast
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import rclpy

ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = ("humble", "jazzy", "kilted")
NODE = "rclpy.node.Node"
PACKAGES = ("rclpy", "launch", "launch_ros", "ament_index_python")
FILES = (*(ROOT / "memory_node").rglob("*.py"), *(ROOT / "launch").glob("*.py"))
SOURCES = sorted(path for path in FILES if re.search(rf"import .*\bNode\b|({'|'.join(PACKAGES)})\b", path.read_text()))


@functools.cache
def recorded(distribution: str) -> dict[str, set[str]]:
    """Return the parameters of each recorded name."""
    lines = (Path(__file__).parent / "ros_apis" / f"{distribution}.txt").read_text().splitlines()
    rows = (re.fullmatch(r"([\w.]+)\((.*)\)", line) for line in lines)
    return {row[1]: set(row[2].split(", ")) - {""} for row in rows if row}


@functools.cache
def methods_of_node() -> set[str]:
    return {name for other in DISTRIBUTIONS for name in recorded(other) if name.startswith(NODE)}


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imports(tree: ast.AST) -> dict[str, str]:
    """Return the dotted name of each name that a file imports of ROS's packages."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in PACKAGES:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def needed_names(tree: ast.AST) -> list[tuple[str, ...]]:
    """Return the names of which one must exist: an import with those that stand in for it where it fails."""
    tries = [
        n for n in ast.walk(tree) if isinstance(n, ast.Try) and "ImportError" in "".join(map(ast.dump, n.handlers))
    ]
    groups: dict[str, list[str]] = {}
    for node in tries:
        for part in ast.walk(node):
            for own_name, name in imports(part).items() if isinstance(part, ast.ImportFrom) else ():
                groups.setdefault(own_name, []).append(name)
    found = {name for part in ast.walk(tree) if isinstance(part, ast.ImportFrom) for name in imports(part).values()}
    alone = found - {name for names in groups.values() for name in names}
    return [*map(tuple, groups.values()), *((name,) for name in sorted(alone))]


def unknown_to(distribution: str, path: Path) -> Iterator[str]:
    """Yield what a file uses and the distribution lacks."""
    known, tree = recorded(distribution), parsed(path)
    for names in needed_names(tree):
        if not any(name in known for name in names):
            yield names[0]
    elsewhere = methods_of_node()
    of_file = imports(tree)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = ""
        if isinstance(call.func, ast.Name):
            name = of_file.get(call.func.id, "")
        elif isinstance(call.func, ast.Attribute) and f"{NODE}.{call.func.attr}" in elsewhere:
            name = f"{NODE}.{call.func.attr}"
            if name not in known:
                yield name
        given = {keyword.arg for keyword in call.keywords if keyword.arg}
        if name in known and "**" not in known[name]:
            yield from (f"{name}({parameter}=)" for parameter in sorted(given - known[name]))


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_every_name_and_parameter_exists(distribution: str) -> None:
    assert len(recorded(distribution)) > 100
    lacking = {str(path.relative_to(ROOT)): sorted(set(unknown_to(distribution, path))) for path in SOURCES}
    unknown = {path: names for path, names in lacking.items() if names}
    assert unknown == {}, f"{distribution} lacks them, or they are new here: record anew by ros_apis/record.py"


@pytest.mark.parametrize(
    ("line", "lacking"),
    [
        ("from launch.substitutions import EqualsSubstitution", "launch.substitutions.EqualsSubstitution"),
        ("def f(node):\n    node.wait_for_node('/memory', 1.0)", f"{NODE}.wait_for_node"),
        (
            "from launch_ros.actions import Node\nNode(package='p', respawn_max_retries=2)",
            "launch_ros.actions.Node(respawn_max_retries=)",
        ),
    ],
)
def test_what_humble_lacks_is_found(tmp_path: Path, line: str, lacking: str) -> None:
    (tmp_path / "some.py").write_text(line)
    assert list(unknown_to("humble", tmp_path / "some.py")) == [lacking]


@pytest.mark.timeout(520)
def test_bridge_works_with_the_definitions_of_humble() -> None:
    """Those of the bridge's own tests that reach each action; with Jazzy's definitions all run by themselves, with
    Kilted's by make test-rclpy."""
    if "ros_embedded" not in str(rclpy.__file__):
        pytest.skip("the definitions are those of the ROS that is sourced")
    told = {**os.environ, "ROS_EMBEDDED_INTERFACES": str(ROOT / "test" / "ros_definitions" / "humble")}
    each_action = "pick_and_put or cancel_while or own_action"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", each_action]
    command += ["test/nodes/test_skill_bridge.py"]
    done = subprocess.run(command, cwd=ROOT, env=told, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout[-3000:]
