"""What a program imports and what that costs."""

import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import memory_node
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import StepRecord

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", memory_node.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(memory_node, name).__name__ == name


def test_unknown_name_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="RobotMemories"):
        memory_node.RobotMemories  # noqa: B018


def test_importing_the_package_imports_nothing_heavy() -> None:
    asked = "import sys, memory_node, memory_node.sim; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "cv2", "onnxruntime", "sqlalchemy", "pydantic"} & set(loaded)


def test_readme_example_runs_and_imports_nothing_deep(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (example,) = [code for code in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "open_memory" in code]
    assert set(re.findall(r"^from (\S+)", example, re.MULTILINE)) == {"memory_node"}
    run = [sys.executable, "-c", example]
    told = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path, timeout=100.0, check=False)
    assert told.returncode == 0, told.stderr
    assert "sure to" in told.stdout


@pytest.mark.parametrize("given", [str, Path])
def test_a_path_alone_is_the_database_that_is_gone_on_from(tmp_path: Path, given: type[str] | type[Path]) -> None:
    path = given(tmp_path / "memory.db")
    with closing(memory_node.open_memory(path)) as memory:
        episode = memory.experience.start("wash the mug")
        taken = SkillCall("PickupObject", ("Mug",))
        memory.experience.record(StepRecord(episode, 0, taken, True, FailureReason.NONE, stamp_ns=1))
        memory.experience.end(episode, success=True)
    with closing(memory_node.open_memory(path)) as memory:
        assert memory.experience.wait_settled(30.0)
        assert memory.experience.knows(episode)
