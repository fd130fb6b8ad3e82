"""What is installed on a robot: the package, its parameters and interfaces, and nothing of training and benchmarks."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain import resources
from memory_node.domain.errors import ResourceMissingError
from memory_node.planner.open_planner import open_planner

ROOT = Path(__file__).parents[1]
# What CMakeLists.txt installs beside memory_node.
SHARED = ("config", "launch", "rviz", "msg", "srv", "action")
LARGEST_BYTES = 15_000_000
# Sentences of training and of the checks; shorter phrases ("the red mug") may stand in a home's instructions as well.
SENTENCE_WORDS = 6
SENTENCES_OF = ("training/instructions/phrases", "benchmarks/checks")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that pip would unpack."""
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "setup.py",
        "-q",
        "build",
        "--build-base",
        str(folder),
        "--build-lib",
        str(folder / "lib"),
    ]
    subprocess.run(command, cwd=ROOT, check=True, timeout=100, capture_output=True)
    return folder / "lib"


def of_colcon() -> list[Path]:
    """The files that CMakeLists.txt installs, which has no list of its own: whole folders of the checkout."""
    return [path for name in ("memory_node", *SHARED) for path in files(ROOT / name)]


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts_in(key)
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


@pytest.fixture(scope="module")
def sentences() -> set[str]:
    """What training and benchmarks say, in lower case."""
    found = set()
    for folder in SENTENCES_OF:
        for path in (ROOT / folder).rglob("*.yaml"):
            found |= {text.lower() for text in texts_in(yaml.safe_load(path.read_text(encoding="utf-8")))}
    return {text for text in found if len(text.split()) >= SENTENCE_WORDS and len(text) <= 300}


def test_wheel_and_colcon_install_the_same_files(wheel: Path) -> None:
    here = {str(path.relative_to(wheel).as_posix()).replace("memory_node/_share/", "") for path in files(wheel)}
    there = {path.relative_to(ROOT).as_posix() for path in of_colcon()}
    assert here == there


def test_install_is_small(wheel: Path) -> None:
    assert sum(path.stat().st_size for path in files(wheel)) < LARGEST_BYTES
    assert sum(path.stat().st_size for path in of_colcon()) < LARGEST_BYTES


def test_install_has_no_sentence_of_training_or_of_a_benchmark(wheel: Path, sentences: set[str]) -> None:
    assert len(sentences) > 500
    installed = "\n".join(path.read_text(encoding="utf-8", errors="replace").lower() for path in files(wheel))
    assert [text for text in sentences if text in installed] == []


def test_install_has_no_weights_and_no_training(wheel: Path) -> None:
    assert {path.relative_to(wheel).parts[0] for path in files(wheel)} == {"memory_node"}
    assert [path for path in files(wheel) if path.suffix in (".onnx", ".safetensors", ".npz", ".gz")] == []


def installed(wheel: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `memory-node` as it is installed, in an empty folder."""
    environment = {**os.environ, "PYTHONPATH": str(wheel)}
    command = [sys.executable, "-m", "memory_node.cli", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)


def test_installed_command_says_what_only_a_checkout_has(wheel: Path, tmp_path: Path) -> None:
    told = " ".join(installed(wheel, tmp_path, "--help").stdout.split())
    assert told.count("not installed here") == 2
    assert "usage: memory-node store info" in installed(wheel, tmp_path, "store", "info", "--help").stdout
    refused = installed(wheel, tmp_path, "bench", "cache", "--help")
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        "memory-node: benchmarks/ is not installed with the package; clone robot_memory and run memory-node from there"
    ]


def test_weights_are_data_of_the_extra() -> None:
    shipped = {path.name for path in (ROOT / "readers" / "src" / "robot_memory_readers").iterdir()}
    assert {
        "instructions.onnx",
        "tokenizer.json",
    } <= shipped
    assert resources.readers_folder().name == "robot_memory_readers"


def test_planner_without_the_weights_reads_commands_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def missing(*_: object) -> None:
        raise ResourceMissingError(resources.MISSING_READERS)

    monkeypatch.setattr("memory_node.planner.open_planner.GoalModel", missing)
    open_planner("offline", None, kinds=load_catalogue())
    assert "plain commands are understood, other words are asked about" in caplog.text
    assert "pip install ./readers" in caplog.text
