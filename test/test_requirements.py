"""What is installed on a robot, and tested as the oldest, is what pyproject.toml and the code say that we need."""

import ast
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

ROOT = Path(__file__).parents[1]
REQUIREMENTS = ROOT / "requirements"
# PyPI's name -> rosdep's key, of what a robot has from apt.
OF_APT = {
    "numpy": "python3-numpy",
    "scipy": "python3-scipy",
    "opencv-python-headless": "python3-opencv",
    "pyyaml": "python3-yaml",
    "jinja2": "python3-jinja2",
    "matplotlib": "python3-matplotlib",
    "networkx": "python3-networkx",
}
# Our own distributions beside robot_memory.
OF_CHECKOUT = {"ros_embedded", "robot_memory_readers"}
# Extras of machines without ROS, of training, of benchmarks' games, and of developers.
NOT_ON_A_ROBOT = {"embedded", "learning", "alfworld", "scienceworld", "dev"}
# Extras that the run with the oldest versions goes without.
NOT_TESTED_AS_THE_OLDEST = {"learning", "alfworld", "scienceworld", "agents", "inspector", "view", "physics"}
# Packages of ROS that are Python's own modules, or come with others that package.xml names.
BROUGHT_BY_OTHERS = {"tf2_ros": "tf2_ros_py"}
ROS_MODULE = re.compile(r"^(rclpy|launch|launch_ros|tf2_ros|\w+_(msgs|interfaces|runtime_py))$")


def bounds(lines: list[str]) -> dict[str, str]:
    """Return each requirement's bound by its name."""
    found = {}
    for line in lines:
        requirement = line.partition("#")[0].partition(";")[0].strip()
        if requirement:
            name, bound = re.match(r"([\w.-]+)(?:\[[\w,]+\])?\s*(.*)", requirement).groups()
            found[name.lower()] = bound
    return found


def listed(name: str) -> dict[str, str]:
    return bounds((REQUIREMENTS / f"{name}.txt").read_text().splitlines())


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def ros_embedded() -> dict:
    return tomllib.loads((ROOT / "ros_embedded" / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def package() -> set[str]:
    root = ElementTree.parse(ROOT / "package.xml").getroot()
    return {str(element.text) for element in root if element.tag.endswith("depend")}


def test_robot_gets_every_library_from_apt_or_from_the_list(project: dict, package: set[str]) -> None:
    core = bounds(project["dependencies"])
    from_apt = {name for name, key in OF_APT.items() if key in package}
    assert from_apt == set(OF_APT), "rosdep keys are missing in package.xml"
    models = bounds(project["optional-dependencies"]["models"])
    assert listed("robot") == {name: bound for name, bound in (core | models).items() if name not in from_apt}
    assert listed("demo") == bounds(project["optional-dependencies"]["sim"])
    assert listed("fleet") == bounds(project["optional-dependencies"]["fleet"])
    assert listed("llm") == bounds(project["optional-dependencies"]["llm"])
    assert "./readers" in (REQUIREMENTS / "readers.txt").read_text().splitlines()


def test_oldest_versions_are_the_lower_bounds(project: dict, ros_embedded: dict) -> None:
    wanted: dict[str, str] = {}
    for distribution in (project, ros_embedded):
        extras = distribution["optional-dependencies"]
        for lines in (
            distribution["dependencies"],
            *(extras[extra] for extra in extras.keys() - NOT_TESTED_AS_THE_OLDEST),
        ):
            for name, bound in bounds(lines).items():
                known = wanted.setdefault(name, bound)
                assert _lowest(bound) in ("", _lowest(known)), f"two lower bounds of {name}"
    wanted = {name: bound for name, bound in wanted.items() if name not in OF_APT and name not in OF_CHECKOUT}
    not_run = {"ruff", "mypy", "types-pyyaml", "import-linter", "open3d"}  # linters; the other name of open3d-cpu
    lowest = {name: _lowest(bound).replace(">=", "==") for name, bound in wanted.items()}
    pinned = listed("oldest")
    assert set(pinned) == set(lowest) - not_run
    for name, pin in pinned.items():
        assert pin == lowest[name] or pin.startswith(lowest[name] + "."), name


@pytest.mark.parametrize("release", ["ubuntu-22.04", "ubuntu-24.04"])
def test_what_apt_gives_is_allowed(project: dict, release: str) -> None:
    core = bounds(project["dependencies"])
    given = listed(release)
    assert set(given) == set(OF_APT)
    for name, bound in given.items():
        lowest = re.search(r"[\d.]+", bound).group().strip(".")
        floor = re.search(r"[\d.]+", core[name]).group().strip(".")
        assert _numbers(lowest) >= _numbers(floor), f"{name}: {release} has {lowest}, pyproject.toml wants {floor}"


def test_package_names_every_ros_package_that_the_code_imports(package: set[str]) -> None:
    imported = set()
    for folder in ("memory_node", "launch"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
                imported |= {name.partition(".")[0] for name in names}
    needed = {name for name in imported if ROS_MODULE.match(name)}
    assert len(needed) > 10
    assert {BROUGHT_BY_OTHERS.get(name, name) for name in needed} <= package | {"robot_memory"}


def _lowest(bound: str) -> str:
    return next((part for part in bound.split(",") if part.startswith(">=")), "")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))


def test_libraries_command_looks_for_each_library_of_apt() -> None:
    """Where there is no apt, ROS built from source for example, the command installs those, too."""
    script = (ROOT / "scripts" / "install_libraries").read_text()
    rows = script.partition("<<'END'\n")[2].partition("END\n")[0].splitlines()
    assert {name.lower(): package for _, package, name in map(str.split, rows)} == OF_APT
