"""`memory-node train` without what it needs."""

import sys

import pytest

from memory_node.cli import main


def test_without_torch_a_training_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [one for one in sys.modules if one.startswith(("training.", "torch"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["train", "compiler", "--help"]) == 1
    assert "train compiler needs packages: pip install 'robot_memory[learning]'" in capsys.readouterr().err
