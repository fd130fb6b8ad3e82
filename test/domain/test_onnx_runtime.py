"""A library that runs networks must not tell anybody what a robot does."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOOR = ROOT / "memory_node" / "domain" / "onnx_runtime.py"


def test_running_a_model_leaves_nothing_in_the_users_home(tmp_path: Path) -> None:
    from memory_node.search.minilm import models_folder

    user = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"), str(tmp_path))
    environment = {**os.environ, **user, "ROBOT_MEMORY_MODELS": str(models_folder())}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    words = "from memory_node.search.minilm import MiniLmEmbedder; MiniLmEmbedder().embed(['a mug'])"
    subprocess.run([sys.executable, "-c", words], env=environment, cwd=ROOT, check=True, timeout=120)
    assert list(tmp_path.rglob("*")) == []


def test_onnxruntime_is_imported_through_its_door_alone() -> None:
    past_the_door = []
    for path in (ROOT / "memory_node").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        through = "memory_node.domain.onnx_runtime" in text
        if path != DOOR and not through and re.search(r"^\s*(import|from) onnxruntime", text, re.MULTILINE):
            past_the_door.append(path)
    assert past_the_door == []
