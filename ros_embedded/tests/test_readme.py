"""The node at the top of the README runs as it stands, and the README's links lead somewhere."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ECHO = ["ros2"] if shutil.which("ros2") else [sys.executable, "-m", "ros_embedded"]


def test_first_node_of_the_readme_is_heard(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(code.splitlines()) <= 10
    program = tmp_path / "talker.py"
    program.write_text(code)
    talker = subprocess.Popen([sys.executable, str(program)])
    try:
        heard = subprocess.run(
            [*ECHO, "topic", "echo", "--once", "/chatter"], capture_output=True, text=True, timeout=60
        )
    finally:
        talker.terminate()
        talker.wait(timeout=20)
    assert heard.stdout.splitlines()[0] == "data: hello from pip"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists() or target == "../README.md", target
