"""What scripts/install_libraries installs is found by memory_node alone, and an older version is refused."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"


def install(folder: Path, version: str) -> None:
    """Install a library, some_library of the distribution some-library, in a folder of site-packages."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "some_library.py").write_text(f"version = {version!r}\n")
    (folder / f"some_library-{version}.dist-info").mkdir()
    metadata = f"Metadata-Version: 2.1\nName: some-library\nVersion: {version}\n"
    (folder / f"some_library-{version}.dist-info" / "METADATA").write_text(metadata)


class Machine:
    """A user's machine: Python with packages of the system and of PYTHONPATH, and our libraries, which need 2.9."""

    def __init__(self, folder: Path) -> None:
        self.system, self.workspace, self.libraries = folder / "system", folder / "workspace", folder / "libraries"
        install(self.libraries / SITE, "2.10.1")
        (self.libraries / "bounds.txt").write_text("some_library some-library 2.9\n")

    def run(self, code: str) -> subprocess.CompletedProcess[str]:
        """Run code as the user does."""
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
            "PYTHONUSERBASE": str(self.system),
            "PYTHONPATH": f"{self.workspace}{os.pathsep}{ROOT}",
            "ROBOT_MEMORY_LIBRARIES": str(self.libraries),
        }
        python = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
        return subprocess.run([python, "-c", code], env=environment, capture_output=True, text=True, timeout=60)

    def said(self, code: str) -> str:
        """Return what the code prints."""
        done = self.run(code)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


USE = "import memory_node, some_library; print(some_library.version)"


def test_libraries_come_before_older_ones_of_the_system(machine: Machine) -> None:
    install(machine.system / SITE, "1.10")
    assert machine.said(USE) == "2.10.1"


def test_other_programs_keep_what_they_have(machine: Machine) -> None:
    install(machine.system / SITE, "1.10")
    theirs = "import some_library; print(some_library.version)"
    assert machine.said(theirs) == "1.10"
    # Also a process that one of ours starts.
    assert (
        machine.said(f"import memory_node, subprocess, sys; subprocess.run([sys.executable, '-c', {theirs!r}])")
        == "1.10"
    )


def test_workspaces_come_before_the_libraries(machine: Machine) -> None:
    install(machine.workspace, "2.9")
    assert machine.said(USE) == "2.9"


def test_what_the_process_has_imported_stays(machine: Machine) -> None:
    install(machine.system / SITE, "3.0")
    assert machine.said("import some_library; import memory_node; print(some_library.version)") == "3.0"


def test_library_that_was_imported_and_is_too_old_is_refused(machine: Machine) -> None:
    install(machine.system / SITE, "1.10")
    told = machine.run("import some_library; import memory_node").stderr.splitlines()[-1]
    assert told.startswith("ImportError: ")
    for part in ("some-library 2.9", "1.10", str(machine.system / SITE), "import memory_node before it"):
        assert part in told


def test_library_of_pythonpath_that_is_too_old_is_refused(machine: Machine) -> None:
    install(machine.workspace, "2.8.5")
    told = machine.run(USE).stderr.splitlines()[-1]
    for part in ("some-library 2.9", "2.8.5", str(machine.workspace), "PYTHONPATH"):
        assert part in told


def test_isolated_environment_is_left_alone_and_gets_no_libraries(machine: Machine, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True, timeout=60)
    python = tmp_path / "venv/bin/python"
    told = {**os.environ, "PYTHONPATH": str(ROOT), "ROBOT_MEMORY_LIBRARIES": str(machine.libraries)}
    code = "import memory_node, importlib.util; print(importlib.util.find_spec('some_library'))"
    done = subprocess.run([python, "-c", code], env=told, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "None", done.stderr
    told = {**told, "PYTHON": str(python)}
    done = subprocess.run([ROOT / "scripts/install_libraries"], env=told, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "isolated virtual environment" in done.stderr


def test_python_that_is_not_there_is_named() -> None:
    told = {**os.environ, "PYTHON": "/none/python"}
    done = subprocess.run([ROOT / "scripts/install_libraries"], env=told, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("[libraries] there is no program '/none/python'")


def test_bounds_are_those_of_the_list_and_of_what_it_needs() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/library_bounds", "requirements/robot.txt"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    lowest = {line.split()[0]: line.split()[2] for line in done.stdout.splitlines()}
    assert lowest["pydantic"] == "2.9"
    assert "typing_extensions" in lowest  # which pydantic needs
    assert "pytest" not in lowest
