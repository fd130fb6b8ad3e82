"""The tests of the nodes go on where Open3D is not installed, and after one that failed."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
TESTS = """
from free_domain import free_domain


def test_home():
    from memory_node.domain.errors import ResourceMissingError

    raise ResourceMissingError("pictures of the home need Open3D (No module named 'open3d')")


def test_memory_fails(tmp_path):
    from running_memory import running_memory

    with running_memory(free_domain(), str(tmp_path), no_such_parameter=1):
        pass


def test_memory_after_it(tmp_path):
    from running_memory import running_memory

    with running_memory(free_domain(), str(tmp_path / "memory.db")):
        pass
"""
CONFTEST = """
import importlib.util

spec = importlib.util.spec_from_file_location("conftest_of_nodes", {path!r})
own = importlib.util.module_from_spec(spec)
spec.loader.exec_module(own)
own.HAS_OPEN3D = False
pytest_runtest_makereport = own.pytest_runtest_makereport
"""


def test_one_failure_leaves_the_others_alone(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(CONFTEST.format(path=str(FOLDER / "conftest.py")))
    root = FOLDER.parents[1]
    paths = f"pythonpath={FOLDER} {root / 'test'} {root / 'ros_embedded' / 'tests'} {root}"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-rA",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        "-o",
        paths,
        "test_some.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    for line in ("SKIPPED", "FAILED test_some.py::test_memory_fails", "PASSED test_some.py::test_memory_after_it"):
        assert line in done.stdout, done.stdout[-3000:]
