"""The script that tests with the oldest versions finds a Python 3.10 by itself, or says that there is none."""

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "test_oldest"


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def search(folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run the search for a Python with the programs of `folder`/bin first, and `folder`/pyenv as pyenv's."""
    kept = {name: value for name, value in os.environ.items() if name != "OLDEST_PYTHON"}
    changed = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYENV_ROOT": str(folder / "pyenv")}
    return subprocess.run(
        [SCRIPT, "--python"], env={**kept, **changed, **environment}, capture_output=True, text=True, timeout=60
    )


def test_python_of_the_path_comes_first(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3.10", "exit 0")
    program(tmp_path / "pyenv" / "versions" / "3.10.1" / "bin" / "python3.10", "exit 0")
    done = search(tmp_path)
    assert (done.returncode, done.stdout) == (0, "python3.10\n")


def test_shim_that_does_not_run_gives_way_to_pyenvs_own(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3.10", "echo 'command not found' >&2; exit 127")
    own = program(tmp_path / "pyenv" / "versions" / "3.10.13" / "bin" / "python3.10", "exit 0")
    done = search(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{own}\n", "")


def test_no_python_is_told_in_one_line(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3.10", "exit 127")
    done = search(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "no Python 3.10 found" in done.stderr


def test_named_python_is_the_only_one_asked(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3.10", "exit 0")
    assert search(tmp_path, OLDEST_PYTHON=str(tmp_path / "missing")).returncode == 1


def test_core_names_folders_and_files_that_are_there() -> None:
    text = SCRIPT.read_text()
    folders = text.partition("CORE=(")[2].partition(")")[0].split()
    files = text.partition("EMBEDDED=(")[2].partition(")")[0].split()
    root = SCRIPT.parents[1]
    assert len(folders) > 5
    assert len(files) > 5
    assert all((root / "test" / folder).is_dir() for folder in folders)
    assert all((root / "ros_embedded" / "tests" / f"test_{name}.py").is_file() for name in files)
