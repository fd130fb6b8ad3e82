"""`memory-node train` without what it needs."""

import subprocess
import sys

# In a process of its own: modules that were imported without torch would stay for other tests.
WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
from memory_node.cli import main
sys.exit(main())
"""


def test_without_torch_a_training_says_what_to_install() -> None:
    words = [sys.executable, "-c", WITHOUT_TORCH, "train", "compiler", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 1
    assert "train compiler needs packages: pip install 'robot_memory[learning]'" in done.stderr
